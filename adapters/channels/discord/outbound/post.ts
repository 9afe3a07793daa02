import {
  ButtonStyle,
  ComponentType,
  DiscordAPIError,
  MessageFlags,
  MessageReferenceType,
  type RawFile,
  Routes,
} from 'discord.js';
import {
  type ConversationKey,
  createRecentMap,
  describe,
  isStrataError,
  type Log,
  leadOf,
  type Post,
  type PostBody,
} from '../../../../src/adapter-kit.ts';
import { nonceOf } from '../../shared/hashes.ts';
import { unlessAborted } from '../../shared/within.ts';
import { createTextPoster } from '../../shared/without-file.ts';
import { placeOfKey, targetOf } from '../places/place.ts';
import type { BotSettings } from '../settings.ts';
import { type Rest, refusedBy } from '../web/rest.ts';
import { isRefusal } from '../web/retry.ts';
import { isNewer, messagesIn, pageSchema, sentSchema, snowflakeAt, type WireMessage } from '../wire.ts';
import { splitWithoutFiles } from './split.ts';

export interface PosterOptions {
  readonly rest: Rest;
  readonly settings: Pick<BotSettings, 'reply_reference' | 'link_previews' | 'why_button'>;
  readonly log: Log;
  /** The id of the bot's account. */
  readonly userId: () => string;
}

export interface Poster {
  /** Posts one body; the same nonce posts once. */
  send(post: Post, options: { readonly signal: AbortSignal }): Promise<string>;
  /** Turns a message of the bot into this body. Null if Discord does not accept it; then nothing was changed. */
  replace(messageId: string, post: Post, options: { readonly signal: AbortSignal }): Promise<string | null>;
}

const MAX_KNOWN = 5_000;

export function createPoster(given: PosterOptions): Poster {
  const newest = createRecentMap<ConversationKey, string>(MAX_KNOWN);
  const options: Posting = {
    ...given,
    before: (conversation) => newest.get(conversation) ?? null,
    posted: (conversation, id) => void newest.set(conversation, id),
  };
  const postText = createTextPoster();
  return {
    async send(post, how) {
      try {
        return await sendOne(options, post, how);
      } catch (error) {
        const texts = post.body.kind !== 'text' && isOfFile(error) ? splitWithoutFiles(post.body.text) : [];
        if (texts.length === 0) throw error;
        options.log.warn('Discord refused a file; its text is posted as messages', {
          conversation: post.conversation,
          cause: describe(error),
        });
        return await postText(post, texts, (part) => sendOne(options, part, how));
      }
    },
    async replace(messageId, post, { signal }) {
      const channelId = targetOf(placeOfKey(post.conversation));
      const { files, content, flags, allowed_mentions, components } = messageOf(post, options.settings);
      const body = { content, flags, allowed_mentions, components, attachments: attachmentsOf(files) };
      try {
        const sending = options.rest.patch(Routes.channelMessage(channelId, messageId), { body, files, signal });
        await unlessAborted(signal, sending);
        options.posted(post.conversation, messageId);
        return messageId;
      } catch (error) {
        if (signal.aborted) throw error;
        // For any other error the outcome is unknown: the next attempt makes the same change again.
        if (isRefusal(error)) return null;
        throw refusedBy(error, post.attempt);
      }
    },
  };
}

/** Also the newest message of each conversation that this process has posted. */
interface Posting extends PosterOptions {
  /** Null if there is none. */
  before(conversation: ConversationKey): string | null;
  posted(conversation: ConversationKey, id: string): void;
}

async function sendOne(options: Posting, post: Post, { signal }: { readonly signal: AbortSignal }): Promise<string> {
  const id = await sendOnce(options, post, signal);
  options.posted(post.conversation, id);
  return id;
}

async function sendOnce(options: Posting, post: Post, signal: AbortSignal): Promise<string> {
  const channelId = targetOf(placeOfKey(post.conversation));
  try {
    const posted = post.attempt > 1 ? await findPosted(options, channelId, post) : null;
    if (posted !== null) return posted;
    const { files, ...body } = messageOf(post, options.settings);
    const sending = postMessage(options.rest, { channelId, body, files, signal });
    // The library waits for the end of a rate limit even if the signal is aborted.
    const answer = await unlessAborted(signal, sending);
    return sentSchema.parse(answer).id;
  } catch (error) {
    throw signal.aborted ? error : refusedBy(error, post.attempt);
  }
}

function isOfFile(error: unknown): boolean {
  return refusesFile(isStrataError(error, 'POST_FAILED') ? error.cause : null);
}

/** Without Attach Files, Discord returns the same error as without Send Messages. */
export function refusesFile(error: unknown): boolean {
  return error instanceof DiscordAPIError && (OF_FILES.has(error.code) || error.status === TOO_LARGE);
}

/** No permission; the request or the file is too large; the file is invalid. */
const OF_FILES: ReadonlySet<string | number> = new Set([50_013, 40_005, 50_045, 50_046]);
const TOO_LARGE = 413;

interface Sending {
  readonly channelId: string;
  readonly body: { readonly message_reference?: object } & object;
  readonly files?: RawFile[];
  readonly signal?: AbortSignal;
}

/** The text matters more than the reference, which Discord refuses without the permission to read the history. */
export async function postMessage(rest: Rest, { channelId, body, ...more }: Sending): Promise<unknown> {
  const route = Routes.channelMessages(channelId);
  try {
    return await rest.post(route, { body, ...more });
  } catch (error) {
    const { message_reference: reference, ...plain } = body;
    if (reference === undefined || !isOfReference(error)) throw error;
    return await rest.post(route, { body: plain, ...more });
  }
}

