import type { Audience, Author, ConversationKey, Entry, MemoryId, Part, Role } from '../domain/message.ts';
import type { BlobStore, NewBlob } from './blob-store.ts';
import type { ClaimRequest, ConversationChange, ReleaseOutcome } from './conversation-changes.ts';
import type { Journal, RequestPart, UsageRow } from './journal.ts';
import type { MemoryStore, MessageRedaction } from './memory-store.ts';
import type { NewPost, OutboxStore, PostRow } from './outbox-store.ts';
import type { QuotedEntries } from './sections.ts';
import type { Summary, SummaryStore } from './summary-store.ts';

/**
 * All durable data. Times are epoch milliseconds. Every method is one transaction and durable when it resolves, except
 * changes that delete without a limit: other work goes on between their transactions.
 */
export interface Store {
  readonly conversations: ConversationStore;
  readonly transcript: TranscriptStore;
  readonly summaries: SummaryStore;
  readonly memories: MemoryStore;
  readonly outbox: OutboxStore;
  readonly blobs: BlobStore;
  readonly journal: Journal;
  close(): Promise<void>;
}

/** The row of a conversation: its counters, watermarks and claims. */
export interface Conversation {
  readonly id: number;
  readonly key: ConversationKey;
  /** Who can read the place since entry `audienceFrom`. Earlier entries keep at most the narrowest audience so far. */
  readonly audience: Audience;
  readonly audienceFrom: number;
  readonly tightestAudience: Audience;
  /** The seq of the next entry. */
  readonly nextSeq: number;
  /** The stack ends here; the tail starts after it. */
  readonly compactedUpto: number;
  /** The view starts here; a reset moves it. */
  readonly contextFrom: number;
  /** Memories were extracted from the entries up to here. */
  readonly extractedUpto: number;
  /** The newest message that asks for a reply, and the newest that a turn has read. A reply is owed while due > answered. */
  readonly replyDueSeq: number;
  readonly answeredUpto: number;
  /**
   * No message before this one waits for an answer. Set to the seq of an asking message if none was owed, and unchanged
   * while one is. Waiting messages start at the later of this and `answeredUpto + 1`. It allows cuts in a busy channel.
   */
  readonly replyDueFrom: number;
  /** Grows with every change of the view except appends; caches of the view compare it. */
  readonly revision: number;
  /** The newest claim of the reply. `replyUntil` is null, or in the past, if nobody works on it. */
  readonly replyEpoch: number;
  readonly replyUntil: number | null;
  /** The newest claim of maintenance, in the same way. */
  readonly maintenanceEpoch: number;
  readonly maintenanceUntil: number | null;
  /** When a worker should check the conversation next; null if nothing is due. */
  readonly maintainAt: number | null;
  /** Consecutive failures of maintenance, and when it may be tried again. */
  readonly failures: number;
  readonly nextAttemptAt: number | null;
  readonly lastError: string | null;
  /** Null until a provider has counted the tokens of a request. */
  readonly calibration: Calibration | null;
  readonly createdAt: number;
  readonly lastActivityAt: number;
  /** The newest stored message of a person; null if none of them has an id of the platform. */
  readonly heard: { readonly externalId: string; readonly at: number } | null;
}

/** The learned correction of token estimates, valid for one model. */
export interface Calibration {
  readonly model: string;
  /** Reported tokens divided by estimated ones, as a moving average over `samples` steps. */
  readonly ratio: number;
  readonly samples: number;
  /** Reported by the provider for the last step, with the revision that it applies to. */
  readonly lastInputTokens: number;
  readonly revision: number;
}

/** The right to work on a conversation until a time. A commit with an older epoch is stale. */
export interface Claim {
  readonly conversationId: number;
  readonly epoch: number;
  readonly until: number;
}

