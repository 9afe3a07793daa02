import type { CacheLossCause, ModelPurpose } from '../../../../src/adapter-kit.ts';

/** Rows of what was sent to models, and what it cost. */

export interface UsageTable {
  conversation_id: number;
  /** Days since 1970-01-01 (UTC). */
  day: number;
  agent_id: string;
  /** `platform:id`; empty for background work and for forgotten people. */
  person: string;
  purpose: ModelPurpose;
  model: string;
  calls: number;
  unpriced_calls: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  /** Billionths of a US dollar. */
  cost_nanos: number;
  last_at: number;
}

export interface CacheLossTable {
  conversation_id: number;
  /** Days since 1970-01-01 (UTC). */
  day: number;
  cause: CacheLossCause;
  losses: number;
  tokens: number;
}

export interface LastRequestTable {
  conversation_id: number;
  print: string;
}

/** A text that many requests share. */
export interface RequestPartTable {
  hash: string;
  text: string;
}

/** A request of the conversation contains the text. */
export interface RequestLinkTable {
  conversation_id: number;
  hash: string;
}

export interface MaintenanceRunTable {
  id: string;
  conversation_id: number;
  started_at: number;
  run: string;
}
