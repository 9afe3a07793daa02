import {
  type AttachmentPart,
  type Author,
  type ConversationKey,
  type InboundMessage,
  type Part,
  plainName,
  quoted,
} from '../../../src/adapter-kit.ts';
import { heardBy } from '../shared/heard-by.ts';
import { type Place, timeOf } from './places/place.ts';
import { filled, mentionedIds, type Names, readable, textOfBlocks } from './text.ts';
import type { WireMessage } from './wire.ts';

/** Subtypes of messages that people and bots write. Joins, pins, renames and so on are Slack's own. */
const SAID = new Set(['file_share', 'thread_broadcast', 'me_message', 'bot_message']);

/** What is known about a message, new or edited, besides its content. */
export interface MessageContext {
  readonly conversation: ConversationKey;
  readonly place: Place;
  readonly self: Self;
  readonly names: Names;
  readonly author: Author;
  /** Images with their bytes; other files by name. */
  readonly attachments: readonly AttachmentPart[];
  /** Context before the text: what was left out, what the person is viewing, and the first message of the thread. */
  readonly notes: readonly string[];
  /** Texts of files, and files that are not shown. */
  readonly fileTexts: readonly string[];
}

/** The same of a new message. */
export interface MapContext extends MessageContext {
  /** Too old to be answered. */
  readonly isPast: boolean;
  /** Continues an exchange with the bot in a thread. */
  readonly isFollowUp: boolean;
}

/** The bot itself, as others address it. */
export interface Self {
  readonly userId: string;
  readonly botId: string;
}

export function isSaid({ subtype }: Pick<WireMessage, 'subtype'>): boolean {
  return !subtype || SAID.has(subtype);
}

export function isOwn({ user, bot_id: botId }: Pick<WireMessage, 'user' | 'bot_id'>, self: Self): boolean {
  return user === self.userId || (Boolean(botId) && botId === self.botId);
}

/** Null for messages that neither a person nor another bot wrote. */
export function toInbound(message: WireMessage, context: MapContext): InboundMessage | null {
  if (!isSaid(message) || isOwn(message, context.self)) return null;
  const text = textOf(message, context);
  if (text === '' && context.attachments.length === 0) return null;
  const { thread_ts: threadTs } = message;
  return {
    conversation: context.conversation,
    externalId: message.ts,
    author: context.author,
    text: [...context.notes, text].filter((part) => part !== '').join('\n'),
    attachments: context.attachments,
    replyTo: threadTs && threadTs !== message.ts ? threadTs : null,
    mentions: mentionsOf(message, context),
    // An answer in a thread below a message of the bot is addressed to it.
    addressesBot:
      mentionsBot(message, context.self) || message.parent_user_id === context.self.userId || context.isFollowUp,
    ...heardBy(context.place),
    at: timeOf(message.ts),
    ...(context.isPast ? { isPast: true } : {}),
  };
}

/** The content of an edited message. */
export function toParts(message: WireMessage, context: MessageContext): readonly Part[] {
  const text = [...context.notes, textOf(message, context)].filter((part) => part !== '').join('\n');
  return [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...context.attachments];
}

type Mentioning = Pick<WireMessage, 'type' | 'text' | 'blocks'>;

/**
 * Named in the text, or only in the blocks of an app's message. `@channel` and groups mean nobody; the event of a mention
 * counts as one.
 */
export function mentionsBot({ type, text, blocks }: Mentioning, { userId }: Self): boolean {
  const plain = JSON.stringify((blocks ?? []).filter((block) => !isWritten(block)));
  if (type === 'app_mention' || mentionedIds(`${text ?? ''} ${plain}`).includes(userId)) return true;
  return JSON.stringify(blocks ?? []).includes(`"user_id":"${userId}"`);
}

function mentionsOf({ text }: WireMessage, { self, names }: MessageContext): readonly Author[] {
  return mentionedIds(text ?? '')
    .filter((id) => id !== self.userId)
    .map((id) => ({ id, name: names.user(id) ?? id, kind: 'person' }));
}

type Worded = Pick<MessageContext, 'names' | 'fileTexts'>;

function textOf(message: WireMessage, { names, fileTexts }: Worded): string {
  const shared = (message.attachments ?? []).map((attachment) => sharedText(attachment, names));
  return [wordsOf(message, names), ...shared, ...fileTexts].filter((part) => part !== '').join('\n');
}

/** The whole message in words. */
export function wholeText(message: WireMessage, names: Names): string {
  return textOf(message, { names, fileTexts: [] });
}

/** For somebody who chose the message in its menu. What it shares may be forgotten where it was said. */
export function chosenText(message: WireMessage, names: Names): string {
  const own = (message.attachments ?? []).filter(({ ts }) => !ts);
  return wholeText({ ...message, attachments: own }, names);
}

/** People see the blocks. The text field is for notifications, and matters if no block has words. */
function wordsOf({ text, blocks, subtype }: WireMessage, names: Names): string {
  const own = readable(text ?? '', names).trim();
  const shown = textOfBlocks(blocks ?? [], names);
  const isWorded = textOfBlocks((blocks ?? []).filter(isOfWords), names) !== '';
  const words = isWorded ? shown : own || shown;
  return subtype === 'me_message' && words !== '' ? `_${words}_` : words;
}

/** The block type of text that people write in Slack. */
function isWritten(block: unknown): boolean {
  return typeOf(block) === 'rich_text' || typeOf(block) === 'table';
}

function isOfWords(block: unknown): boolean {
  return typeOf(block) !== 'image';
}

function typeOf(block: unknown): unknown {
  return typeof block === 'object' && block !== null && 'type' in block ? block.type : null;
}

type Attachment = NonNullable<WireMessage['attachments']>[number];

/** Link previews are Slack's words; shared messages and app attachments are read as quotes. */
function sharedText(attachment: Attachment, names: Names): string {
  const isPreview = Boolean(attachment.from_url) && !attachment.is_share && !attachment.is_msg_unfurl;
  if (isPreview) return '';
  const { fallback, author_name: author, footer, is_share: isShared } = attachment;
  const words = partsOf(attachment, names).join('\n') || readable(fallback ?? '', names);
  if (words === '') return '';
  const below = isShared || attachment.is_msg_unfurl ? '' : readable(footer ?? '', names);
  const what = author ? `shared message of ${plainName(author)}` : 'attached';
  return quoted(`${what}, not written by the sender`, filled([words, below]).join('\n'));
}

function partsOf({ pretext, title, text, blocks, fields, files }: Attachment, names: Names): readonly string[] {
  const told = [pretext, title, textOfBlocks(blocks ?? [], names) === '' ? text : ''];
  const listed = (fields ?? []).map((field) => [field.title, field.value].filter(Boolean).join(': '));
  const named = (files ?? []).map((file) => `[file: ${file.title || file.name || 'without a name'}]`);
  const plain = [...told, ...listed].map((part) => readable(part ?? '', names));
  return [...plain, textOfBlocks(blocks ?? [], names), ...named].filter((part) => part !== '');
}