/** Conversations, and who works on them. */
export interface ConversationStore {
  find(key: ConversationKey): Promise<Conversation | null>;
  get(id: number): Promise<Conversation | null>;
  /** One page. The next one starts after its last conversation; see `pagesOf`. */
  list(page: ConversationPage): Promise<readonly Conversation[]>;
  /**
   * Null while another claim for the same work is alive. A reply must also be owed, because another process may have
   * given it already; maintenance waits for `nextAttemptAt`, but at most `MAX_PAUSE_MS`.
   */
  claim(claim: ClaimRequest): Promise<{ readonly claim: Claim; readonly conversation: Conversation } | null>;
  /** Extends the lease, or returns null if the claim was lost. */
  renew(work: 'reply' | 'maintenance', claim: Claim, until: number): Promise<Claim | null>;
  /** Ends a claim and stores its outcome. A lost claim changes nothing. */
  release(claim: Claim, outcome: ReleaseOutcome): Promise<void>;
  /** Conversations whose `maintainAt` or owed reply is due and unclaimed, oldest first, without children. */
  due(
    work: 'reply' | 'maintenance',
    query: { readonly now: number; readonly limit: number; readonly platform?: string },
  ): Promise<readonly Conversation[]>;
  change(id: number, change: ConversationChange): Promise<void>;
}

/** Which conversations, and in which order; without children unless the query asks for them. */
export type ConversationQuery =
  /** By key. Activity does not change this order, so every conversation that exists throughout is listed once. */
  | { readonly order: 'key'; readonly scope: ConversationScope; readonly withChildren?: true }
  /** Conversations with messages of people, newest message first. */
  | { readonly order: 'heard'; readonly scope: ConversationScope }
  /** Newest activity first. Sorts all conversations. */
  | { readonly order: 'active' };

/** `within`: keys that start with these whole parts, such as `slack`, `slack:T1` or `slack:T1:C1`; null for all. */
export type ConversationScope = { readonly place: string } | { readonly within: string | null };

/** One page of a list. */
export type ConversationPage = ConversationQuery & {
  readonly limit: number;
  /** The last conversation of the previous page; null for the first page. */
  readonly after: Pick<Conversation, 'id' | 'key' | 'heard' | 'lastActivityAt'> | null;
};

/** One message to store, and what is due with it. */
export interface Append {
  readonly conversation: ConversationKey;
  readonly audience: Audience;
  readonly message: NewMessage;
  /** The message asks for a reply; the owed reply is stored with it. */
  readonly wantsReply: boolean;
  /** Claim the reply in the same transaction if one is wanted and no turn is running. */
  readonly claimLeaseMs: number | null;
  /** How long the conversation must be idle before its tail is extracted. */
  readonly idleExtractMs: number;
  /** The bot's answer to the message, stored right after it; `posts` then show the answer. Default none. */
  readonly answer?: NewMessage;
  /** Posts that show the entry to the people there, stored with it. Default none. */
  readonly posts?: {
    readonly rows: readonly NewPost[];
    /** Until this time they belong to this process; afterwards any process may take them. */
    readonly heldUntil: number;
  };
  /** It comes from a file: the platform does not know its id, so catching up cannot continue after it. Default false. */
  readonly isImported?: boolean;
  readonly now: number;
}

/** A message to store. The store assigns its `seq`. */
export interface NewMessage {
  readonly externalId: string | null;
  readonly role: Role;
  readonly author: Author | null;
  readonly parts: readonly Part[];
  readonly replyTo: string | null;
  readonly mentions: readonly Author[];
  readonly tokens: number;
  readonly at: number;
}

/** Every read finds the message from now on, but it may not be on the disk yet. */
export type AppendResult = Appended & {
  /** Resolves when a power failure can no longer undo it, and rejects if the disk fails. */
  readonly durable: Promise<void>;
};

/** A conversation after entries were added to it. */
export interface Extended {
  readonly conversation: Conversation;
  /**
   * Its `lastActivityAt` before. A copy of the view that has another one contains entries that the store has lost, for
   * example in a failover, even if others have their numbers now.
   */
  readonly previousActivityAt: number;
}

/** `duplicate`: the conversation already has a message with this `externalId`, and nothing was stored. */
export type Appended =
  | (Extended & {
      readonly kind: 'stored';
      readonly seq: number;
      readonly claim: Claim | null;
      readonly posts: readonly PostRow[];
    })
  | { readonly kind: 'duplicate'; readonly seq: number; readonly conversation: Conversation };

/** A message that a turn adds, before the store numbers it: calls, their results, the answer. */
export type TurnMessage = Pick<Entry, 'role' | 'parts' | 'tokens' | 'at'>;

