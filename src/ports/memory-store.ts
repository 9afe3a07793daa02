import type { Audience, BlobId, ConversationKey, JsonValue, MemoryId, SummaryId } from '../domain/message.ts';

/**
 * What sort of statement a memory is. The kind sets the default importance, and how fast the memory fades. A `fact`
 * stays true, an `observation` may change; an `instruction` is a wish about how the bot should behave.
 */
export const MEMORY_KINDS = [
  'fact',
  'preference',
  'decision',
  'observation',
  'event',
  'todo',
  'identity',
  'instruction',
] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/**
 * `candidate`: stored, not recalled until promoted. `active`: recalled. `superseded`: contradicted by a newer memory,
 * kept for `why`, not recalled. `rejected`: a person marked it as wrong; final.
 */
export const MEMORY_STATES = ['candidate', 'active', 'superseded', 'rejected'] as const;
export type MemoryState = (typeof MEMORY_STATES)[number];

/** Set by code from who said it about whom, never by a model. */
export const TRUSTS = ['operator', 'self', 'other', 'inferred'] as const;
export type Trust = (typeof TRUSTS)[number];

/** One statement that the bot remembers, and where it comes from. */
export interface Memory {
  readonly id: MemoryId;
  readonly agentId: string;
  readonly kind: MemoryKind;
  readonly text: string;
  /** 0..1, as extracted. Decay is computed when reading, never stored. */
  readonly importance: number;
  /** 0..1: how much its origin can be trusted. */
  readonly confidence: number;
  /** `place`: where it was said. `global`: added by the operator, readable everywhere. */
  readonly scope: 'place' | 'global';
  /** The key without its thread, because threads share the memories of their channel. Empty for `global`. */
  readonly place: string;
  /** `platform:workspace`. Empty for `global`. */
  readonly workspace: string;
  /** When it was said; narrowed if the channel becomes more private, never widened. */
  readonly audience: Audience;
  /** The person it is about, if known. */
  readonly subjectId: string | null;
  readonly subjectName: string | null;
  readonly trust: Trust;
  readonly state: MemoryState;
  readonly pinned: boolean;
  readonly validFrom: number;
  /** Until when it is true; null if it still is. */
  readonly validUntil: number | null;
  readonly supersededBy: MemoryId | null;
  readonly recallCount: number;
  readonly lastRecalledAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Hash of the normalised text. Two memories of a place with the same fingerprint are the same statement. */
  readonly fingerprint: string;
  readonly extractedBy: { readonly model: string; readonly promptHash: string } | null;
  readonly sources: readonly MemorySource[];
}

/** A message from which a memory comes. */
export interface MemorySource {
  readonly conversationId: number;
  readonly conversation: ConversationKey;
  readonly seq: number;
  /** The platform's message id; null if it has none. */
  readonly externalId: string | null;
  /** The author; null for the bot. */
  readonly authorId: string | null;
}

/** Who is asking. Every read names the place and audience that will see the result. */
export interface MemoryReader {
  readonly agentId: string;
  readonly place: string;
  readonly workspace: string;
  readonly audience: Audience;
  /** The agent's public channels may read each other's public memories within one workspace. */
  readonly sharePublic: boolean;
}

/** A memory to store. The store sets the rest of its fields; sources are part of the `MemoryWrite`. */
export type NewMemory = Omit<
  Memory,
  'sources' | 'supersededBy' | 'recallCount' | 'lastRecalledAt' | 'createdAt' | 'updatedAt'
>;

/** The result of an admission, applied in one transaction. `sources` are seqs of the current conversation. */
export type MemoryWrite =
  | { readonly kind: 'insert'; readonly memory: NewMemory; readonly sources: readonly number[] }
  /** The statement was repeated: adds sources and may promote the memory. */
  | {
      readonly kind: 'corroborate';
      readonly id: MemoryId;
      readonly sources: readonly number[];
      readonly promote: boolean;
    }
  /** The statement was contradicted: the old memory is kept and points to the new one. */
  | {
      readonly kind: 'supersede';
      readonly id: MemoryId;
      readonly memory: NewMemory;
      readonly sources: readonly number[];
    };

/** Which memories to list. Every filter that is given must match; an empty list matches nothing. */
export interface MemoryList {
  readonly reader: MemoryReader;
  readonly kinds?: readonly MemoryKind[];
  readonly states?: readonly MemoryState[];
  readonly subjectId?: string;
  /** Only these, if the reader may read them. */
  readonly ids?: readonly MemoryId[];
  /** Only those whose ids begin with this. */
  readonly idBeginning?: string;
  readonly fingerprints?: readonly string[];
  /** Only memories with one of these entries among their sources. */
  readonly restingOn?: { readonly conversationId: number; readonly seqs: readonly number[] };
  /** Only memories that one of these has superseded. */
  readonly supersededBy?: readonly MemoryId[];
  /**
   * What recall considers: these first, then memories pinned for everyone or for the person, then memories about the
   * person of the given kinds.
   */
  readonly recall?: {
    readonly ids: readonly MemoryId[];
    readonly subjectId: string | null;
    readonly kinds: readonly MemoryKind[];
  };
  readonly limit: number;
  readonly offset: number;
  /**
   * The last memory of the previous page: a page then costs only its own rows, however many come before it. Not together
   * with `recall`. Default: none.
   */
  readonly after?: MemoryPosition | null;
}

