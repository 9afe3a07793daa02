import type { JsonValue } from '../domain/message.ts';
import type { ModelPurpose, TokenCounts } from './model.ts';

/** One model call with everything that the provider bills. */
export interface UsageRow extends TokenCounts {
  readonly purpose: ModelPurpose;
  readonly model: string;
  readonly agentId: string;
  /** The person who caused the call, as `platform:id`; null for background work. */
  readonly person: string | null;
  /** Null if the price of the model is unknown. */
  readonly costUsd: number | null;
  readonly at: number;
}

/** Why a request could not use the whole prefix that the previous one left in the provider's cache. */
export const CACHE_LOSS_CAUSES = [
  /** A summary replaced messages, or filled a gap. */
  'compaction',
  /** Several summaries became one. */
  'condensing',
  /** Messages left the view without a summary, to make room. */
  'gap',
  /** A message was edited, deleted or forgotten. */
  'edit',
  'reset',
  /** A standing instruction was added, changed or removed. */
  'instructions',
  /** Another section of the system prompt changed: the persona, the policy or a prompt file. */
  'prompt',
  'tools',
  /** A hook of a plugin changed a request. */
  'hook',
  /** Tool results, long texts or the fixed part became shorter to make room, or whole again. */
  'shortened',
  'model',
  /** Another engine, or one that moves its window. */
  'engine',
  /** The provider keeps prefixes only for a time. */
  'expired',
  'unknown',
] as const;
export type CacheLossCause = (typeof CACHE_LOSS_CAUSES)[number];

/** A part of a prefix that a request did not find in the provider's cache, though the previous request had left it there. */
export interface CacheLoss {
  readonly cause: CacheLossCause;
  readonly tokens: number;
}

/** The losses of one cause: their number and their tokens. */
export interface CacheLossTotal extends CacheLoss {
  readonly losses: number;
}

/**
 * What a run does: summarise messages of the tail (`compact`) or of a gap (`fill`), write a summary once more after an
 * edit or on request (`rewrite`), make one summary of several (`condense`), or only extract memories (`extract`).
 */
export const MAINTENANCE_WORK = ['compact', 'fill', 'rewrite', 'condense', 'extract'] as const;
export type MaintenanceWork = (typeof MAINTENANCE_WORK)[number];

/** Why a run began. */
export const MAINTENANCE_TRIGGERS = [
  'background',
  'aggressive',
  'emergency',
  'gap',
  'stale',
  'stack',
  'idle',
  'shutdown',
  'manual',
] as const;
export type MaintenanceTrigger = (typeof MAINTENANCE_TRIGGERS)[number];

/** `stale`: the conversation changed during the run, so nothing was stored. */
export const MAINTENANCE_OUTCOMES = ['committed', 'stale', 'failed'] as const;
export type MaintenanceOutcome = (typeof MAINTENANCE_OUTCOMES)[number];

/** One maintenance run, for `/status` and the compaction history. */
export interface MaintenanceRun {
  readonly id: string;
  readonly conversationId: number;
  readonly work: MaintenanceWork;
  readonly trigger: MaintenanceTrigger;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly outcome: MaintenanceOutcome;
  readonly error: string | null;
  /** Corrected tokens of the whole view, before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** How many the run saved or confirmed. */
  readonly memories: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly startedAt: number;
  readonly durationMs: number;
}

/**
 * Costs and outcomes. Losing a row would not damage a conversation. Rows for a conversation that no longer exists are
 * ignored.
 */
export interface Journal {
  addUsage(conversationId: number, rows: readonly UsageRow[]): Promise<void>;
  usage(conversationId: number): Promise<readonly UsageTotal[]>;
  /** Sums grouped by the key: days newest first, everything else most expensive first. */
  spending(query: SpendingQuery): Promise<readonly Spending[]>;
  /**
   * Keeps the conversation's newest 100. `revision`: of the conversation that the job has read; an error is left out if
   * text was deleted or edited since.
   */
  addRun(run: MaintenanceRun, revision: number): Promise<void>;
  runs(conversationId: number, limit: number): Promise<readonly MaintenanceRun[]>;
  readonly requests: RequestLog;
  readonly cache: CacheLog;
}

/** What became of the provider's prefix cache. */
export interface CacheLog {
  /** Called after each turn that asked a model, in one transaction. */
  note(conversationId: number, note: CacheNote): Promise<void>;
  /** The print of the newest request of a turn, as it was noted; null if there is none, or text was deleted since. */
  lastRequest(conversationId: number): Promise<string | null>;
  /** Sums by cause, most tokens first. */
  losses(query: Pick<SpendingQuery, 'since' | 'conversationId'>): Promise<readonly CacheLossTotal[]>;
}

