import { z } from 'zod';
import { type ConversationKey, describe, leadOf, type Post, StrataError } from '../../../../src/adapter-kit.ts';
import { nonceOf } from '../../shared/hashes.ts';
import { createTextPoster } from '../../shared/without-file.ts';
import { isOwn } from '../map.ts';
import { earliestTs, placeOfKey } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { codeOf, isFinal, isPassing, isTooLarge, refusedBy, retryRateLimited, retryRepeatable } from '../web/web.ts';
import { historySchema, type WireMessage } from '../wire.ts';
import { format, MAX_BLOCKS, type SlackBlock } from './format.ts';
import type { PlainPosts } from './plain-posts.ts';
import { MAX_WAIT_MS, type PostRate } from './post-rate.ts';
import { splitWithoutFiles } from './split.ts';

export const EVENT_TYPE = 'strata_post';

/** A message of the bot that contains a draft. */
export type TakenDraft = Readonly<Record<'ts' | 'threadTs', string>>;

export interface PosterOptions extends Pick<BotServices, 'workspace' | 'settings' | 'threads' | 'clock' | 'log'> {
  readonly plainPosts: PlainPosts;
  /** Resolves when no draft is left that a post without metadata could be taken for, or the other way round. */
  readonly withoutDraft: (conversation: ConversationKey) => Promise<void>;
  readonly rate: PostRate;
}

export interface Poster {
  /** Posts one body. Slack has no idempotency keys, so a repeated attempt searches for the message first. */
  send(post: Post, options: { readonly signal: AbortSignal }): Promise<string>;
  /** Turns a message of the bot into this body. */
  replace(draft: TakenDraft, post: Post, options: { readonly signal: AbortSignal }): Promise<string>;
}

const sentSchema = z.object({ ts: z.string() });

export function createPoster(options: PosterOptions): Poster {
  const send = createSend(options);
  return {
    async send(post, { signal }) {
      try {
        const threadTs = await options.threads.forPost(post.conversation, nonceOf(post));
        return await send({ post, threadTs, signal });
      } catch (error) {
        throw signal.aborted || error instanceof StrataError ? error : refusedBy(error, post.attempt);
      }
    },
    async replace({ ts, threadTs }, post, { signal }) {
      await options.threads.forPost(post.conversation, nonceOf(post), threadTs);
      const { channelId: channel } = placeOfKey(post.conversation);
      const { text, blocks, metadata } = messageOf(post, options.settings);
      const body = { channel, ts, text, metadata, parse: 'none', link_names: false };
      // Setting the same text again is harmless, so a lost response is retried once.
      await retryRepeatable(() => call(options, 'chat.update', { ...body, blocks }), {
        clock: options.clock,
        signal,
        maxWaitMs: MAX_WAIT_MS,
      });
      return ts;
    },
  };
}

type Send = (placing: Placing) => Promise<string>;

function createSend(options: PosterOptions): Send {
  /** Posts of this process whose outcome is unknown. */
  const doubtful = new Set<string>();
  const postText = createTextPoster();
  const send: Send = async (placing) => {
    const { post } = placing;
    const nonce = nonceOf(post);
    try {
      const pauses = doubtful.has(nonce) ? AFTER_DOUBT_MS : AFTER_START_MS;
      const found = post.attempt > 1 ? await lookFor(options, placing, pauses) : NOTHING;
      if (found.messageTs === null && !found.hasFile && !(await isUploaded(options, placing))) {
        return await postText(post, splitWithoutFiles(post.body.text), (part) => send({ ...placing, post: part }));
      }
      const sent = found.messageTs ?? (await place(options, placing));
      await options.plainPosts.sent(plainPostOf(post), sent);
      doubtful.delete(nonce);
      return sent;
    } catch (error) {
      if (isPassing(error)) doubtful.add(nonce);
      throw error;
    }
  };
  return send;
}

