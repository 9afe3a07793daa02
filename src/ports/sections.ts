import type { ConversationKey, MemoryId } from '../domain/message.ts';

/**
 * A named piece of the system prompt. The list order is the prompt order; the priority only decides which piece is cut.
 */
export interface SystemSection {
  readonly key: string;
  readonly text: string;
  /** 0..100; the lowest is cut first. */
  readonly priority: number;
  /** Cut last, and only if the request would not fit otherwise. */
  readonly protected: boolean;
  /** Origin and reason, for `/context`. */
  readonly source: string;
  readonly reason: string;
  /** The memories in the text. Default: none. */
  readonly memoryIds?: readonly MemoryId[];
  /** Lines of the text that are left out whole if it is cut, the least important first. Default: none. */
  readonly lines?: readonly SectionLine[];
  /** Tokens before the text was cut to its own maximum. Default: it was not. */
  readonly originalTokens?: number;
}

/** A line that can be left out on its own. The least important ones leave first. */
export interface SectionLine {
  readonly text: string;
  readonly importance: number;
}

/** Text for the newest message only, such as recalled memories and the time. Never part of the cached prefix. */
export interface VolatileSection {
  readonly key: string;
  readonly text: string;
  readonly source: string;
  readonly reason: string;
  /** The memories in the text; they count as recalled if the text was not cut. */
  readonly memoryIds: readonly MemoryId[];
  /** Messages of other conversations in the text. Default: none. */
  readonly quotes?: readonly QuotedEntries[];
}

/** Entries of one other conversation as they were at a revision of it. */
export interface QuotedEntries {
  readonly conversationId: number;
  readonly revision: number;
  readonly seqs: readonly number[];
}

/**
 * Earlier messages for the newest message only, best first. `text` is their heading. An engine shows the heading and as
 * many passages as `recallTokens` and its free space allow, without those that its view already contains.
 */
export interface PassageSection extends VolatileSection {
  readonly passages: readonly Passage[];
}

/** An earlier message that may help to answer the newest one. */
export interface Passage {
  readonly seq: number;
  /** The platform's message id; null for messages of the bot. */
  readonly externalId: string | null;
  /** The whole message with its label. */
  readonly text: string;
  /** The conversation of the same place that `seq` belongs to. Default: the one that the section is for. */
  readonly from?: ConversationKey;
}
