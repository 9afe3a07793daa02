/** The domain's own words: what people said, and where it may be read. Everything else builds on this file. */

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** `platform:workspace:channel[:thread]`, made and parsed only by `conversation/key.ts`. */
export type ConversationKey = Brand<'ConversationKey'>;
export type SummaryId = Brand<'SummaryId'>;
export type MemoryId = Brand<'MemoryId'>;
export type BlobId = Brand<'BlobId'>;

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Who can read the place where something was said. Order: `dm` is the tightest, `public` the widest. */
export const AUDIENCES = ['dm', 'private', 'public'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** Who reads the place where something is said. */
export interface HeardBy {
  readonly audience: Audience;
  /** The platform did not say: `audience` holds only for a place of which nothing is stored. Default false. */
  readonly isAudienceAssumed?: boolean;
}

export interface Author {
  /** The platform's own id, unique within the platform and workspace. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'person' | 'bot';
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** A file or image. The bytes stay on the platform or in the blob store; `reference` finds them (URL or blob id). */
export interface AttachmentPart {
  readonly kind: 'attachment';
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly reference: string;
}

export interface ToolCallPart {
  readonly kind: 'tool-call';
  /** Unique within the conversation: made by us from turn and call number, never taken from the provider. */
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

export interface ToolResultPart {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly tool: string;
  /** What the model sees: the whole result, or head and tail of one that went to the blob store. */
  readonly text: string;
  readonly isError: boolean;
  /** Where the whole result lies when `text` is an excerpt. */
  readonly blob: { readonly id: BlobId; readonly sizeBytes: number } | null;
}

export type Part = TextPart | AttachmentPart | ToolCallPart | ToolResultPart;

/**
 * `notice` is what the bot said about itself (a failure, for example): posted and kept, but never shown to a model.
 * A `tool` entry holds the results of all calls of the assistant entry before it.
 */
export const ROLES = ['user', 'assistant', 'tool', 'notice'] as const;
export type Role = (typeof ROLES)[number];

/** What a channel adapter hands over: one message of a person (or an allowed bot), already in the domain's terms. */
export interface InboundMessage extends HeardBy {
  readonly conversation: ConversationKey;
  /** The platform's message id: a second message with the same id in the conversation is a redelivery. */
  readonly externalId: string;
  readonly author: Author;
  readonly text: string;
  readonly attachments: readonly AttachmentPart[];
  /** External id of the message that this one replies to. */
  readonly replyTo: string | null;
  /** People named in the text, the bot excluded. */
  readonly mentions: readonly Author[];
  /** The bot is mentioned, replied to or named by command. */
  readonly addressesBot: boolean;
  /** Epoch milliseconds, by the platform's clock. */
  readonly at: number;
  /** Read long after it was said, for example after an outage: kept, but not answered any more. */
  readonly isPast?: boolean;
}

/** One line of a transcript. Append-only: `parts` change only by an edit or a redaction of the platform's message. */
export interface Entry {
  /** 1, 2, 3 … without gaps within the conversation. */
  readonly seq: number;
  readonly externalId: string | null;
  readonly role: Role;
  /** For what the bot wrote: the seq of the last message its turn had read. Null for messages of people. */
  readonly turn: number | null;
  readonly author: Author | null;
  readonly parts: readonly Part[];
  readonly replyTo: string | null;
  readonly mentions: readonly Author[];
  /** Estimate of `context/tokens.ts`, uncorrected by the learned ratio. */
  readonly tokens: number;
  readonly at: number;
  readonly editedAt: number | null;
  /** When set, `parts` are empty: the text was deleted on the platform, forgotten or aged out. */
  readonly redactedAt: number | null;
}

/** The text of an entry's text parts, joined by line breaks. */
export function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
}

export function tighterThan(audience: Audience): readonly Audience[] {
  return AUDIENCES.slice(0, AUDIENCES.indexOf(audience));
}

export function looserThan(audience: Audience): readonly Audience[] {
  return AUDIENCES.slice(AUDIENCES.indexOf(audience) + 1);
}

/** The tighter of two audiences: a merged or changed record may only tighten. */
export function tighter(a: Audience, b: Audience): Audience {
  return AUDIENCES.indexOf(a) <= AUDIENCES.indexOf(b) ? a : b;
}
