import { z } from 'zod';
import {
  type Clock,
  type ConversationKey,
  cleanText,
  describe,
  type Log,
  parseKey,
  type StateStore,
} from '../../../../src/adapter-kit.ts';
import { isOwn } from '../map.ts';
import { placeOfKey } from '../place.ts';
import type { SlackSettings } from '../settings.ts';
import type { Threads } from '../threads.ts';
import { codeOf, persistently } from '../web.ts';
import { historySchema, type WireMessage } from '../wire.ts';
import type { Workspace } from '../workspace.ts';
import type { DraftRate } from './draft-rate.ts';
import { EVENT_TYPE, type TakenDraft } from './post.ts';

const NAMESPACE = 'slack.drafts';
/** Slack accepts 12,000 characters at once; a longer draft is not useful. */
const LONGEST = 11_000;

export interface DraftContext {
  readonly workspace: Workspace;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends waiting. */
  readonly signal: AbortSignal;
  readonly threads: Threads;
  readonly rate: DraftRate;
  readonly settings: Pick<SlackSettings, 'streaming' | 'streaming_seconds'>;
}

/** A reply shown while it is written, with Slack's streaming calls. Best effort; the final post never depends on it. */
export interface Drafts {
  show(conversation: ConversationKey, text: string): void;
  /** Ends the stream. Returns the message for the final text. */
  take(conversation: ConversationKey): Promise<TakenDraft | null>;
  /** The message now contains the final text, so it is no longer a draft. */
  settled(conversation: ConversationKey): Promise<void>;
  /** The final text was posted elsewhere, so the message is removed. */
  remove(conversation: ConversationKey, ts: string): Promise<void>;
  /** Removes what another process, or a lost response of Slack, left of a draft. Returns at once. */
  clear(conversation: ConversationKey): void;
  /** The turn ended without a post. */
  drop(conversation: ConversationKey): void;
  /** Removes drafts left behind by a crash. */
  sweep(): Promise<void>;
}

/** Written before the stream begins, so that no crash and no lost response hides a draft. */
const noteSchema = z.object({
  /** Null until Slack has returned the message. */
  ts: z.string().nullable(),
  threadTs: z.string(),
  /** When the stream began, in epoch milliseconds. */
  at: z.number().default(0),
});
type Note = z.infer<typeof noteSchema>;

interface Draft {
  /** Grows with each delta of the answer. Read only at intervals, because reading costs as much as the text is long. */
  wanted: string;
  /** The text sent to Slack so far. */
  shown: string;
  /** Its channel and message; null before it is opened. */
  at: TakenDraft | null;
  /** The stream has expired or could not be opened, so nothing more is shown. */
  isOver: boolean;
  readonly over: AbortController;
  running: Promise<void>;
}

const IDLE = Promise.resolve();

export function createDrafts(context: DraftContext): Drafts {
  const drafts = new Map<ConversationKey, Draft>();
  const end = async (conversation: ConversationKey): Promise<TakenDraft | null> => {
    const draft = drafts.get(conversation);
    if (draft === undefined) return null;
    drafts.delete(conversation);
    draft.over.abort();
    await draft.running;
    if (draft.at === null) return null;
    const { channelId: channel } = placeOfKey(conversation);
    // An expired stream has already ended; its message still exists.
    await context.workspace.web.chat.stopStream({ channel, ts: draft.at.ts }).catch(() => undefined);
    return draft.at;
  };
  const discard = async (conversation: ConversationKey, ts: string): Promise<void> => {
    await remove(context, conversation, ts);
    await context.state.delete(NAMESPACE, conversation);
  };
  /** Drafts that are being removed; the next stream of the conversation waits for them. */
  const clearing = new Map<ConversationKey, Promise<void>>();
  const clear = (conversation: ConversationKey): void => {
    if (!context.settings.streaming || drafts.has(conversation) || clearing.has(conversation)) return;
    const work = clearNoted(context, conversation)
      .catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }))
      .finally(() => clearing.delete(conversation));
    clearing.set(conversation, work);
  };
  return {
    show(conversation, text) {
      if (!context.settings.streaming) return;
      const draft = drafts.get(conversation) ?? newDraft();
      drafts.set(conversation, draft);
      draft.wanted = text;
      if (draft.running !== IDLE || draft.isOver) return;
      const cleared = clearing.get(conversation) ?? IDLE;
      draft.running = cleared.then(() => write(context, conversation, draft));
    },
    take: end,
    settled: (conversation) => context.state.delete(NAMESPACE, conversation),
    remove: discard,
    clear,
    drop(conversation) {
      const work = async () => {
        const taken = await end(conversation);
        if (taken === null) clear(conversation);
        else await discard(conversation, taken.ts);
      };
      if (!drafts.has(conversation)) return;
      work().catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }));
    },
    sweep: () => sweep(context),
  };
}

function newDraft(): Draft {
  return { wanted: '', shown: '', at: null, isOver: false, over: new AbortController(), running: IDLE };
}

async function write(context: DraftContext, conversation: ConversationKey, draft: Draft): Promise<void> {
  const { signal } = draft.over;
  const pause = () => context.clock.sleep(context.settings.streaming_seconds * 1000, { signal });
  try {
    // The first words wait too, so that a quick reply is posted whole.
    await pause();
    for (let text = headOf(draft); text !== draft.shown; text = headOf(draft)) {
      if (await advance(context, conversation, { draft, text })) draft.shown = text;
      await pause();
    }
  } catch (error) {
    if (!signal.aborted) {
      draft.isOver = true;
      context.log.debug('A draft was not shown on', { conversation, cause: describe(error) });
    }
  } finally {
    draft.running = IDLE;
  }
}