/** False if Slack refuses the file, for example because the scope is missing or an admin has disabled uploads. */
async function isUploaded(options: PosterOptions, placing: Placing): Promise<boolean> {
  try {
    await upload(options, placing);
    return true;
  } catch (error) {
    const { conversation, body } = placing.post;
    if (!(isFinal(error) || isTooLarge(error)) || body.text.trim() === '') throw error;
    options.log.warn('Slack refused a file; its text is posted as messages', { conversation, cause: describe(error) });
    return false;
  }
}

/**
 * Slack may accept a post seconds after the connection ended, so it is searched for that long before it is repeated.
 */
const AFTER_DOUBT_MS = [2_000, 3_000, 5_000];
/** The same for a post of a process that has ended. */
const AFTER_START_MS = [1_000];

async function lookFor(options: PosterOptions, placing: Placing, pausesMs: readonly number[]): Promise<Found> {
  let found = await findPosted(options, placing);
  for (const pauseMs of pausesMs) {
    if (found.messageTs !== null) break;
    await options.clock.sleep(pauseMs, { signal: placing.signal });
    found = await findPosted(options, placing);
  }
  return found;
}

interface Placing {
  readonly post: Post;
  readonly threadTs: string | null;
  readonly signal: AbortSignal;
}

async function place(options: PosterOptions, { post, threadTs, signal }: Placing): Promise<string> {
  const { channelId: channel } = placeOfKey(post.conversation);
  const target = { channel, ...(threadTs === null ? {} : { thread_ts: threadTs }) };
  const previews = options.settings.link_previews;
  const rules = { parse: 'none', link_names: false, unfurl_links: previews, unfurl_media: previews };
  const { blocks, whole, text, metadata } = messageOf(post, options.settings);
  const plain = { text: whole };
  const send = async (form: object) => {
    if (form === plain) {
      await options.withoutDraft(post.conversation);
      await options.plainPosts.note(plainPostOf(post));
    }
    return await options.rate({ channel, signal }, () => call(options, 'chat.postMessage', { ...target, ...form }));
  };
  const forms: readonly object[] = [
    ...(blocks.length === 0 ? [] : [{ ...rules, text, metadata, blocks }]),
    { ...rules, text: whole, metadata },
    plain,
  ];
  return sentSchema.parse(await sendFirst(options, forms, send)).ts;
}

/** The words matter more than their form: what Slack refuses is sent again in the next one, the last with words alone. */
async function sendFirst(
  { log }: Pick<PosterOptions, 'log'>,
  [form = {}, ...plainer]: readonly object[],
  send: (form: object) => Promise<unknown>,
): Promise<unknown> {
  try {
    return await send(form);
  } catch (error) {
    const code = codeOf(error) ?? '';
    const left = BLOCK_ERRORS.has(code) ? plainer : FORM_ERRORS.has(code) ? plainer.slice(-1) : [];
    if (left.length === 0) throw error;
    log.warn('Slack refused the form of a reply; it is posted in a plainer one', { code });
    return await sendFirst({ log }, left, send);
  }
}

const BLOCK_ERRORS = new Set(['invalid_blocks', 'invalid_blocks_format', 'msg_blocks_too_long']);
const FORM_ERRORS = new Set([
  ...['invalid_metadata_format', 'invalid_metadata_schema', 'metadata_must_be_sent_from_app', 'metadata_too_large'],
  ...['invalid_arguments', 'invalid_arg_name'],
]);

function call({ workspace }: PosterOptions, method: string, body: object): Promise<unknown> {
  return workspace.web.apiCall(method, { ...body });
}

function messageOf(post: Post, settings: PosterOptions['settings']) {
  const { body, replyTo } = post;
  const formatted = format(body.kind === 'file' ? announced(body.name, body.text) : body.text);
  const metadata = { event_type: EVENT_TYPE, event_payload: { nonce: nonceOf(post) } };
  // Only the first part of a reply names what it answers.
  const blocks = replyTo !== null && settings.why_button ? withWhy(formatted.blocks) : formatted.blocks;
  return { ...formatted, blocks, metadata };
}

/** The id of a button of a reply. It contains nothing to sign: Slack names the message with the button. */
export const WHY_BUTTON = 'why_reply';

