import type { JsonValue } from '../domain/message.ts';
import type { ModelPurpose, ModelUsage } from './model.ts';

export interface UsageRow extends ModelUsage {
  readonly purpose: ModelPurpose;
  readonly model: string;
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
  /** Keeps the newest 100 of the conversation. */
  addRun(run: MaintenanceRun): Promise<void>;
  runs(conversationId: number, limit: number): Promise<readonly MaintenanceRun[]>;
}

export interface UsageTotal extends ModelUsage {
  readonly purpose: ModelPurpose;
  readonly model: string;
  readonly calls: number;
}

/** Small durable facts of adapters and services: cursors, registration hashes, installations, switches. */
export interface StateStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  set(namespace: string, key: string, value: JsonValue): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  list(namespace: string): Promise<readonly { readonly key: string; readonly value: JsonValue }[]>;
}
