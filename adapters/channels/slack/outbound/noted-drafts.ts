import { z } from 'zod';
import { type ConversationKey, describe, parseKey } from '../../../../src/adapter-kit.ts';
import { isOwn } from '../map.ts';
import { earliestTs, placeOfKey } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { codeOf, retryRepeatable, TIME_LIMIT_MS } from '../web/web.ts';
import { historySchema, type WireMessage } from '../wire.ts';
import type { PlainPosts } from './plain-posts.ts';
import { EVENT_TYPE } from './post.ts';

/** The drafts that were begun, by conversation. */
export const DRAFTS = 'slack.drafts';

export interface NotedDraftContext extends Pick<BotServices, 'workspace' | 'state' | 'clock' | 'log' | 'signal'> {
  readonly plainPosts: Pick<PlainPosts, 'newest'>;
}

/** Written before the stream begins, so that no crash and no lost response hides a draft. */
const noteSchema = z.object({
  /** Null until Slack has returned the message. */
  ts: z.string().nullable(),
  threadTs: z.string(),
  /** When the stream began, in epoch milliseconds. */
  at: z.number().default(0),
  /** A message from before the stream; null if none is known. */
  after: z.string().nullable().default(null),
});
type Note = z.infer<typeof noteSchema>;

const GONE = new Set(['message_not_found', 'channel_not_found', 'thread_not_found']);

/** An open stream is ended first, because Slack may refuse to delete it. */
export async function removeDraft(
  context: NotedDraftContext,
  conversation: ConversationKey,
  ts: string,
): Promise<void> {
  const { web } = context.workspace;
  const message = { channel: placeOfKey(conversation).channelId, ts };
  await web.chat.stopStream(message).catch(() => undefined);
  try {
    await retryRepeatable(() => web.chat.delete(message), context);
  } catch (error) {
    if (!GONE.has(codeOf(error) ?? '')) throw error;
  }
}

/** One by one: a draft that cannot be removed now is found again at the next start. */
export async function sweepDrafts(
  context: NotedDraftContext,
  removeLater: (conversation: ConversationKey) => void,
): Promise<void> {
  for (const { key, value } of await context.state.list(DRAFTS)) {
    const conversation = parseKey(key).key;
    const note = noteSchema.safeParse(value).data;
    if (placeOfKey(conversation).teamId !== context.workspace.teamId || note === undefined) continue;
    try {
      const found = await leftOvers(context, conversation, note);
      if (found.length === 0 && mayStillBegin(context, note)) removeLater(conversation);
      else await removeAll(context, conversation, found);
    } catch (error) {
      context.log.warn('A draft could not be removed', { conversation, cause: describe(error) });
    }
  }
}

async function removeAll(
  context: NotedDraftContext,
  conversation: ConversationKey,
  all: readonly string[],
): Promise<void> {
  for (const ts of all) await removeDraft(context, conversation, ts);
  await context.state.delete(DRAFTS, conversation);
}

/** Slack may begin a stream seconds after the connection ended. */
const SECOND_LOOK_MS = 5_000;

/** For a draft of another process, or one whose response was lost. */
export async function removeNoted(context: NotedDraftContext, conversation: ConversationKey): Promise<void> {
  const note = noteSchema.safeParse(await context.state.get(DRAFTS, conversation)).data;
  if (note === undefined) return;
  const found = await leftOvers(context, conversation, note);
  if (found.length > 0 || !mayStillBegin(context, note)) return await removeAll(context, conversation, found);
  await context.clock.sleep(SECOND_LOOK_MS, { signal: context.signal });
  await removeAll(context, conversation, await leftOvers(context, conversation, note));
}

function mayStillBegin({ clock }: Pick<NotedDraftContext, 'clock'>, { ts, at }: Note): boolean {
  return ts === null && clock.now() - at < TIME_LIMIT_MS + SECOND_LOOK_MS;
}

/** How many of the newest replies of a thread are checked. */
const MAX_LOOKED_AT = 200;

/**
 * The messages of the bot that contain a draft instead of the whole reply, which has metadata. If Slack's response was
 * lost, they are those without metadata and files since the stream began, except for a post in words alone.
 */
async function leftOvers(context: NotedDraftContext, conversation: ConversationKey, note: Note) {
  const { ts, threadTs, at } = note;
  const { web } = context.workspace;
  const { channelId: channel } = placeOfKey(conversation);
  const after = note.after ?? earliestTs(at);
  const oldest = ts ?? after;
  // Slack returns the first message of the thread in any case.
  const known = new Set([threadTs, await context.plainPosts.newest(conversation)]);
  const range = ts === null ? { oldest, limit: MAX_LOOKED_AT } : { oldest, latest: ts, inclusive: true };
  try {
    const query = { channel, ts: threadTs, ...range, include_all_metadata: true };
    const { messages } = historySchema.parse(await retryRepeatable(() => web.conversations.replies(query), context));
    const mayBeDraft = (message: WireMessage) =>
      isOwn(message, context.workspace) && !known.has(message.ts) && isText(message);
    const isDraft = (message: WireMessage) => (ts === null ? mayBeDraft(message) : message.ts === ts);
    return messages
      .filter((message) => isDraft(message) && message.metadata?.event_type !== EVENT_TYPE)
      .map((message) => message.ts);
  } catch (error) {
    if (codeOf(error) === 'thread_not_found') return [];
    throw error;
  }
}

function isText({ subtype, files }: WireMessage): boolean {
  return !subtype && !files?.length;
}
