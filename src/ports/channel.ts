import type { Audience, Author, ConversationKey, HeardBy, InboundMessage, Part } from '../domain/message.ts';
import type { CommandSpec } from './command.ts';
import type { PostBody } from './outbox-store.ts';
import type { CommandReply } from './reply.ts';

/** A platform: translates its events into calls of the sink, and posts into messages. */
export interface Channel {
  /** The first part of its conversation keys, for example `discord`. */
  readonly platform: string;
  readonly traits: ChannelTraits;
  /**
   * Resolves when connected. Every event goes to the sink and is acknowledged only after the sink's promise has
   * resolved. The messages of a conversation are handed over one after another, in their order.
   */
  start(sink: ChannelSink): Promise<void>;
  /** Splits a reply into bodies within the platform's limits. Joined, they give the text. */
  split(text: string): readonly PostBody[];
  /**
   * Posts one body. With idempotency keys, a repeated nonce posts once; without them, an `attempt` above 1 must check
   * first whether the post exists. Throws `POST_FAILED`: final if the platform will never accept the post; otherwise it
   * is retried, no sooner than `retryAfterMs` (at most an hour) and for about an hour.
   */
  post(post: Post, options: { readonly signal: AbortSignal }): Promise<{ readonly platformMessageId: string }>;
  /**
   * Reports what the turn is doing, for typing indicators and live text. Best effort: returns at once and never throws.
   */
  show(conversation: ConversationKey, activity: Activity): void;
  /** A link to a message, or null if there is none. Never rejects. */
  linkTo(message: MessageAt): Promise<string | null>;
  /** Stops intake first, then waits for running calls of the sink. Replies that are owed are still posted afterwards. */
  stop(): Promise<void>;
}

/** A message, by the id of its platform. */
export interface MessageAt {
  readonly conversation: ConversationKey;
  readonly externalId: string;
}

/** Loads an image of a conversation by its link. */
export type LoadImage = (
  image: { readonly conversation: ConversationKey; readonly link: string },
  options: { readonly signal: AbortSignal },
) => Promise<ImageBytes | null>;

/** An image as models read it. */
export interface ImageBytes {
  readonly mediaType: string;
  readonly base64: string;
}

/** What a platform can do. */
export interface ChannelTraits {
  /** The platform recognises a repeated post by its nonce. */
  readonly idempotentPosts: boolean;
  /** Replies can be visible to one person only. */
  readonly ephemeral: boolean;
  /** How people start a command: `/`, or `/strata ` if all commands share one name. */
  readonly commandPrefix: string;
  /** Whether an author's id identifies a person on the whole platform or only within a workspace. */
  readonly personIds: 'platform' | 'workspace';
  /**
   * For images that only the channel can load: their `reference` is `channel:` with a link. Called when a model is about
   * to see one. Null if it is gone.
   */
  readonly loadImage?: LoadImage;
}

/** One message for a platform: a reply, or a chunk of a long one. */
export interface Post {
  readonly conversation: ConversationKey;
  /** At most 25 characters, and the same for every attempt. */
  readonly nonce: string;
  readonly body: PostBody;
  /** External id of the message that this answers; only for the first chunk. */
  readonly replyTo: string | null;
  /** From 1. */
  readonly attempt: number;
  /** When it was committed, for a post that answers no message and so replaces no draft. Absent for a reply. */
  readonly unaskedAt?: number;
}

/** What a channel shows while a reply is written. */
export type Activity =
  | { readonly kind: 'working' }
  /** The text of the running step so far. The final posts replace it. */
  | { readonly kind: 'draft'; readonly text: string }
  /** Every owed reply is written and posted. */
  | { readonly kind: 'idle' };

/** What the bot offers a channel. Each promise resolves once the event is stored. */
export interface ChannelSink extends PlaceSink {
  /** Like the other methods, rejects with `MESSAGE_INVALID` if a field is missing or of another type. */
  message(message: InboundMessage): Promise<Receipt>;
  /** An edit that arrives before its message is applied to it when it does. */
  edited(edit: MessageEdit): Promise<void>;
  /** Deletes the text, and everything that repeats it. A message that arrives after its deletion is dropped. */
  removed(removal: { readonly conversation: ConversationKey; readonly externalIds: readonly string[] }): Promise<void>;
  /** The commands of the bot: the built-in ones and those of its plugins. */
  readonly commandSpecs: readonly CommandSpec[];
  /** Answers a command; failures come back as a reply, not as a rejection. */
  command(invocation: CommandInvocation): Promise<CommandReply>;
  /** Completions for an option that a person is typing. */
  suggest(
    invocation: CommandInvocation,
    option: string,
  ): Promise<readonly { readonly label: string; readonly value: string }[]>;
  /** Reports an event that is not stored, to be counted and logged. Returns at once. */
  dropped(drop: Drop): void;
  /**
   * Starts a catch-up: the channel now reads the edits and deletions that it missed in the conversations accepted by
   * `covers`. Replies that were already owed there wait for it, up to a minute; new messages do not. Call it before
   * `start` resolves.
   */
  catchingUp(covers: (conversation: ConversationKey) => boolean): CatchingUp;
}

/** How far a channel is in reading what it missed. */
export interface CatchingUp {
  /** The conversation's edits and deletions are applied, or cannot be read. */
  applied(conversation: ConversationKey): void;
  /** The catch-up has ended; nothing waits for it any more. */
  end(): void;
}

