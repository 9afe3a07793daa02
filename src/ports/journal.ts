import type { JsonValue } from '../domain/message.ts';
import type { ModelPurpose, TokenCounts } from './model.ts';

/** One model call, with everything that the provider bills for it. */
export interface UsageRow extends TokenCounts {
  readonly purpose: ModelPurpose;
  readonly model: string;
  readonly agentId: string;
  /** Who asked, as `platform:id`; null for background work. */
  readonly person: string | null;
  /** Null where no price of the model is known. */
  readonly costUsd: number | null;
  readonly at: number;
}

/** One run of maintenance, for `/status` and the history of compactions. */
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

/** What things cost and how they went. Losing a row would lose no conversation. */
export interface Journal {
  addUsage(conversationId: number, rows: readonly UsageRow[]): Promise<void>;
  usage(conversationId: number): Promise<readonly UsageTotal[]>;
  /** Sums by one of the keys: days with the newest first, everything else with the most expensive first. */
  spending(query: SpendingQuery): Promise<readonly Spending[]>;
  /** Keeps the newest 100 of the conversation. */
  addRun(run: MaintenanceRun): Promise<void>;
  runs(conversationId: number, limit: number): Promise<readonly MaintenanceRun[]>;
}

/** What calls cost together. */
export interface Spent extends TokenCounts {
  readonly calls: number;
  /** Of the calls whose price is known. */
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
  /** Calls since the beginning of the day (UTC) of this time; null for all. */
  readonly since: number | null;
  readonly conversationId: number | null;
  readonly limit: number;
}

export interface Spending extends Spent {
  /** A day as `2026-11-20`, a conversation by its key. Null where the key does not apply or is no longer known. */
  readonly key: string | null;
}

/** Small durable facts of adapters and services: cursors, registration hashes, installations, switches. */
export interface StateStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  set(namespace: string, key: string, value: JsonValue): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  list(namespace: string): Promise<readonly { readonly key: string; readonly value: JsonValue }[]>;
}
