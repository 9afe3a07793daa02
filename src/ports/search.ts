import type { MemoryId, SummaryId } from '../domain/message.ts';
import type { MemoryReader, MemoryState } from './memory-store.ts';

/**
 * Full-text search, separate from the store because engines differ most here. Higher scores are better; scores of
 * different calls cannot be compared.
 */
export interface Search {
  /** The best matches in one conversation. */
  entries(query: EntryQuery): Promise<readonly EntryHit[]>;
  /** Only memories that the reader may read, filtered before ranking. Of equal ones, the newest come first. */
  memories(query: MemoryQuery): Promise<readonly MemoryHit[]>;
  /** Summaries of one conversation, including superseded ones. */
  summaries(query: SummaryQuery): Promise<readonly SummaryHit[]>;
}

/** Words to look for in one conversation. `fromSeq`, `toSeq` and `sinceAt` are inclusive. */
export interface EntryQuery {
  readonly conversationId: number;
  /** Words of a person, from which the engine builds its query. An empty text finds nothing. */
  readonly text: string;
  /** Whether other inflections of the words match. Default: unless the text is certainly English, which has stems. */
  readonly inflects?: boolean;
  readonly limit: number;
  readonly fromSeq?: number;
  readonly toSeq?: number;
  readonly authorId?: string;
  readonly sinceAt?: number;
}

/** The seq of a matching entry. Read its text with `transcript.pick`. */
export interface EntryHit {
  readonly seq: number;
  readonly score: number;
}

/** Words to look for in the memories that a reader may read. */
export interface MemoryQuery {
  readonly reader: MemoryReader;
  readonly text: string;
  /** Default: only `active` ones, which can be recalled. */
  readonly states?: readonly MemoryState[];
  readonly limit: number;
}

/** The id of a matching memory. */
export interface MemoryHit {
  readonly id: MemoryId;
  readonly score: number;
}

/** Words to look for in the summaries of one conversation. */
export interface SummaryQuery {
  readonly conversationId: number;
  readonly text: string;
  readonly limit: number;
}

/** The id of a matching summary. */
export interface SummaryHit {
  readonly id: SummaryId;
  readonly score: number;
}
