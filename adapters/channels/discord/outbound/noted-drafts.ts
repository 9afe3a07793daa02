import { createHash } from 'node:crypto';
import { Routes } from 'discord.js';
import { z } from 'zod';
import {
  type Clock,
  type ConversationKey,
  createRecentMap,
  DAY_MS,
  describe,
  type Log,
  type Post,
  type StateStore,
} from '../../../../src/adapter-kit.ts';
import { placeOfKey, targetOf } from '../places/place.ts';
import type { Rest } from '../web/rest.ts';
import { isDeleted } from '../web/retry.ts';
import { isSnowflake, messagesIn, pageSchema, snowflakeAt, timeOf } from '../wire.ts';

/** The drafts that were begun, by conversation. */
export const DRAFTS = 'discord.drafts';
/** The messages that were assigned to a post, by conversation and nonce. A new draft may begin before the post is made. */
const GIVEN = 'discord.given';

export interface NotedDraftContext {
  readonly rest: Rest;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  /** The id of the bot's account. */
  readonly userId: () => string;
}

/** Written before the message is requested, so that no crash and no lost response hides a draft. */
const noteSchema = z.object({
  /** Null until Discord has returned the message. */
  messageId: z.string().nullable(),
  /** With a nonce: the message was assigned to that post. */
  nonce: z.string().nullable(),
  /** The hashes of the texts with which the message was requested. */
  opened: z.array(z.string()).default([]),
  /** The message that it answers, or a moment before it. */
  after: z.string().default('0'),
});
export type Note = z.infer<typeof noteSchema>;

/** Maximum difference between Discord's clock and this machine's. */
const CLOCK_SKEW_MS = 300_000;

/** A post that was not made within this time is not tried again, nor is the removal of a draft. */
const GIVEN_MS = DAY_MS;

/** The draft is about to be requested, each time with the texts of earlier attempts, because any of them may arrive. */
export async function noteRequest(
  { state, clock }: NotedDraftContext,
  conversation: ConversationKey,
  { replyTo, texts }: { readonly replyTo: string | null; readonly texts: readonly string[] },
): Promise<void> {
  const after = replyTo ?? snowflakeAt(clock.now() - CLOCK_SKEW_MS);
  await state.set(DRAFTS, conversation, { messageId: null, nonce: null, opened: texts.map(hashOf), after });
}

async function readNote({ state }: Pick<NotedDraftContext, 'state'>, key: string): Promise<Note | null> {
  return noteSchema.safeParse(await state.get(DRAFTS, key)).data ?? null;
}

/** Discord trims a message. */
function hashOf(text: string): string {
  return createHash('sha256').update(text.trim()).digest('base64url').slice(0, 16);
}

export async function give(
  { state }: NotedDraftContext,
  post: Pick<Post, 'conversation' | 'nonce'>,
  messageId: string,
): Promise<void> {
  await state.set(GIVEN, keyOf(post), messageId);
  await state.delete(DRAFTS, post.conversation);
}

/** The message that a post was to become before a crash or a failure. */
export async function givenTo(
  { state }: NotedDraftContext,
  post: Pick<Post, 'conversation' | 'nonce'>,
): Promise<string | null> {
  const given = z.string().safeParse(await state.get(GIVEN, keyOf(post))).data;
  if (given !== undefined) return given;
  // Noted by version 0.1.
  const note = await readNote({ state }, post.conversation);
  return note?.nonce === post.nonce ? note.messageId : null;
}

const MAX_KNOWN = 5_000;

/** The post is made. The newest of a conversation may be asked for again after a crash, so it stays assigned. */
export function createSettler(context: NotedDraftContext) {
  const newest = createRecentMap<ConversationKey, Pick<Post, 'conversation' | 'nonce'>>(MAX_KNOWN);
  return async (post: Pick<Post, 'conversation' | 'nonce'>): Promise<void> => {
    const before = newest.get(post.conversation);
    newest.set(post.conversation, post);
    if (before !== undefined && before.nonce !== post.nonce) await settle(context, before);
  };
}

