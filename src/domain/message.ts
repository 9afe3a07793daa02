/** Messages and who may read them. Everything else builds on this file. */

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** `platform:workspace:channel[:thread]`, built and parsed only by `domain/key.ts`. */
export type ConversationKey = Brand<'ConversationKey'>;
/** Opaque id of a summary, unique in the store. */
export type SummaryId = Brand<'SummaryId'>;
/** Opaque id of a memory, unique in the store. */
export type MemoryId = Brand<'MemoryId'>;
/** Opaque id of a blob, unique in the store. */
export type BlobId = Brand<'BlobId'>;

/** Any value of JSON. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Who can read the place of a message, from `dm` (fewest readers) to `public` (most). */
export const AUDIENCES = ['dm', 'private', 'public'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** Who can read the place of a message. */
export interface HeardBy {
  readonly audience: Audience;
  /**
   * True if the platform did not report the audience; `audience` then applies only to a place without stored messages.
   * Default false.
   */
  readonly isAudienceAssumed?: boolean;
}

/** Who wrote a message. */
export interface Author {
  /**
   * The platform's own id, unique within the platform and workspace. Rights, memories and the limit of eight replies at
   * once belong to a person, so people must not share one.
   */
  readonly id: string;
  readonly name: string;
  readonly kind: 'person' | 'bot';
}

/** What was written. `textOf` joins the text parts of a message. */
export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** Begins a reference that only the channel of the conversation can open; the rest is its link. */
export const CHANNEL_LINK = 'channel:';

/**
 * A file or image. The bytes stay on the platform: `reference` is a URL, or `channel:` with a link for
 * `ChannelTraits.loadImage`.
 */
export interface AttachmentPart {
  readonly kind: 'attachment';
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly reference: string;
}

/** A call of a tool that the model asked for. */
export interface ToolCallPart {
  readonly kind: 'tool-call';
  /** Unique within the conversation. Built from turn and call number, never taken from the provider. */
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

/** The result of a call. */
export interface ToolResultPart {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly tool: string;
  /** What the model sees: the whole result, or the head and tail of a result that is stored as a blob. */
  readonly text: string;
  readonly isError: boolean;
  /** The blob with the whole result if `text` is an excerpt. */
  readonly blob: { readonly id: BlobId; readonly sizeBytes: number } | null;
}

/** A piece of a message. */
export type Part = TextPart | AttachmentPart | ToolCallPart | ToolResultPart;

/**
 * `notice` is what the bot says about itself, such as a failure: posted and stored, but never shown to a model. A
 * `tool` entry holds the results of all calls of the preceding assistant entry.
 */
export const ROLES = ['user', 'assistant', 'tool', 'notice'] as const;
export type Role = (typeof ROLES)[number];

/** One message from a channel adapter, by a person or an allowed bot, in domain terms. */
export interface InboundMessage extends HeardBy {
  readonly conversation: ConversationKey;
  /** The platform's message id. A second message with the same id in the conversation is a redelivery. */
  readonly externalId: string;
  readonly author: Author;
  /** Longer ones are cut after 1,000,000 characters, with a note. */
  readonly text: string;
  readonly attachments: readonly AttachmentPart[];
  /** External id of the message that this one replies to. */
  readonly replyTo: string | null;
  /** People mentioned in the text, without the bot. The first hundred are stored. */
  readonly mentions: readonly Author[];
  /** Whether the bot is mentioned, replied to, or addressed by a command. */
  readonly addressesBot: boolean;
  /** Epoch milliseconds of the platform's clock. */
  readonly at: number;
  /** Read long after it was sent, for example after an outage: stored, but no longer answered. */
  readonly isPast?: boolean;
}

/** One line of a transcript. Append-only: `parts` change only when the platform's message is edited or redacted. */
export interface Entry {
  /** 1, 2, 3 … without gaps within the conversation. */
  readonly seq: number;
  readonly externalId: string | null;
  readonly role: Role;
  /** For entries of the bot: the seq of the newest message that its turn had read. Null for messages of people. */
  readonly turn: number | null;
  readonly author: Author | null;
  readonly parts: readonly Part[];
  readonly replyTo: string | null;
  readonly mentions: readonly Author[];
  /** Estimated by `context/measure/tokens.ts`, without the learned ratio. */
  readonly tokens: number;
  readonly at: number;
  readonly editedAt: number | null;
  /** If set, `parts` is empty: the text was deleted on the platform, forgotten, or has expired. */
  readonly redactedAt: number | null;
  /** Whether it asked the bot for a reply when it arrived. */
  readonly wantsReply: boolean;
}

/** The text of an entry's text parts, joined by line breaks. */
export function textOf(parts: readonly Part[]): string {
  const [first] = parts;
  if (parts.length === 1 && first?.kind === 'text') return first.text;
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
}

/** Text, call inputs and results: everything that can contain a statement. */
export function textOfEverything({ parts }: Pick<Entry, 'parts'>): string {
  return parts
    .map((part) => {
      switch (part.kind) {
        case 'text':
          return part.text;
        case 'attachment':
          return part.name;
        case 'tool-call':
          return JSON.stringify(part.input);
        case 'tool-result':
          return part.text;
        default:
          return part satisfies never;
      }
    })
    .join('\n');
}

/** The audiences with fewer readers. */
export function tighterThan(audience: Audience): readonly Audience[] {
  return AUDIENCES.slice(0, AUDIENCES.indexOf(audience));
}

/** The audiences with more readers. */
export function looserThan(audience: Audience): readonly Audience[] {
  return AUDIENCES.slice(AUDIENCES.indexOf(audience) + 1);
}

/** Whether everybody in `audience` is also in `other`. */
export function isAtLeastAsTight(audience: Audience, other: Audience): boolean {
  return AUDIENCES.indexOf(audience) <= AUDIENCES.indexOf(other);
}

/** The narrower of two audiences. Merging or changing a record may only narrow its audience. */
export function tighter(a: Audience, b: Audience): Audience {
  return isAtLeastAsTight(a, b) ? a : b;
}

/** Entries of one conversation, from `fromSeq` to `toSeq` inclusive. */
export interface SeqRange {
  readonly fromSeq: number;
  readonly toSeq: number;
}
