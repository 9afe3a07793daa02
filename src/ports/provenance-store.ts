import type { Audience, Author, ConversationKey, MemoryId } from '../domain/message.ts';
import type { MemoryKind, MemoryReader, MemoryState } from './memory-store.ts';

/** Which reply was given what, which sentences wait for a decision, and what a person can't read of what is kept about them. */
export interface ProvenanceStore {
  /** Where replies were given the memories, apart from the conversations that the memories come from. */
  readings(ids: readonly MemoryId[]): Promise<readonly MemoryReading[]>;
  /** Sentences of a place that are held back, the oldest first. */
  held(query: {
    readonly place: string;
    readonly limit: number;
    readonly offset: number;
  }): Promise<readonly HeldSentence[]>;
  /** `release` puts the sentence back where it stood, `strike` deletes it. Null when it is not held in the place. */
  decide(decision: HeldDecision): Promise<HeldSentence | null>;
  /** What is remembered about a person and isn't readable to the reader, the newest first. Never its text or its place. */
  withheld(query: WithheldQuery): Promise<readonly WithheldMemory[]>;
}

export interface WithheldQuery {
  readonly subjectId: string;
  /** Where the id names this person: `platform` or `platform:workspace`. */
  readonly within: string;
  readonly reader: MemoryReader;
  readonly limit: number;
  readonly offset: number;
}

/** That a memory exists, for the person whom it is about. */
export interface WithheldMemory {
  readonly id: MemoryId;
  readonly kind: MemoryKind;
  readonly state: MemoryState;
  /** Of the place that it is kept in. */
  readonly audience: Audience;
  readonly createdAt: number;
}

export interface MemoryReading {
  readonly memoryId: MemoryId;
  readonly conversationId: number;
  /** Only entries after this one can repeat it. */
  readonly fromSeq: number;
}

/** A sentence that is out of sight: view, search, recall and extraction see a mark in its place. */
export interface HeldSentence {
  readonly id: string;
  readonly conversation: ConversationKey;
  readonly seq: number;
  /** Who wrote it. */
  readonly author: Author | null;
  readonly text: string;
  /** Who asked to have it forgotten: the sentence is about them. */
  readonly about: { readonly id: string; readonly name: string };
  readonly at: number;
}

export interface HeldDecision {
  readonly id: string;
  readonly place: string;
  readonly kind: 'release' | 'strike';
  readonly now: number;
}
