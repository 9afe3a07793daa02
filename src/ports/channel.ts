import type { Audience, Author, ConversationKey, HeardBy, InboundMessage, Part } from '../domain/message.ts';
import type { CommandSpec } from './command.ts';
import type { PostBody } from './outbox-store.ts';
import type { CommandReply } from './reply.ts';

/** A platform. Translates its events into calls of the sink, and posts into messages. */
export interface Channel {
  /** The first part of its conversation keys, for example `discord`. */
  readonly platform: string;
  readonly traits: ChannelTraits;
  /** Resolves when connected. Every event is handed to the sink and acknowledged only after the sink's promise resolved. */
  start(sink: ChannelSink): Promise<void>;
  /** Cuts a reply into bodies within the platform's limits; joined they give the text. */
  split(text: string): readonly PostBody[];
  /**
   * Posts one body. With an idempotency key the same nonce posts once; without, `attempt > 1` must look before it posts.
   * Throws `POST_FAILED`, final where the platform will never take it: anything else is tried again, no sooner than
   * `retryAfterMs` where the platform asks for that.
   */
  post(post: Post, options: { readonly signal: AbortSignal }): Promise<{ readonly platformMessageId: string }>;
  /** What the turn is doing, for typing signs and live text. Best effort: returns at once and never throws. */
  show(conversation: ConversationKey, activity: Activity): void;
  /** An address at which people find a message; null where there is none. Never rejects. */
  linkTo(message: MessageAt): Promise<string | null>;
  /** Stops intake first, then lets running calls of the sink end. */
  stop(): Promise<void>;
}

export interface MessageAt {
  readonly conversation: ConversationKey;
  readonly externalId: string;
}

export interface ChannelTraits {
  /** A repeated post with the same nonce is recognised by the platform. */
  readonly idempotentPosts: boolean;
  /** Replies can be shown to one person only. */
  readonly ephemeral: boolean;
  /** How people begin a command: `/`, or `/strata ` where all of them are one. */
  readonly commandPrefix: string;
  /** Where an author's id names one person: on the whole platform, or only within a workspace. */
  readonly personIds: 'platform' | 'workspace';
}

export interface Post {
  readonly conversation: ConversationKey;
  /** At most 25 characters, the same on every attempt. */
  readonly nonce: string;
  readonly body: PostBody;
  /** External id of the message that is answered; only on the first chunk. */
  readonly replyTo: string | null;
  readonly attempt: number;
  /** When it was committed, for a post that answers nobody: it replaces no draft. Absent for a reply. */
  readonly unaskedAt?: number;
}

export type Activity =
  | { readonly kind: 'working' }
  /** The text of the running step so far. The posts that follow replace it. */
  | { readonly kind: 'draft'; readonly text: string }
  /** All that was owed is answered and posted. */
  | { readonly kind: 'idle' };

/** What the bot offers a channel. Each promise resolves when the event is durable. */
export interface ChannelSink extends PlaceSink {
  message(message: InboundMessage): Promise<Receipt>;
  edited(edit: MessageEdit): Promise<void>;
  removed(removal: { readonly conversation: ConversationKey; readonly externalIds: readonly string[] }): Promise<void>;
  /** The commands of the bot: the built-in ones and those of its plugins. */
  readonly commandSpecs: readonly CommandSpec[];
  /** Answers a command; failures come back as a reply, not as a rejection. */
  command(invocation: CommandInvocation): Promise<CommandReply>;
  /** Completions for an option that is being typed. */
  suggest(
    invocation: CommandInvocation,
    option: string,
  ): Promise<readonly { readonly label: string; readonly value: string }[]>;
  /** Something that came from the platform is not kept. It is counted and logged; returns at once. */
  dropped(drop: Drop): void;
  /**
   * The channel now looks for edits and deletions that it missed in the conversations which `covers` accepts. Replies owed
   * there from before wait for them, up to a minute; messages that arrive do not. Call it before `start` resolves.
   */
  catchingUp(covers: (conversation: ConversationKey) => boolean): CatchingUp;
}

export interface CatchingUp {
  /** The edits and deletions of the conversation are applied, or can't be read. */
  applied(conversation: ConversationKey): void;
  /** Nothing waits any longer. */
  end(): void;
}