/** The message is not that post any more. */
export async function settle({ state }: NotedDraftContext, post: Pick<Post, 'conversation' | 'nonce'>): Promise<void> {
  await state.delete(GIVEN, keyOf(post));
}

function keyOf({ conversation, nonce }: Pick<Post, 'conversation' | 'nonce'>): string {
  return `${conversation} ${nonce}`;
}

/** For posts that were not made in time. */
export async function sweepGiven({ state, clock }: NotedDraftContext): Promise<void> {
  for (const { key, value } of await state.list(GIVEN)) {
    const isOver = !isSnowflake(String(value)) || clock.now() - timeOf(String(value)) > GIVEN_MS;
    if (isOver) await state.delete(GIVEN, key);
  }
}

/** If Discord does not respond, or lets the bot delete nothing there, the note stays for the next start. */
export async function removeDraft(
  context: NotedDraftContext,
  conversation: ConversationKey,
  messageId: string,
): Promise<void> {
  const { state } = context;
  if (await isRemoved(context, conversation, messageId)) await state.delete(DRAFTS, conversation);
  else await state.set(DRAFTS, conversation, { messageId, nonce: null });
}

async function isRemoved({ rest }: NotedDraftContext, conversation: ConversationKey, messageId: string) {
  const deletion = rest.delete(Routes.channelMessage(targetOf(placeOfKey(conversation)), messageId));
  return await deletion.then(() => true, isDeleted);
}

/**
 * Removes what an earlier process, or a lost response, left behind, before anything else is posted that could have the
 * same text. Never rejects: if Discord does not respond, it returns false and the note stays, but no longer names the
 * text that is posted now.
 */
export async function clearNoted(
  context: NotedDraftContext,
  conversation: ConversationKey,
  posted: string | null,
): Promise<boolean> {
  try {
    const note = await readNote(context, conversation);
    // A message assigned to a post may already be that post.
    if (note === null || note.nonce !== null || (await isCleared(context, conversation, note))) return true;
    const opened = note.opened.filter((hash) => posted === null || hash !== hashOf(posted));
    await context.state.set(DRAFTS, conversation, { ...note, opened });
  } catch (error) {
    context.log.debug('A draft could not be removed', { conversation, cause: describe(error) });
  }
  return false;
}

/** Whether nothing is left of it. */
async function isCleared(context: NotedDraftContext, conversation: ConversationKey, note: Note): Promise<boolean> {
  const left = note.messageId === null ? await findRequested(context, conversation, note) : [note.messageId];
  if (left === null) return false;
  for (const messageId of left) if (!(await isRemoved(context, conversation, messageId))) return false;
  await context.state.delete(DRAFTS, conversation);
  return true;
}

const LOOK_BACK = 100;

/** The message has one of the texts with which it was requested. Null if Discord does not respond. */
async function findRequested(
  { rest, userId }: NotedDraftContext,
  conversation: ConversationKey,
  { opened, after }: Note,
): Promise<readonly string[] | null> {
  if (opened.length === 0) return [];
  const query = new URLSearchParams({ limit: String(LOOK_BACK), after });
  try {
    const page = await rest.get(Routes.channelMessages(targetOf(placeOfKey(conversation))), { query });
    const own = messagesIn(pageSchema.parse(page)).filter(({ author }) => author.id === userId());
    // The reply to another message may have the same text.
    const answers = own.filter(({ message_reference: to }) => !to?.message_id || to.message_id === after);
    return answers.filter(({ content }) => opened.includes(hashOf(content))).map(({ id }) => id);
  } catch (error) {
    return isDeleted(error) ? [] : null;
  }
}

/** A draft of an earlier process; one that is being written is left alone. */
export async function sweepNoted(context: NotedDraftContext, conversation: ConversationKey): Promise<void> {
  const note = await readNote(context, conversation);
  const from = note?.messageId ?? note?.after ?? '0';
  const isOver = note === null || !isSnowflake(from) || context.clock.now() - timeOf(from) > GIVEN_MS;
  await clearNoted(context, conversation, null);
  if (isOver) await context.state.delete(DRAFTS, conversation);
}