const NO_HISTORY = 160_002;

function isOfReference(error: unknown): boolean {
  if (!(error instanceof DiscordAPIError)) return false;
  const { errors } = { errors: null, ...error.rawError };
  return error.code === NO_HISTORY || (typeof errors === 'object' && Object.hasOwn(errors ?? {}, 'message_reference'));
}

/** An edit keeps only the listed files: the new ones, and none of the old. */
export function attachmentsOf(
  files: readonly DescribedFile[],
): readonly { readonly id: string; readonly filename: string; readonly description?: string }[] {
  return files.map(({ name, description }, index) => ({
    id: String(index),
    filename: name,
    ...(description === undefined ? {} : { description: clipDescription(description) }),
  }));
}

/** `description`: the text in the place of a picture, for those who do not see it. */
export type DescribedFile = RawFile & { readonly description?: string };

const MAX_DESCRIPTION = 1024;

function clipDescription(text: string): string {
  return text.slice(0, MAX_DESCRIPTION).toWellFormed();
}

/** Mentions in a model's text never notify anybody. */
export const NO_PINGS = { parse: [], replied_user: false } as const;

function messageOf(post: Post, settings: PosterOptions['settings']) {
  const { body, replyTo } = post;
  return {
    content: contentOf(body),
    files: body.kind === 'text' ? [] : [fileOf(body)],
    nonce: nonceOf(post),
    enforce_nonce: true,
    allowed_mentions: NO_PINGS,
    flags: settings.link_previews ? 0 : MessageFlags.SuppressEmbeds,
    ...(replyTo !== null && settings.reply_reference ? { message_reference: referenceTo(replyTo) } : {}),
    components: replyTo !== null && settings.why_button ? [WHY_ROW] : undefined,
  };
}

/** The id of a button of a reply. It contains nothing to sign: Discord names the message with the button. */
export const WHY_BUTTON = 'why';

const WHY_ROW = {
  type: ComponentType.ActionRow,
  components: [{ type: ComponentType.Button, style: ButtonStyle.Secondary, label: 'Why?', custom_id: WHY_BUTTON }],
};

/** Answers a deleted message without the reference. */
export function referenceTo(messageId: string) {
  return { type: MessageReferenceType.Default, message_id: messageId, fail_if_not_exists: false };
}

function contentOf(body: PostBody): string {
  switch (body.kind) {
    case 'text':
      return body.text;
    case 'file':
      return leadOf(body.text);
    case 'attachment':
      return '';
    default:
      return body satisfies never;
  }
}

export function fileOf(file: Omit<Extract<PostBody, { kind: 'file' }>, 'kind'> | AttachmentBody) {
  if (!('base64' in file)) {
    return {
      name: file.name,
      data: Buffer.from(file.text),
      contentType: 'text/plain; charset=utf-8',
    } satisfies RawFile;
  }
  return { name: file.name, data: Buffer.from(file.base64, 'base64'), contentType: file.mediaType } satisfies RawFile;
}

type AttachmentBody = Extract<PostBody, { kind: 'attachment' }>;

const LOOK_BACK = 50;

/**
 * Maximum difference between Discord's clock and this machine's. Short, because the same text may have been posted just
 * before.
 */
const CLOCK_SKEW_MS = 5_000;

/**
 * Discord recognises a nonce only for some minutes. After a longer outage, the first part is searched among the
 * messages after the one that it answers, the others after the part before. A post that answers no message is searched
 * after its commit.
 */
async function findPosted(options: Posting, channelId: string, post: Post): Promise<string | null> {
  const { replyTo } = post;
  const after = post.unaskedAt === undefined ? replyTo : snowflakeAt(post.unaskedAt - CLOCK_SKEW_MS);
  const range: Record<string, string> = after === null ? {} : { after };
  const query = new URLSearchParams({ limit: String(LOOK_BACK), ...range });
  const page = pageSchema.parse(await options.rest.get(Routes.channelMessages(channelId), { query }));
  const own = messagesIn(page)
    .filter(({ author }) => author.id === options.userId())
    .toSorted((one, other) => (isNewer(one.id, other.id) ? -1 : 1));
  const mayBe =
    post.unaskedAt !== undefined ? own : replyTo === null ? laterParts(options, own, post) : answers(own, post);
  return mayBe.find((message) => holds(message, post.body))?.id ?? null;
}

function isAnswer({ message_reference: reference }: WireMessage): boolean {
  return Boolean(reference?.message_id);
}

/** Without the reference if Discord refused it, if the question is gone, or by the settings. */
function answers(own: readonly WireMessage[], { replyTo }: Post): readonly WireMessage[] {
  return own.filter((message) => !isAnswer(message) || message.message_reference?.message_id === replyTo);
}

/** Newer than the first part, which has a reference, or was posted by this process. */
function laterParts({ before }: Posting, own: readonly WireMessage[], { conversation }: Post): readonly WireMessage[] {
  const first = own.findIndex(isAnswer);
  if (first !== -1) return own.slice(0, first);
  const begun = before(conversation);
  return begun === null ? [] : own.filter(({ id }) => isNewer(id, begun));
}

function holds({ content, attachments }: WireMessage, body: PostBody): boolean {
  if (body.kind === 'text') return content.trim() === body.text.trim();
  const { name, data } = fileOf(body);
  return attachments.some(({ filename, size }) => filename === name && size === data.length);
}