/** The same for the places themselves. */
export interface PlaceSink {
  audienceChanged(conversation: ConversationKey, audience: Audience): Promise<void>;
  /** The bot was removed from the place, or from the whole workspace (`platform:workspace`): everything kept of it goes. */
  left(place: ConversationKey | { readonly workspace: string }): Promise<void>;
  readonly conversations: KeptConversations;
}

/**
 * What the bot keeps. Read from the store page by page while it is iterated, so that stopping early costs nothing more,
 * and holding on to all of it is the caller's own cost: there may be millions.
 */
export interface KeptConversations {
  /**
   * Where catching up starts: conversations of the platform, the newest first. The window ends with the newest message
   * of a person that is stored, when the bot was last there: what is more than `windowMs` older is left out.
   */
  heard(platform: string, windowMs: number): AsyncIterable<Cursor>;
  /** Conversations of one place, the newest first, however old: a channel with its open threads, a direct message. */
  heardIn(place: string): AsyncIterable<Cursor>;
  /** Every conversation of a platform, a workspace, or a channel (`platform:workspace:channel`) with all its threads, by key. */
  within(scope: string): AsyncIterable<KeptConversation>;
  /** The workspaces (`platform:workspace`) of a platform of which something is kept, each once. */
  workspaces(platform: string): AsyncIterable<string>;
  /**
   * What may be quoted of a message in one of these conversations: the text as it is kept, empty once it was deleted. Null
   * where the platform's own text may: for what was never kept, and for posts of the bot that were not deleted.
   */
  textOf(message: {
    readonly conversations: readonly ConversationKey[];
    readonly externalId: string;
  }): Promise<string | null>;
}

export interface KeptConversation {
  readonly conversation: ConversationKey;
  /** As it is stored: it only ever gets tighter. */
  readonly audience: Audience;
}

export interface Drop {
  readonly platform: string;
  readonly reason: DropReason;
  /** The platform's own name for what came: `MESSAGE_CREATE`. */
  readonly event: string;
  /** The platform's ids of the channel and the message, as far as they can be read. */
  readonly channel: string | null;
  readonly externalId: string | null;
  /** What is wrong with it, without its text; null when nothing is. */
  readonly problem: string | null;
}

/**
 * Why something is not kept: it cannot be read (`malformed`), the bot wrote it itself (`own`), another bot did and bots are
 * not heard (`bot`), the lists of who is served leave it out (`unserved`), the bot cannot see the place (`unplaced`), the
 * platform withholds the text (`withheld`), nobody said anything (`note`: joins, pins), there is nothing in it (`empty`), it
 * is older than catching up reaches (`late`), or it was deleted before it was stored (`deleted`).
 */
export type DropReason =
  | 'malformed'
  | 'own'
  | 'bot'
  | 'unserved'
  | 'unplaced'
  | 'withheld'
  | 'note'
  | 'empty'
  | 'late'
  | 'deleted';

export interface Receipt {
  readonly stored: boolean;
  /** The message asks for a reply that will come. */
  readonly willReply: boolean;
}

export interface MessageEdit {
  readonly conversation: ConversationKey;
  readonly externalId: string;
  readonly parts: readonly Part[];
  readonly at: number;
}

/** The message of a person that was stored last in a conversation. */
export interface Cursor {
  readonly conversation: ConversationKey;
  readonly externalId: string;
  /** When it was sent, in epoch milliseconds. */
  readonly at: number;
  /** A reply is owed there, which waits for what is missed. */
  readonly owesReply: boolean;
  /** What people said among the newest hundred entries, oldest first: to find what was edited or deleted since. */
  readonly kept: () => Promise<readonly KeptMessage[]>;
}

export interface KeptMessage {
  readonly externalId: string;
  readonly at: number;
  /** When the newest edit was stored; null without one. */
  readonly editedAt: number | null;
}

export interface CommandInvocation extends HeardBy {
  readonly conversation: ConversationKey;
  readonly author: Author;
  /** As the platform knows them: `operator` owns the bot, `moderator` manages the place. */
  readonly rights: 'member' | 'moderator' | 'operator';
  /** Command and sub-command, for example `['memory', 'why']`. */
  readonly path: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}
