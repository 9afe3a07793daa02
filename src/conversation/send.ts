import { z } from 'zod';
import { idleMsOf } from '../config/directory.ts';
import { estimateParts } from '../context/measure/tokens.ts';
import { StrataError } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import { AUDIENCES, type Audience, type ConversationKey, type Part } from '../domain/message.ts';
import type { Channel } from '../ports/channel.ts';
import { POST_HOLD_MS, type PostBody } from '../ports/outbox-store.ts';
import type { NewMessage } from '../ports/store.ts';
import type { Channels, Services, TextLog } from '../services.ts';
import { faultsIn, inWords } from '../util/errors/faults.ts';
import { oneLine } from '../util/text/foreign-text.ts';
import { cleanText } from '../util/text/text.ts';
import type { Actors } from './actors.ts';
import { type Posting, throughPostHooks } from './posts/hooked-post.ts';
import type { Outbox } from './posts/outbox.ts';
import { unaskedPosts } from './posts/unasked-posts.ts';

/** What the bot sends unasked: a text, or a text with files. */
export type SendContent = string | { readonly text?: string; readonly files?: readonly OutgoingFile[] };

/** A file or an image. */
export interface OutgoingFile {
  /** Including the extension, for example `chart.png`. */
  readonly name: string;
  /** A text is sent as UTF-8. */
  readonly data: string | Uint8Array;
  /** Default: derived from the extension of the name if it is a common one, otherwise `application/octet-stream`. */
  readonly mediaType?: string;
}

/** How `bot.send` treats a repeated call, and who can read what it sends. */
export interface SendOptions {
  /**
   * Your own id for the message, at most 200 characters. A second call with it in the same conversation sends nothing.
   */
  readonly id?: string;
  /** Who can read the conversation. Required if it has no messages yet, ignored otherwise. */
  readonly audience?: Audience;
}

/** The message as stored. It may not be posted yet. */
export interface Sent {
  /** Its seq in the transcript. */
  readonly seq: number;
  /** False if a message with this `id` was already sent. */
  readonly isNew: boolean;
}

/** Sends a message that answers no other one. */
export type Send = (conversation: string, content: SendContent, options?: SendOptions) => Promise<Sent>;

/** Maximum size of all files of one message: what Discord accepts without a boost. */
export const MAX_SEND_BYTES = 8_000_000;
const MAX_FILES = 10;
const MAX_ID_LENGTH = 200;
/** More than anybody reads, and still fast to split into messages. */
const MAX_TEXT_LENGTH = 200_000;

const fileSchema = z.strictObject({
  name: z.string().min(1).max(200),
  data: z.union([z.string(), z.instanceof(Uint8Array)], 'expected a text, or bytes as Uint8Array or Buffer'),
  mediaType: z
    .string()
    .max(100)
    .regex(/^[\w.+-]+\/[\w.+-]+$/, 'expected a media type such as image/png')
    .optional(),
});
const contentSchema = z.preprocess(
  (content) => (typeof content === 'string' ? { text: content } : content),
  z.strictObject(
    {
      text: z.string().max(MAX_TEXT_LENGTH).default(''),
      files: z.array(fileSchema).max(MAX_FILES).default([]),
    },
    orElse('a text, or an object with text and files'),
  ),
);
const optionsSchema = z.strictObject(
  {
    id: z.string().min(1).max(MAX_ID_LENGTH).optional(),
    audience: z.enum(AUDIENCES).optional(),
  },
  orElse('an object with id and audience'),
);

const givenSchema = z.object({ content: contentSchema, options: optionsSchema });

/** Unknown keys keep the message that names them. */
function orElse(expected: string) {
  return {
    error: ({ code, input }: { readonly code: string; readonly input?: unknown }) =>
      code === 'invalid_type' ? `expected ${expected}, got ${input === null ? 'null' : typeof input}` : undefined,
  };
}

export interface SendServices {
  readonly services: Services;
  readonly actors: Pick<Actors, 'of'>;
  readonly outbox: Pick<Outbox, 'deliver'>;
  readonly channels: Channels;
  readonly logText: TextLog;
  /** A worker has no channels, so it cannot split a text for them. */
  readonly isWorker: boolean;
  /** False before startup and while the bot stops: posts wait for a connected process. */
  readonly isPosting: () => boolean;
}

/** Sends an unasked message. One transaction stores the entry and its posts, and the outbox does the rest. */
export function createSend(parts: SendServices): Send {
  const { services, actors, outbox } = parts;
  return async (conversation, content, options = {}) => {
    const { key } = parseKey(conversation);
    const read = readGiven(key, content, options);
    const channel = channelOf(parts, key);
    const audience = await audienceOf(parts, key, read.audience);
    const given = await throughHooks(parts, { key, audience }, read);
    const bodies = bodiesOf(channel, given);
    const now = services.clock.now();
    const isPosting = parts.isPosting();
    const result = await actors.of(key).receive({
      conversation: key,
      audience,
      message: messageOf(given, now),
      wantsReply: false,
      now,
      idleExtractMs: idleMsOf(services.agents.agentFor(key)),
      posts: {
        rows: unaskedPosts(bodies, { id: services.random.id(), replyTo: null, now }),
        heldUntil: isPosting ? now + POST_HOLD_MS : 0,
      },
    });
    if (result.kind === 'duplicate') return { seq: result.seq, isNew: false };
    if (isPosting) outbox.deliver(key, result.posts);
    parts.logText(key, null, given.text);
    return { seq: result.seq, isNew: true };
  };
}