/** What the requests of a turn did to the provider's prefix cache. */
export interface CacheNote {
  /** Of the turn's last request, for comparison with the next one. */
  readonly print: string;
  /** Of all its requests. */
  readonly losses: readonly CacheLoss[];
  readonly at: number;
  /** Of the conversation that the request was built from. If text was deleted or edited since, the print is not kept. */
  readonly revision: number;
}

/** What the requests behind the stored replies were built from. `TurnCommit.record` adds to it. */
export interface RequestLog {
  /** Of the replies up to `toSeq` and, if given, from `fromSeq` on; newest first. */
  notes(
    conversationId: number,
    range: { readonly toSeq: number; readonly limit: number; readonly fromSeq?: number },
  ): Promise<readonly StoredRequest[]>;
  /** Texts by their hashes. Unknown hashes are left out. */
  parts(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Seqs of the entries in the range that were edited or deleted after the revision. */
  changedSince(
    conversationId: number,
    range: { readonly fromSeq: number; readonly toSeq: number; readonly revision: number },
  ): Promise<readonly number[]>;
}

/** The note of one reply, which refers to stored text and contains none. */
export interface StoredRequest {
  /** Of the reply. */
  readonly seq: number;
  /** The newest message that its turn had read. */
  readonly turn: number;
  readonly at: number;
  /** As `TurnCommit.record` contained it. Only Strata reads it. */
  readonly note: string;
}

/** A text that many requests share, such as a system section. It never contains what people said. */
export interface RequestPart {
  readonly hash: string;
  readonly text: string;
}

/** The total of several calls. */
export interface Spent extends Omit<TokenCounts, 'hourCacheWriteTokens'> {
  readonly calls: number;
  /** Of the calls with a known price. */
  readonly costUsd: number;
  readonly unpricedCalls: number;
}

/** The calls of a conversation with one purpose and model. */
export interface UsageTotal extends Spent {
  readonly purpose: ModelPurpose;
  readonly model: string;
}

/** What the costs can be grouped by. Days are UTC. */
export const SPENDING_KEYS = ['day', 'agent', 'conversation', 'person', 'purpose', 'model'] as const;
export type SpendingKey = (typeof SPENDING_KEYS)[number];

/** Which calls to sum up, and how to group them. */
export interface SpendingQuery {
  readonly by: SpendingKey;
  /** Calls since the start of the (UTC) day of this time; null for all. */
  readonly since: number | null;
  /** Null for all conversations. */
  readonly conversationId: number | null;
  readonly limit: number;
}

/** What the calls of one day, agent, conversation, person, purpose or model cost. */
export interface Spending extends Spent {
  /** A day such as `2026-11-20`, or a conversation's key. Null if the key does not apply or is no longer known. */
  readonly key: string | null;
}

/**
 * Small durable values of adapters and services: cursors, registration hashes, installations, switches. If a namespace
 * begins with `platform.`, its value under the key of a conversation of that platform is deleted with the conversation.
 */
export interface StateStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  set(namespace: string, key: string, value: JsonValue): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  /**
   * Stores `to` only if the value still equals `from`, as it was read; undefined means no value. Returns false if another
   * process has changed it.
   */
  swap(
    namespace: string,
    key: string,
    values: { readonly from: JsonValue | undefined; readonly to: JsonValue | undefined },
  ): Promise<boolean>;
  list(namespace: string): Promise<readonly { readonly key: string; readonly value: JsonValue }[]>;
  /** Values of one conversation, which are deleted with it. */
  of(conversationId: number): ConversationState;
}

/** The values of one conversation by name. They are deleted with the conversation. */
export interface ConversationState {
  get(name: string): Promise<JsonValue | undefined>;
  /**
   * Stores nothing for a conversation that is gone. `quotes`: the value may repeat what people said, as an error of a
   * provider does, up to this revision. It is stored only if no text was deleted or edited since, and deleted as soon as
   * some is. Default: it repeats nothing.
   */
  set(name: string, value: JsonValue, options?: { readonly quotes: number } | undefined): Promise<void>;
  /** Like `set`, or deletes, only if the value still equals `from`. Returns false if nothing was stored or deleted. */
  swap(
    name: string,
    values: { readonly from: JsonValue | undefined; readonly to: JsonValue | undefined },
    options?: { readonly quotes: number } | undefined,
  ): Promise<boolean>;
  delete(name: string): Promise<void>;
}
