import { z } from 'zod';
import {
  type AttachmentPart,
  type Author,
  authorLabel,
  type ConversationKey,
  type InboundMessage,
  type Part,
  quoted,
  replyNote,
  threadNote,
} from '../../../src/adapter-kit.ts';
import { heardBy } from '../shared/heard-by.ts';
import { momentOf } from '../shared/moments.ts';
import { isShown, mediaTypeOf, toAttachment } from './attachment.ts';
import type { Place } from './places/place.ts';
import type { Names, Self } from './places/places.ts';
import { type WireMember, type WireMessage, type WireQuoted, type WireUser, writtenAt } from './wire.ts';

/** Types of messages that people and bots write. Joins, pins, boosts and so on are the platform's own. */
const SAID = { default: 0, reply: 19, answerOfCommand: 20, threadStarter: 21, answerOfMenu: 23 } as const;
const SAID_TYPES: ReadonlySet<number> = new Set(Object.values(SAID));
const FORWARD = 1;
const QUOTE_LENGTH = 300;

export interface MapContext {
  readonly conversation: ConversationKey;
  readonly place: Place;
  readonly self: Self;
  readonly names: Names;
  readonly imageBytes: number;
  /** The replied-to message is not in the transcript, so its text is quoted. */
  readonly quotes: boolean;
}

/** Null for the platform's own notes, the bot's own messages, and messages whose content Discord withholds. */
export function toInbound(message: WireMessage, context: MapContext): InboundMessage | null {
  if (!isSaid(message) || message.author.id === context.self.userId) return null;
  const text = textOf(message, context);
  const attachments = attachmentsOf(message, context.imageBytes);
  if (text === '' && attachments.length === 0) return null;
  return {
    conversation: context.conversation,
    externalId: message.id,
    author: authorOf(message.author, message.member, message.webhook_id),
    text,
    attachments,
    replyTo: isForward(message) ? null : (message.message_reference?.message_id ?? null),
    mentions: mentionsOf(message, context.self),
    addressesBot: addresses(message, context.self),
    ...heardBy(context.place),
    at: writtenAt(message),
  };
}

/** A bot, or a webhook. */
export function isBot({ author, webhook_id: webhookId }: Pick<WireMessage, 'author' | 'webhook_id'>): boolean {
  return author.bot === true || Boolean(webhookId);
}

/** The content of an edited message. */
export function toParts(message: WireMessage, context: MapContext): readonly Part[] {
  const text = textOf(message, context);
  return [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...attachmentsOf(message, context.imageBytes)];
}

/** By a person or a bot, not a note of the platform about a join or a pin. */
export function isSaid({ type }: Pick<WireMessage, 'type'>): boolean {
  return SAID_TYPES.has(type);
}

/** The answer of a bot to a command. */
export function isAnswer({ type }: { readonly type?: number | null | undefined }): boolean {
  return type === SAID.answerOfCommand || type === SAID.answerOfMenu;
}

const SOURCE_DELETED = 1 << 3;

/** Whether a message of a followed channel was deleted there. Its copies stay, without their content. */
export function isSourceDeleted({ flags }: { readonly flags?: number | null | undefined }): boolean {
  return ((flags ?? 0) & SOURCE_DELETED) !== 0;
}

/** Whether Discord withheld the content, because the privileged intent is missing. */
export function isWithheld(message: WireMessage): boolean {
  const { content, attachments, embeds, components, sticker_items: stickers, poll } = message;
  const isBare = attachments.length + embeds.length + components.length === 0 && !stickers?.length && !poll;
  const isEmpty = content === '' && isBare && !message.message_snapshots?.length;
  return isEmpty && (message.type === SAID.default || message.type === SAID.reply);
}

export function authorOf(
  user: WireUser,
  member?: Pick<Partial<WireMember>, 'nick'> | null,
  webhookId?: string | null,
): Author {
  const isBot = user.bot === true || Boolean(webhookId);
  const name = member?.nick || user.global_name || user.username || user.id;
  return { id: user.id, name, kind: isBot ? 'bot' : 'person' };
}

function mentionsOf({ mentions }: WireMessage, self: Self): readonly Author[] {
  return mentions.filter(({ id }) => id !== self.userId).map((user) => authorOf(user, user.member));
}

/** By name or role. `@everyone` does not count. */
export function mentionsBot({ mentions, mention_roles: roles }: WireMessage, self: Self): boolean {
  return mentions.some(({ id }) => id === self.userId) || roles.some((id) => self.roleIds.includes(id));
}

/** Mentioned or replied to. */
function addresses(message: WireMessage, self: Self): boolean {
  if (mentionsBot(message, self)) return true;
  return message.type === SAID.reply && message.referenced_message?.author.id === self.userId;
}

function isForward({ message_reference: reference }: WireMessage): boolean {
  return reference?.type === FORWARD;
}

type Fields = 'content' | 'attachments' | 'embeds' | 'components' | 'sticker_items' | 'poll' | 'mentions';
type Content = Pick<WireMessage, Fields> & { readonly author?: WireUser };

function textOf(message: WireMessage, context: MapContext): string {
  const { referenced_message: referenced, message_snapshots: snapshots, type } = message;
  const starter = type === SAID.threadStarter && referenced ? startNote(referenced, context) : '';
  const quoted = context.quotes && type === SAID.reply && referenced ? quoteNote(referenced, context) : '';
  const forwarded = (snapshots ?? []).map(({ message: copy }) => forwardNote(contentOf(copy, context)));
  return [starter, quoted, contentOf(message, context), ...forwarded].filter((part) => part !== '').join('\n');
}

