import type { MemoryId, SummaryId } from '../domain/message.ts';
import type { MemoryReader, MemoryState } from './memory-store.ts';

/** Full-text search, apart from the store because engines differ most here. Scores: higher is better, not comparable between calls. */
export interface Search {
  /** Best matches in one conversation. Never reads another one. */
  entries(query: EntryQuery): Promise<readonly EntryHit[]>;
  /** Only what the reader may read, filtered before ranking. */
  memories(query: MemoryQuery): Promise<readonly MemoryHit[]>;
  /** Summaries of one conversation, superseded ones included. */
  summaries(query: SummaryQuery): Promise<readonly SummaryHit[]>;
}

export interface EntryQuery {
  readonly conversationId: number;
  /** Words of a person; the engine makes its own query from them. Empty finds nothing. */
  readonly text: string;
  readonly limit: number;
  readonly fromSeq?: number;
  readonly toSeq?: number;
  readonly authorId?: string;
  readonly sinceAt?: number;
}

export interface EntryHit {
  readonly seq: number;
  readonly score: number;
}

export interface MemoryQuery {
  readonly reader: MemoryReader;
  readonly text: string;
  /** Default: only `active` ones, which may be recalled. */
  readonly states?: readonly MemoryState[];
  readonly limit: number;
}

export interface MemoryHit {
  readonly id: MemoryId;
  readonly score: number;
}

export interface SummaryQuery {
  readonly conversationId: number;
  readonly text: string;
  readonly limit: number;
}

export interface SummaryHit {
  readonly id: SummaryId;
  readonly score: number;
}
