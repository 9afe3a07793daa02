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

/** One maintenance run, for `/status` and the compaction history. */
export interface MaintenanceRun {
  readonly id: string;
  readonly conversationId: number;
  readonly work: 'compact' | 'fill' | 'rewrite' | 'condense' | 'extract';
  readonly trigger:
    | 'background'
    | 'aggressive'
    | 'emergency'
    | 'gap'
    | 'stale'
    | 'stack'
    | 'idle'
    | 'shutdown'
    | 'manual';
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly outcome: 'committed' | 'stale' | 'failed';
  readonly error: string | null;
  /** Corrected tokens of the whole view, before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly memories: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Costs and outcomes. Losing a row would not damage a conversation. */
export interface Journal {
  addUsage(conversationId: number, rows: readonly UsageRow[]): Promise<void>;
  usage(conversationId: number): Promise<readonly UsageTotal[]>;
  /** Sums grouped by the key: days newest first, everything else most expensive first. */
  spending(query: SpendingQuery): Promise<readonly Spending[]>;
  /** Keeps the conversation's newest 100. */
  addRun(run: MaintenanceRun): Promise<void>;
  runs(conversationId: number, limit: number): Promise<readonly MaintenanceRun[]>;
}

/** The total of several calls. */
export interface Spent extends Omit<TokenCounts, 'hourCacheWriteTokens'> {
  readonly calls: number;
  /** Of the calls with a known price. */
  readonly costUsd: number;
  readonly unpricedCalls: number;
}

export interface UsageTotal extends Spent {
  readonly purpose: ModelPurpose;
  readonly model: string;
}

export const SPENDING_KEYS = ['day', 'agent', 'conversation', 'person', 'purpose', 'model'] as const;
export type SpendingKey = (typeof SPENDING_KEYS)[number];

export interface SpendingQuery {
  readonly by: SpendingKey;
  /** Calls since the start of the (UTC) day of this time; null for all. */
  readonly since: number | null;
  readonly conversationId: number | null;
  readonly limit: number;
}

export interface Spending extends Spent {
  /** A day such as `2026-11-20`, or a conversation's key. Null if the key does not apply or is no longer known. */
  readonly key: string | null;
}

/** Small durable values of adapters and services: cursors, registration hashes, installations, switches. */
export interface StateStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  set(namespace: string, key: string, value: JsonValue): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  list(namespace: string): Promise<readonly { readonly key: string; readonly value: JsonValue }[]>;
}
