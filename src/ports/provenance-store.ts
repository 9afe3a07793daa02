import type { Audience, Author, ConversationKey, MemoryId } from '../domain/message.ts';
import type { MemoryKind, MemoryReader, MemoryState } from './memory-store.ts';

/**
 * Which memories each reply was given, when the words of edited texts were added, which sentences wait for a decision,
 * and which memories about a person the person cannot read.
 */
export interface ProvenanceStore {
  /** Conversations whose replies were given the memories, except those that the memories come from. */
  readings(ids: readonly MemoryId[]): Promise<readonly MemoryReading[]>;
  /** Whether a reply in the conversation may still use the memories: all exist, and its readers may read them. */
  areReadable(conversationId: number, ids: readonly MemoryId[]): Promise<boolean>;
  /** What edits added to the texts of the memories. Those without additions are left out. */
  memoryAdditions(ids: readonly MemoryId[]): Promise<ReadonlyMap<MemoryId, readonly Addition[]>>;
  /** What edits added to messages, by seq. Those without additions are left out. */
  messageAdditions(conversationId: number, seqs: readonly number[]): Promise<ReadonlyMap<number, readonly Addition[]>>;
  /** Held sentences of a place, oldest first. */
  held(query: HeldQuery): Promise<readonly HeldSentence[]>;
  /**
   * `release` puts the sentence back into its message; `strike` deletes it. Null if the place holds no such sentence.
   */
  decide(decision: HeldDecision): Promise<HeldSentence | null>;
  /** Memories about a person that the reader cannot read, newest first. Never their text or place. */
  withheld(query: WithheldQuery): Promise<readonly WithheldMemory[]>;
}

/** A person, and the reader who asks for their memories. */
export interface WithheldQuery {
  readonly subjectId: string;
  /** Where the id identifies this person: `platform` or `platform:workspace`. */
  readonly within: string;
  readonly reader: MemoryReader;
  readonly limit: number;
  /** The last memory of the previous page; null for the first page. */
  readonly after: Pick<WithheldMemory, 'createdAt' | 'id'> | null;
}

/** One page of the held sentences of a place. */
export interface HeldQuery {
  readonly place: string;
  readonly limit: number;
  /** The last sentence of the previous page; null for the first page. */
  readonly after: Pick<HeldSentence, 'at' | 'id'> | null;
}

/** Tells a person that a memory about them exists. */
export interface WithheldMemory {
  readonly id: MemoryId;
  readonly kind: MemoryKind;
  readonly state: MemoryState;
  /** Of the place in which it is stored. */
  readonly audience: Audience;
  readonly createdAt: number;
}

/** A memory that replies of a conversation were given. */
export interface MemoryReading {
  readonly memoryId: MemoryId;
  readonly conversationId: number;
  /** Only entries after this one can repeat it. */
  readonly fromSeq: number;
}

/** Folded words that an edit added to a text and that it still contains: nothing said before can repeat them. */
export interface Addition {
  /** When it was edited, in epoch milliseconds. */
  readonly at: number;
  readonly words: readonly string[];
}

/** A hidden sentence. View, search, recall and extraction see a placeholder instead. */
export interface HeldSentence {
  readonly id: string;
  readonly conversation: ConversationKey;
  readonly seq: number;
  /** The author of the message. */
  readonly author: Author | null;
  readonly text: string;
  /** Who asked to forget it: the person the sentence is about. */
  readonly about: { readonly id: string; readonly name: string };
  /** When it was hidden. */
  readonly at: number;
}

/** What to do with a held sentence of a place. */
export interface HeldDecision {
  readonly id: string;
  readonly place: string;
  readonly kind: 'release' | 'strike';
  readonly now: number;
}