/** A finished turn: its entries, posts and costs, in one transaction, if the claim still holds. */
export interface TurnCommit {
  readonly claim: Claim;
  /** The seq of the newest message that the turn has read. Becomes the `turn` of its entries and `answeredUpto`. */
  readonly readUpto: number;
  readonly entries: readonly TurnMessage[];
  /** They show the last of the entries. */
  readonly posts: readonly NewPost[];
  readonly usage: readonly UsageRow[];
  readonly calibration: Calibration | null;
  /**
   * Memories given to the turn; its text may repeat them. The result is stale if one of them is gone or no longer
   * readable in the place. Default: none.
   */
  readonly given?: readonly MemoryId[];
  /**
   * Messages of other conversations that the turn was shown. The result is stale if one of them is deleted, or if a person
   * has edited it since. Default: none.
   */
  readonly quotes?: readonly QuotedEntries[];
  /**
   * The first message of the turn's view, and the revision of the conversation then. The result is stale if a person has
   * edited one of the messages up to `readUpto` since. Default: edits do not matter.
   */
  readonly read?: { readonly fromSeq: number; readonly revision: number };
  /** What the request was built from, with texts that the store may not know yet. Default: not recorded. */
  readonly record?: { readonly note: string; readonly parts: readonly RequestPart[] };
  /** Long texts of its tools, with an id each. They are stored only together with the turn. Default: none. */
  readonly blobs?: readonly NewBlob[];
  /**
   * When to check the conversation at the latest. It is now if the compactor found something due, so a crash cannot
   * lose the kick.
   */
  readonly maintainAt: number;
  readonly now: number;
}

/** `stale`: the claim was lost, or what the turn has read is no longer valid. Nothing was stored. */
export type TurnCommitResult =
  | (Extended & {
      readonly kind: 'committed';
      readonly entries: readonly Entry[];
      readonly posts: readonly PostRow[];
    })
  | { readonly kind: 'stale' };

/** What was said: the entries of conversations. */
export interface TranscriptStore {
  /** Also creates the conversation with its first message. Don't acknowledge it before `durable` resolves. */
  append(append: Append): Promise<AppendResult>;
  commitTurn(commit: TurnCommit): Promise<TurnCommitResult>;
  /** State, stack and the newest `maxEntries` of the tail, in one snapshot. */
  context(conversationId: number, query: { readonly maxEntries: number }): Promise<ContextSnapshot | null>;
  /** Entries in ascending seq; with `authorId`, only those of one person. */
  read(
    conversationId: number,
    range: { readonly fromSeq: number; readonly toSeq: number; readonly limit: number; readonly authorId?: string },
  ): Promise<readonly Entry[]>;
  /** These entries in ascending order; missing ones are left out. */
  pick(conversationId: number, seqs: readonly number[]): Promise<readonly Entry[]>;
  /** The entry of a platform message: by a person, or posted by the bot (found through the outbox). */
  byExternalId(conversationId: number, externalId: string): Promise<Entry | null>;
  /**
   * Returns false if there is no such message. Marks covering summaries as stale and deletes memories based on it
   * alone.
   */
  edit(conversationId: number, edit: EntryEdit): Promise<boolean>;
  /**
   * Deletes the text, and what was `derived` from it, in one transaction. Covering summaries become gaps, and memories
   * based on it alone are deleted. Returns the redacted seqs of the conversation.
   */
  redact(conversationId: number, redaction: MessageRedaction): Promise<readonly number[]>;
}

/** The new content of a message that was edited on its platform. */
export interface EntryEdit {
  readonly externalId: string;
  readonly parts: readonly Part[];
  readonly tokens: number;
  readonly now: number;
}

/** What a view is built from, as of one moment. */
export interface ContextSnapshot {
  readonly conversation: Conversation;
  readonly stack: readonly Summary[];
  /** Ascending by seq, ending with the newest entry. */
  readonly tail: readonly Entry[];
  /** Summaries that are written but not part of the stack yet. Default: none. */
  readonly ready?: readonly Summary[];
  /** Entries at the head of the tail that `maxEntries` left out. */
  readonly omitted: { readonly entries: number; readonly tokens: number };
}