function contentOf(content: Content, context: Pick<MapContext, 'names' | 'imageBytes'>): string {
  const { sticker_items: stickers, poll, author, embeds, components } = content;
  // On people's messages, embeds are only link previews.
  const isCard = author?.bot === true || content.content === '';
  const notes = [
    ...(isCard ? [...embeds.map(cardNote), wordsOf(components)] : []),
    ...(stickers ?? []).map(({ name }) => `[sticker: ${name}]`),
    ...(poll ? [pollNote(poll)] : []),
    ...content.attachments
      .filter((attachment) => !isShown(attachment, context.imageBytes))
      .map(({ filename, size }) => `[image not shown, ${megabytes(size)} MB: ${filename}]`),
  ];
  return [readable(content.content, content.mentions, context.names), ...notes]
    .filter((part) => part !== '')
    .join('\n');
}

/** A message as people see it, for somebody who chose it in its menu. */
export function chosenText(message: WireQuoted, names: Names): string {
  return contentOf(message, { names, imageBytes: Number.POSITIVE_INFINITY });
}

/** The embeds in which bots and webhooks put their content. */
function cardNote({ author, title, description, fields, footer }: Content['embeds'][number]): string {
  const listed = fields.map(({ name, value }) => `${name}: ${value}`);
  const lines = [author?.name, title, description, ...listed, footer?.text];
  const text = lines.filter(Boolean).join('\n');
  return text === '' ? '' : `[card]\n${text}`;
}

const TEXT_DISPLAY = 10;
const FILE = 13;
const MAX_DEPTH = 5;
const words = z.string().catch('');
const list = z.array(z.unknown()).catch([]);
/** Of components, and of the items of a media gallery. */
const componentSchema = z.object({
  type: z.number().catch(0),
  content: words,
  /** Of a file. */
  name: words,
  /** Of a picture. */
  description: words,
  components: list,
  items: list,
  accessory: z.unknown().optional(),
  component: z.unknown().optional(),
});

/** The texts in components, which bots can use instead of content. */
function wordsOf(components: readonly unknown[], depth = MAX_DEPTH): string {
  const texts = components.flatMap((component) => {
    const read = componentSchema.safeParse(component).data;
    if (read === undefined) return [];
    const { type, content, name, description, components: inner, items, accessory, component: only } = read;
    const own = type === TEXT_DISPLAY ? content : type === FILE && name !== '' ? `[file: ${name}]` : '';
    const picture = description === '' ? '' : `[image: ${description}]`;
    return [own, picture, depth > 0 ? wordsOf([...inner, ...items, accessory, only], depth - 1) : ''];
  });
  return texts.filter((text) => text !== '').join('\n');
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

function pollNote(poll: NonNullable<Content['poll']>): string {
  const answers = poll.answers.flatMap(({ poll_media: { text, emoji } }) => text || emoji?.name || []);
  return `[poll: ${poll.question.text ?? ''}${answers.length === 0 ? '' : ` (${answers.join(' / ')})`}]`;
}

function forwardNote(text: string): string {
  return quoted('forwarded message, not written by the sender', text);
}

/** A quotation shows no files, so it names them. */
function quotedContent(message: WireQuoted, context: MapContext): string {
  const text = contentOf(message, context);
  const unnamed = message.attachments.filter(({ filename }) => !text.includes(filename));
  return [text, ...unnamed.map(({ filename }) => `[file: ${filename}]`)].filter((part) => part !== '').join('\n');
}

function quoteNote(quotedMessage: WireQuoted, context: MapContext): string {
  const text = quotedContent(quotedMessage, context).replace(/\s+/g, ' ').slice(0, QUOTE_LENGTH).toWellFormed();
  return text === '' ? '' : replyNote(authorLabel(authorOf(quotedMessage.author)), text);
}

function startNote(starter: WireQuoted, context: MapContext): string {
  const text = quotedContent(starter, context);
  return text === '' ? '' : threadNote(authorLabel(authorOf(starter.author)), text);
}

function attachmentsOf(message: WireMessage, imageBytes: number): readonly AttachmentPart[] {
  const forwarded = (message.message_snapshots ?? []).flatMap((snapshot) => snapshot.message.attachments);
  return [...message.attachments, ...forwarded]
    .filter((attachment) => isShown(attachment, imageBytes))
    .map((attachment) => toAttachment(attachment, mediaTypeOf(attachment)));
}

/** Ids become names, as people see them. */
export function readable(text: string, mentions: WireMessage['mentions'], names: Names): string {
  return text
    .replace(/<@!?(\d+)>/g, (whole, id: string) => {
      const user = mentions.find((mentioned) => mentioned.id === id);
      return user === undefined ? whole : `@${authorOf(user, user.member).name}`;
    })
    .replace(/<@&(\d+)>/g, (whole, id: string) => roleNamed(names.role(id)) ?? whole)
    .replace(/<#(\d+)>/g, (whole, id: string) => prefixed('#', names.channel(id)) ?? whole)
    .replace(/<\/([^:<>]{1,100}):\d+>/g, '/$1')
    .replace(/<a?(:\w+:)\d+>/g, '$1')
    .replace(/<t:(-?\d{1,13})(?::\w)?>/g, (whole, seconds: string) => momentOf(Number(seconds)) ?? whole);
}

/** The role that everyone has contains the sign in its name. */
function roleNamed(name: string | null): string | null {
  return name === '@everyone' ? name : prefixed('@', name);
}

function prefixed(sign: string, name: string | null): string | null {
  return name === null ? null : `${sign}${name}`;
}