/** Throws `SEND_INVALID` for what a hook held back. */
async function throughHooks(
  { services }: SendServices,
  conversation: Posting['conversation'],
  given: Given,
): Promise<Given> {
  const files = given.files.map(({ name }) => name);
  const result = await throughPostHooks(services, { conversation, text: given.text, isReply: false, files });
  if (result.kind === 'post') return { ...given, text: result.text.trim() };
  const problem = `a hook held it back: ${result.reason}`;
  throw new StrataError('SEND_INVALID', { conversation: conversation.key, problem });
}

/** Null for a bot without channels, which stores the message and posts nothing. */
function channelOf({ channels, isWorker }: SendServices, key: ConversationKey): Channel | null {
  const { platform } = parseKey(key);
  const channel = channels.get(platform);
  if (channel !== undefined) return channel;
  if (isWorker) {
    const problem = 'this process is a worker, which serves no platform; send from a gateway';
    throw new StrataError('SEND_INVALID', { conversation: key, problem });
  }
  if (channels.size === 0) return null;
  throw new StrataError('ADAPTER_MISSING', { kind: 'channel', name: platform, known: [...channels.keys()] });
}

function bodiesOf(channel: Channel | null, given: Given): readonly PostBody[] {
  if (channel === null) return [];
  const text = given.text === '' ? [] : channel.split(given.text);
  return [...text, ...given.files.map(bodyOf)];
}

interface Given {
  readonly id: string | undefined;
  readonly audience: Audience | undefined;
  readonly text: string;
  readonly files: readonly GivenFile[];
}

interface GivenFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly mediaType: string;
}

/** Throws `SEND_INVALID`. */
function readGiven(conversation: ConversationKey, content: unknown, options: unknown): Given {
  const refuse = (problem: string): never => {
    throw new StrataError('SEND_INVALID', { conversation, problem });
  };
  const parsed = givenSchema.safeParse({ content, options }, { error: inWords });
  if (!parsed.success) return refuse(faultsIn(parsed.error).map(oneLine).join('; '));
  const { text, files } = parsed.data.content;
  const clean = cleanText(text).trim();
  if (clean === '' && files.length === 0) return refuse('it has neither text nor files');
  const read = files.map(fileOf);
  const bytes = read.reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes > MAX_SEND_BYTES) return refuse(`its files have ${bytes} bytes; the limit is ${MAX_SEND_BYTES}`);
  const empty = read.find((file) => file.bytes.length === 0);
  if (empty !== undefined) return refuse(`the file ${empty.name} is empty`);
  const { id, audience } = parsed.data.options;
  return { id, audience, text: clean, files: read };
}

function fileOf({ name, data, mediaType }: z.infer<typeof fileSchema>): GivenFile {
  const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
  // Only a file name, without a path.
  const plain = oneLine(name).replaceAll(/[/\\]/g, '_') || 'file';
  return { name: plain, bytes, mediaType: mediaType ?? mediaTypeOf(plain) };
}

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['pdf', 'application/pdf'],
  ['json', 'application/json'],
  ['csv', 'text/csv'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
]);

function mediaTypeOf(name: string): string {
  return MEDIA_TYPES.get(name.split('.').at(-1)?.toLowerCase() ?? '') ?? 'application/octet-stream';
}

function bodyOf({ name, mediaType, bytes }: GivenFile): PostBody {
  return { kind: 'attachment', name, mediaType, base64: bytes.toString('base64'), text: name };
}

function messageOf({ id, text, files }: Given, at: number): NewMessage {
  const said: readonly Part[] = text === '' ? [] : [{ kind: 'text', text }];
  const attached = files.map(
    ({ name, mediaType, bytes }): Part => ({
      kind: 'attachment',
      name,
      mediaType,
      sizeBytes: bytes.length,
      // The platform keeps the bytes once it has them.
      reference: '',
    }),
  );
  const parts = [...said, ...attached];
  return {
    externalId: id === undefined ? null : `send:${id}`,
    role: 'assistant',
    author: null,
    parts,
    replyTo: null,
    mentions: [],
    tokens: estimateParts(parts),
    at,
  };
}

async function audienceOf(
  { services }: SendServices,
  key: ConversationKey,
  given: Audience | undefined,
): Promise<Audience> {
  // Only the platform can change the audience of a place.
  const known = await services.store.conversations.find(key);
  if (known !== null) return known.audience;
  if (given !== undefined) return given;
  const problem = 'the conversation has no messages yet, so the audience is required: "dm", "private" or "public"';
  throw new StrataError('SEND_INVALID', { conversation: key, problem });
}
