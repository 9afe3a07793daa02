import type { Audience, BlobId, ConversationKey, JsonValue, MemoryId, SummaryId } from '../domain/message.ts';

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
 * `candidate`: kept, not recalled until promoted. `active`: recalled. `superseded`: contradicted by a newer one, kept
 * for `why`, not recalled. `rejected`: a person said no; final.
 */
export const MEMORY_STATES = ['candidate', 'active', 'superseded', 'rejected'] as const;
export type MemoryState = (typeof MEMORY_STATES)[number];

/** Stamped by code from who said it about whom, never by a model. */
export const TRUSTS = ['operator', 'self', 'other', 'inferred'] as const;
export type Trust = (typeof TRUSTS)[number];

export interface Memory {
  readonly id: MemoryId;
  readonly agentId: string;
  readonly kind: MemoryKind;
  readonly text: string;
  /** 0..1, as extracted. Decay is computed at read, never stored. */
  readonly importance: number;
  readonly confidence: number;
  /** `place`: where it was captured. `global`: added by the operator, readable everywhere. */
  readonly scope: 'place' | 'global';
  /** The key without its thread: threads share the memories of their channel. Empty for `global`. */
  readonly place: string;
  /** `platform:workspace`. Empty for `global`. */
  readonly workspace: string;
  /** At capture; tightened when the channel turns more private, never loosened. */
  readonly audience: Audience;
  /** Whom it is about, where known. */
  readonly subjectId: string | null;
  readonly subjectName: string | null;
  readonly trust: Trust;
  readonly state: MemoryState;
  readonly pinned: boolean;
  readonly validFrom: number;
  readonly validUntil: number | null;
  readonly supersededBy: MemoryId | null;
  readonly recallCount: number;
  readonly lastRecalledAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of the normalised text: equal within a place means the same statement. */
  readonly fingerprint: string;
  readonly extractedBy: { readonly model: string; readonly promptHash: string } | null;
  readonly sources: readonly MemorySource[];
}

export interface MemorySource {
  readonly conversationId: number;
  readonly conversation: ConversationKey;
  readonly seq: number;
  /** The platform's message id; null for what has none. */
  readonly externalId: string | null;
  /** Who said it; null for the bot. */
  readonly authorId: string | null;
}

/** Who asks: every read names the place and audience it answers to. */
export interface MemoryReader {
  readonly agentId: string;
  readonly place: string;
  readonly workspace: string;
  readonly audience: Audience;
  /** The agent lets public channels of one workspace read each other's public memories. */
  readonly sharePublic: boolean;
}

export type NewMemory = Omit<
  Memory,
  'sources' | 'supersededBy' | 'recallCount' | 'lastRecalledAt' | 'createdAt' | 'updatedAt'
>;

/** What a saving decided. Applied in one transaction; `sources` are seqs of the conversation that is being worked on. */
export type MemoryWrite =
  | { readonly kind: 'insert'; readonly memory: NewMemory; readonly sources: readonly number[] }
  /** Said again: adds sources and may promote. */
  | {
      readonly kind: 'corroborate';
      readonly id: MemoryId;
      readonly sources: readonly number[];
      readonly promote: boolean;
    }
  /** Contradicted: the old one is kept and points to the new one. */
  | {
      readonly kind: 'supersede';
      readonly id: MemoryId;
      readonly memory: NewMemory;
      readonly sources: readonly number[];
    };

export interface MemoryList {
  readonly reader: MemoryReader;
  readonly kinds?: readonly MemoryKind[];
  readonly states?: readonly MemoryState[];
  readonly subjectId?: string;
  /** Only these, as far as they are readable. */
  readonly ids?: readonly MemoryId[];
  readonly fingerprints?: readonly string[];
  /** Only those with one of these entries among their sources. */
  readonly restingOn?: { readonly conversationId: number; readonly seqs: readonly number[] };
  /** Only those that one of these has superseded. */
  readonly supersededBy?: readonly MemoryId[];
  /** What a recall considers, these first: then what is pinned for everybody or for the person, and those of the kinds about them. */
  readonly recall?: {
    readonly ids: readonly MemoryId[];
    readonly subjectId: string | null;
    readonly kinds: readonly MemoryKind[];
  };
  readonly limit: number;
  readonly offset: number;
}