/** Where a memory is in a list. */
export type MemoryPosition = Pick<Memory, 'pinned' | 'importance' | 'createdAt' | 'id'>;

/** The fields to replace; missing ones stay as they are. `text` and `fingerprint` change together. */
export type MemoryChange = Partial<
  Pick<
    Memory,
    'text' | 'fingerprint' | 'kind' | 'importance' | 'pinned' | 'state' | 'trust' | 'validUntil' | 'supersededBy'
  >
>;

/** What can happen to a memory. `corroborated`: someone said it again. */
export const MEMORY_EVENT_KINDS = [
  'added',
  'corroborated',
  'promoted',
  'superseded',
  'edited',
  'pinned',
  'recalled',
  'rejected',
  'exported',
] as const;
export type MemoryEventKind = (typeof MEMORY_EVENT_KINDS)[number];

/** One thing that happened to a memory. */
export interface MemoryEvent {
  readonly memoryId: MemoryId;
  readonly kind: MemoryEventKind;
  readonly at: number;
  /** Author id or `model`. */
  readonly actor: string;
  readonly detail: JsonValue;
}

/** Everything that one forget request removes, decided by `memory/forget/forget.ts` and applied in one transaction. */
export interface ForgetPlan {
  readonly memoryIds: readonly MemoryId[];
  /** Fingerprints that extraction must never save again in the place. */
  readonly tombstones: readonly { readonly place: string; readonly fingerprint: string }[];
  /** Grouped by conversation, each once. */
  readonly redactions: readonly Redaction[];
  /** Sentences inside messages whose other text stays. */
  readonly sentences: readonly SentenceRemoval[];
  /**
   * People whose model calls are no longer attributed to them, as `platform:id`, in conversations of this scope.
   * Default: none.
   */
  readonly asker?: { readonly person: string; readonly within: string };
  readonly actor: string;
  readonly now: number;
}

/** What to delete in one conversation. */
export interface Redaction {
  readonly conversationId: number;
  /** Entries whose text is deleted. Summaries that cover them become gaps, which a later job fills without them. */
  readonly seqs: readonly number[];
  /** Summaries of other entries that repeat the text. They become gaps too. */
  readonly summaryIds: readonly SummaryId[];
  /** Long tool results that repeat the text. Default: none. */
  readonly blobIds?: readonly BlobId[];
}

/** Messages to redact because the platform has deleted them. */
export interface MessageRedaction {
  readonly externalIds: readonly string[];
  /** Texts in any conversation that repeat it, as found by `memory/forget/removal.ts`. Default: none. */
  readonly derived?: readonly Redaction[];
  readonly now: number;
}

/** Sentences to remove from one message. */
export interface SentenceRemoval {
  readonly conversationId: number;
  readonly seq: number;
  /** The exact sentences in the message, each with the id under which it is held. */
  readonly sentences: readonly { readonly id: string; readonly text: string }[];
  /** `hold`: hidden until a moderator decides, see `ProvenanceStore`. `strike`: deleted. */
  readonly kind: 'hold' | 'strike';
  /** The person whom they are about. */
  readonly about: { readonly id: string; readonly name: string };
}

/** Memories, and what happened to them. */
export interface MemoryStore {
  /**
   * Applies the writes and returns the ids in the same order. Returns null for a fingerprint that was forgotten or
   * already exists about the same person, and for everything from a conversation that no longer exists.
   */
  save(save: MemorySave): Promise<readonly (MemoryId | null)[]>;
  /** Checks no permissions; callers use `memory/rights/policy.ts`. */
  find(id: MemoryId): Promise<Memory | null>;
  /** Memories the reader may read, filtered in the query: pinned first, then by importance, then newest first. */
  list(query: MemoryList): Promise<readonly Memory[]>;
  /** Returns false if the memory does not exist. Writes the event in the same transaction. */
  change(id: MemoryId, change: MemoryChange, event: Omit<MemoryEvent, 'memoryId'>): Promise<boolean>;
  /**
   * Deletes what the plan names; or every memory of a workspace, with the list of what was forgotten there. Turns and
   * jobs that may have read the text lose their claims. Durable when it resolves; the result says whether the engine's
   * files are clean.
   */
  forget(plan: ForgetPlan | { readonly workspace: string }): Promise<Scrubbed>;
  events(id: MemoryId): Promise<readonly MemoryEvent[]>;
  /** Counts memories that were sent to a model. */
  recalled(ids: readonly MemoryId[], by: { readonly conversationId: number; readonly now: number }): Promise<void>;
  /** Which of the fingerprints are forgotten in the place. */
  forgotten(place: string, fingerprints: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Whether the text is gone from the files of the store, too. */
export interface Scrubbed {
  /** One sentence about where deleted text remains in the store's files, and until when. Null if it is gone. */
  readonly remains: string | null;
}

/** Writes to apply in one transaction. */
export interface MemorySave {
  /** The conversation of the sources; null for memories added by the operator. */
  readonly conversationId: number | null;
  /** Saves nothing if the conversation's reply is no longer claimed with this epoch. */
  readonly replyEpoch?: number;
  readonly writes: readonly MemoryWrite[];
  readonly actor: string;
  readonly now: number;
}