/** Changes to places, and what is stored for them. */
export interface PlaceSink {
  /** Who can read the place from now on. */
  audienceChanged(conversation: ConversationKey, audience: Audience): Promise<void>;
  /**
   * The bot was removed from the place or from the whole workspace (`platform:workspace`). Everything stored for it is
   * deleted.
   */
  left(place: ConversationKey | { readonly workspace: string }): Promise<void>;
  readonly conversations: KeptConversations;
}

/**
 * What the bot has stored. Read from the store page by page during iteration, so stopping early saves the rest. There
 * may be millions of conversations: do not collect them all in memory.
 */
export interface KeptConversations {
  /**
   * Where to start catching up: the platform's conversations, newest first. The window ends at the newest stored
   * message of a person, when the bot was last online. Conversations more than `windowMs` older are left out.
   */
  heard(platform: string, windowMs: number): AsyncIterable<Cursor>;
  /** All conversations of one place, newest first: a channel with its open threads, or a direct message. */
  heardIn(place: string): AsyncIterable<Cursor>;
  /**
   * All conversations of a platform, a workspace, or a channel (`platform:workspace:channel`) with its threads, by key.
   */
  within(scope: string): AsyncIterable<KeptConversation>;
  /** The workspaces (`platform:workspace`) of a platform with stored conversations, each once. */
  workspaces(platform: string): AsyncIterable<string>;
  /**
   * What may be quoted of a message in one of these conversations: its stored text, which is empty if the message or its
   * conversation was deleted. Null if the platform's own message may be quoted: if it was never stored, is a post of the
   * bot that was not deleted, consists of files, or is stored with text that would tell the readers of the quotation more
   * than it shows.
   */
  textOf(message: QuotedMessage): Promise<string | null>;
}

/** A message that another one quotes or forwards. */
export interface QuotedMessage {
  readonly conversations: readonly ConversationKey[];
  readonly externalId: string;
  /** When it was sent, in epoch milliseconds. */
  readonly at: number;
  /** Where the quotation is. Without an audience, only messages of the same place are shared with it. */
  readonly quotedIn: { readonly conversation: ConversationKey; readonly audience: Audience | null };
  /** What the platform shows of the message. Markup makes no difference. */
  readonly shown: string;
}

/** A stored conversation, for comparing its audience with that on the platform. */
export interface KeptConversation {
  readonly conversation: ConversationKey;
  /** As stored; it only ever gets narrower. */
  readonly audience: Audience;
}

/** An event of a platform that was not stored, and why. */
export interface Drop {
  readonly platform: string;
  readonly reason: DropReason;
  /** The platform's own name of the event, such as `MESSAGE_CREATE`. */
  readonly event: string;
  /** The platform's ids of channel and message, as far as they can be read. */
  readonly channel: string | null;
  readonly externalId: string | null;
  /** What is wrong with the event, without its text; null if nothing is. */
  readonly problem: string | null;
}

/**
 * Why an event is not stored: it is invalid (`malformed`), the bot wrote it (`own`), another bot wrote it and bots are
 * ignored (`bot`), the access lists exclude it (`unserved`), the bot cannot see the place (`unplaced`), the platform
 * withholds the text (`withheld`), it is a system message such as a join or a pin (`note`), it has no content
 * (`empty`), it is too old for catching up (`late`), a hook dropped it (`hook`), or it was deleted before it was stored,
 * or together with its conversation (`deleted`).
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
  | 'hook'
  | 'deleted';

/** What became of a message. */
export interface Receipt {
  /** False for a redelivery, and for a message that was dropped. */
  readonly stored: boolean;
  /** The message asks for a reply, and one will follow. */
  readonly willReply: boolean;
}

/** The new text of a message. */
export interface MessageEdit {
  readonly conversation: ConversationKey;
  readonly externalId: string;
  readonly parts: readonly Part[];
  /** When it was made, in epoch milliseconds. An edit that is older than another one of the message changes nothing. */
  readonly at: number;
}

/** The newest stored message of a person in a conversation. */
export interface Cursor {
  readonly conversation: ConversationKey;
  readonly externalId: string;
  /** When it was sent, in epoch milliseconds. */
  readonly at: number;
  /** A reply is owed there, or not posted yet, and waits for the catch-up. */
  readonly owesReply: boolean;
  /**
   * Messages of people among the newest hundred entries, oldest first. Used to find what was edited or deleted since.
   */
  readonly kept: () => Promise<readonly KeptMessage[]>;
}

/** A stored message, for finding out whether it was edited or deleted since. */
export interface KeptMessage {
  readonly externalId: string;
  readonly at: number;
  /** When the newest edit was stored, or null. */
  readonly editedAt: number | null;
}

/** The platform's roles: an `operator` owns the bot, a `moderator` manages the place. */
export const RIGHTS = ['member', 'moderator', 'operator'] as const;
export type Rights = (typeof RIGHTS)[number];

/** A command that a person ran. */
export interface CommandInvocation extends HeardBy {
  readonly conversation: ConversationKey;
  readonly author: Author;
  readonly rights: Rights;
  /** Command and sub-command, for example `['memory', 'why']`. */
  readonly path: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  /** People whom the options mention, each by an `@` before the name. */
  readonly mentions?: readonly Author[];
}