export type MemoryChange = Partial<
  Pick<
    Memory,
    'text' | 'fingerprint' | 'kind' | 'importance' | 'pinned' | 'state' | 'trust' | 'validUntil' | 'supersededBy'
  >
>;

export interface MemoryEvent {
  readonly memoryId: MemoryId;
  readonly kind:
    | 'added'
    | 'corroborated'
    | 'promoted'
    | 'superseded'
    | 'edited'
    | 'pinned'
    | 'recalled'
    | 'rejected'
    | 'exported';
  readonly at: number;
  /** Author id or `model`. */
  readonly actor: string;
  readonly detail: JsonValue;
}

/** Everything that one forgetting removes, decided by `memory/forget.ts` and applied in one transaction. */
export interface ForgetPlan {
  readonly memoryIds: readonly MemoryId[];
  /** Fingerprints that extraction may never save again in the place. */
  readonly tombstones: readonly { readonly place: string; readonly fingerprint: string }[];
  /** By conversation, each of them once. */
  readonly redactions: readonly Redaction[];
  /** Sentences in messages of people who keep the rest of their message. */
  readonly sentences: readonly SentenceRemoval[];
  /** People, as `platform:id`, whose calls of models are no longer counted under their name. Default: none. */
  readonly askers?: readonly string[];
  readonly actor: string;
  readonly now: number;
}

export interface Redaction {
  readonly conversationId: number;
  /** Entries whose text is deleted; summaries that cover them become gaps, which a job fills again without them. */
  readonly seqs: readonly number[];
  /** Summaries of other entries that repeat the text: they become gaps too. */
  readonly summaryIds: readonly SummaryId[];
  /** Long tool results that repeat the text. Default: none. */
  readonly blobIds?: readonly BlobId[];
}

export interface MessageRedaction {
  readonly externalIds: readonly string[];
  /** What repeats the text, as `memory/removal.ts` finds it, in any conversation. Default: nothing. */
  readonly derived?: readonly Redaction[];
  readonly now: number;
}

export interface SentenceRemoval {
  readonly conversationId: number;
  readonly seq: number;
  /** As they stand in the message, each with the id under which it is held. */
  readonly sentences: readonly { readonly id: string; readonly text: string }[];
  /** `hold`: out of sight until somebody decides, see `ProvenanceStore`. `strike`: deleted. */
  readonly kind: 'hold' | 'strike';
  /** Whom they are about. */
  readonly about: { readonly id: string; readonly name: string };
}

export interface MemoryStore {
  /** Applies the writes and returns the ids in their order. A fingerprint that is forgotten or present is passed over (null). */
  save(save: MemorySave): Promise<readonly (MemoryId | null)[]>;
  /** Without a right check: callers ask `memory/policy.ts`. */
  find(id: MemoryId): Promise<Memory | null>;
  /** Readable ones, filtered in the query: pinned first, then by importance, then newest. */
  list(query: MemoryList): Promise<readonly Memory[]>;
  /** False when the memory is gone. Writes the event in the same transaction. */
  change(id: MemoryId, change: MemoryChange, event: Omit<MemoryEvent, 'memoryId'>): Promise<boolean>;
  /**
   * What is planned; or every memory of a workspace, with what is known to be forgotten there. Turns and jobs that may
   * have read the text lose their claims. Durable when it resolves; the answer says whether the engine's files are clean.
   */
  forget(plan: ForgetPlan | { readonly workspace: string }): Promise<Scrubbed>;
  events(id: MemoryId): Promise<readonly MemoryEvent[]>;
  /** Counts what was really put before a model. */
  recalled(ids: readonly MemoryId[], by: { readonly conversationId: number; readonly now: number }): Promise<void>;
  /** Which of the fingerprints are forgotten in the place. */
  forgotten(place: string, fingerprints: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface Scrubbed {
  /** Where deleted text still lies in the files of the store, and until when: one sentence. Null when it is gone. */
  readonly remains: string | null;
}

export interface MemorySave {
  /** Where the sources lie; null for what the operator adds. */
  readonly conversationId: number | null;
  /** Saves nothing once the conversation's reply is no longer claimed under this number. */
  readonly replyEpoch?: number;
  readonly writes: readonly MemoryWrite[];
  readonly actor: string;
  readonly now: number;
}