/** Whether the text was shown; false if Slack allows no more calls for now. */
async function advance(
  context: DraftContext,
  conversation: ConversationKey,
  { draft, text }: { readonly draft: Draft; readonly text: string },
): Promise<boolean> {
  const { at, shown } = draft;
  const method = at === null ? 'chat.startStream' : 'chat.appendStream';
  if (!context.rate.mayCall(method)) return false;
  try {
    if (at === null) await open(context, conversation, { draft, text });
    else await append(context, { channel: placeOfKey(conversation).channelId, ts: at.ts, text, shown });
    return true;
  } catch (error) {
    if (context.rate.isRefusal(method, error)) return false;
    throw error;
  }
}

function headOf({ wanted }: Draft): string {
  return cleanText(wanted.slice(0, LONGEST));
}

const startedSchema = z.object({ ts: z.string() });

async function open(
  { workspace, threads, state, clock }: DraftContext,
  conversation: ConversationKey,
  { draft, text }: { readonly draft: Draft; readonly text: string },
): Promise<void> {
  const threadTs = await threads.of(conversation);
  if (threadTs === null) throw new Error('Slack streams within threads only');
  const { channelId, teamId } = placeOfKey(conversation);
  const person = threads.personOf(conversation);
  const recipient = person === null ? {} : { recipient_team_id: teamId, recipient_user_id: person };
  const at = clock.now();
  await state.set(NAMESPACE, conversation, { ts: null, threadTs, at });
  const answer = await workspace.web.chat.startStream({
    channel: channelId,
    thread_ts: threadTs,
    markdown_text: harmless(text),
    ...recipient,
  });
  draft.at = { ts: startedSchema.parse(answer).ts, threadTs };
  await state.set(NAMESPACE, conversation, { ...draft.at, at });
}

async function append(
  { workspace }: DraftContext,
  {
    channel,
    ts,
    text,
    shown,
  }: { readonly channel: string; readonly ts: string; readonly text: string; readonly shown: string },
): Promise<void> {
  // Another step of the same turn starts over; a stream only grows.
  const added = text.startsWith(shown) ? text.slice(shown.length) : `\n\n${text}`;
  await workspace.web.chat.appendStream({ channel, ts, markdown_text: harmless(added) });
}

/** In a draft too, text between angle brackets must not work as Slack markup. */
function harmless(text: string): string {
  return text.replaceAll('<', '&lt;');
}

const GONE = new Set(['message_not_found', 'channel_not_found', 'thread_not_found']);

/** An open stream is ended first, because Slack may refuse to delete it. */
async function remove(context: DraftContext, conversation: ConversationKey, ts: string): Promise<void> {
  const { web } = context.workspace;
  const message = { channel: placeOfKey(conversation).channelId, ts };
  await web.chat.stopStream(message).catch(() => undefined);
  try {
    await persistently(() => web.chat.delete(message), context);
  } catch (error) {
    if (!GONE.has(codeOf(error) ?? '')) throw error;
  }
}

/** One by one: a draft that cannot be removed now is found again at the next start. */
async function sweep(context: DraftContext): Promise<void> {
  for (const { key, value } of await context.state.list(NAMESPACE)) {
    const conversation = parseKey(key).key;
    const note = noteSchema.safeParse(value).data;
    if (placeOfKey(conversation).teamId !== context.workspace.teamId || note === undefined) continue;
    try {
      await removeAll(context, conversation, await leftOvers(context, conversation, note));
    } catch (error) {
      context.log.warn('A draft could not be removed', { conversation, cause: describe(error) });
    }
  }
}

async function removeAll(context: DraftContext, conversation: ConversationKey, all: readonly string[]): Promise<void> {
  for (const ts of all) await remove(context, conversation, ts);
  await context.state.delete(NAMESPACE, conversation);
}

/** Slack may begin a stream seconds after the connection ended. */
const SECOND_LOOK_MS = 5_000;

async function clearNoted(context: DraftContext, conversation: ConversationKey): Promise<void> {
  const note = noteSchema.safeParse(await context.state.get(NAMESPACE, conversation)).data;
  if (note === undefined) return;
  const found = await leftOvers(context, conversation, note);
  if (found.length > 0 || note.ts !== null) return await removeAll(context, conversation, found);
  await context.clock.sleep(SECOND_LOOK_MS, { signal: context.signal });
  await removeAll(context, conversation, await leftOvers(context, conversation, note));
}

/** How many of the newest replies of a thread are checked. */
const MAX_LOOKED_AT = 200;
/** Maximum difference between clocks. */
const SKEW_MS = 60_000;

/**
 * The messages of the bot that contain a draft instead of the whole reply, which has metadata. If Slack's response was
 * lost, they are those without metadata and files since the stream began.
 */
async function leftOvers(context: DraftContext, conversation: ConversationKey, { ts, threadTs, at }: Note) {
  const { web } = context.workspace;
  const { channelId: channel } = placeOfKey(conversation);
  const oldest = ts ?? ((at - SKEW_MS) / 1000).toFixed(6);
  const range = ts === null ? { oldest, limit: MAX_LOOKED_AT } : { oldest, latest: ts, inclusive: true };
  try {
    const query = { channel, ts: threadTs, ...range, include_all_metadata: true };
    const { messages } = historySchema.parse(await persistently(() => web.conversations.replies(query), context));
    const isDraft = (message: WireMessage) =>
      ts === null
        ? isOwn(message, context.workspace) && message.ts !== threadTs && !message.subtype && !message.files?.length
        : message.ts === ts;
    return messages
      .filter((message) => isDraft(message) && message.metadata?.event_type !== EVENT_TYPE)
      .map((message) => message.ts);
  } catch (error) {
    if (codeOf(error) === 'thread_not_found') return [];
    throw error;
  }
}