/** A message without blocks would lose its text if it had a button alone. */
function withWhy(blocks: readonly SlackBlock[]): readonly SlackBlock[] {
  if (blocks.length === 0 || blocks.length >= MAX_BLOCKS) return blocks;
  const text = { type: 'plain_text', text: 'Why?' };
  return [...blocks, { type: 'actions', elements: [{ type: 'button', action_id: WHY_BUTTON, text }] }];
}

/** The beginning of a text sent as a file, and the file's name. */
function announced(name: string, text: string): string {
  const lead = leadOf(text);
  return lead === '' ? name : `${lead}\n\n(${name})`;
}

/** The file first, the message with the nonce last. The file's name contains the nonce too; people see its title. */
async function upload(options: PosterOptions, { post, threadTs, signal }: Placing): Promise<void> {
  const { body } = post;
  if (body.kind === 'text') return;
  const content = body.kind === 'file' ? { content: body.text } : { file: Buffer.from(body.base64, 'base64') };
  const { channelId: channel } = placeOfKey(post.conversation);
  const thread = threadTs === null ? {} : { thread_ts: threadTs };
  const file = { filename: fileNameOf(post), title: body.name, ...content, ...thread };
  await options.rate({ channel, signal }, () => options.workspace.web.files.uploadV2({ channel_id: channel, ...file }));
}

function plainPostOf(post: Post) {
  return { conversation: post.conversation, nonce: nonceOf(post) };
}

function fileNameOf(post: Post): string {
  const name = post.body.kind === 'text' ? '' : post.body.name;
  return name.replace(/(?=\.\w+$)|$/, `-${nonceOf(post)}`);
}

interface Found {
  readonly messageTs: string | null;
  readonly hasFile: boolean;
}

const NOTHING: Found = { messageTs: null, hasFile: false };

/** Threads are listed oldest first, so recent posts are at the end. */
const LOOK_BACK = { history: 100, replies: 900 };
const PAGES = 5;

/** Searches for the nonce in the bot's posts since then. Throws if Slack does not respond; nothing is repeated then. */
async function findPosted(options: PosterOptions, { post, threadTs, signal }: Placing): Promise<Found> {
  const { channelId: channel } = placeOfKey(post.conversation);
  const kind = threadTs === null ? 'history' : 'replies';
  const target = { channel, limit: LOOK_BACK[kind], include_all_metadata: true };
  const since = oldestOf(post);
  const isPlainPost = await options.plainPosts.finder(plainPostOf(post), messageOf(post, options.settings).whole);
  const query = { ...target, ...since, ...(threadTs === null ? {} : { ts: threadTs }) };
  const fileName = fileNameOf(post);
  const retryOptions = { clock: options.clock, signal, maxWaitMs: MAX_WAIT_MS };
  let hasFile = false;
  let cursor = '';
  for (let page = 0; page < PAGES; page += 1) {
    const range = cursor === '' ? query : { ...query, cursor };
    const answer = historySchema.parse(
      await retryRateLimited(() => call(options, `conversations.${kind}`, range), retryOptions),
    );
    const own = answer.messages.filter((message) => isOwn(message, options.workspace));
    const found = own.find((message) => nonceIn(message) === nonceOf(post) || isPlainPost(message));
    if (found !== undefined) return { messageTs: found.ts, hasFile: true };
    hasFile ||= own.some(({ files }) => files?.some(({ name }) => name === fileName));
    cursor = answer.response_metadata?.next_cursor ?? '';
    if (!answer.has_more || cursor === '') break;
  }
  return { messageTs: null, hasFile };
}

/** Only later messages can be the post. */
function oldestOf({ replyTo, unaskedAt }: Post): { readonly oldest?: string } {
  if (unaskedAt !== undefined) return { oldest: earliestTs(unaskedAt) };
  return replyTo === null ? {} : { oldest: replyTo };
}

function nonceIn({ metadata }: WireMessage): unknown {
  return metadata?.event_type === EVENT_TYPE ? metadata.event_payload?.['nonce'] : null;
}
