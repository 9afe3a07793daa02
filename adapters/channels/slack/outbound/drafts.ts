import { z } from 'zod';
import { type ConversationKey, cleanText, describe } from '../../../../src/adapter-kit.ts';
import { within } from '../../shared/within.ts';
import { isNewer, placeOfKey } from '../place.ts';
import type { SlackSettings } from '../settings.ts';
import type { Threads } from '../threads.ts';
import { retryRepeatable } from '../web.ts';
import type { DraftRate } from './draft-rate.ts';
import { DRAFTS, type NotedDraftContext, removeDraft, removeNoted, sweepDrafts } from './noted-drafts.ts';
import type { TakenDraft } from './post.ts';

/** Slack accepts 12,000 characters at once; a longer draft is not useful. */
const MAX_DRAFT_LENGTH = 11_000;

export interface DraftContext extends NotedDraftContext {
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
  /** The same, awaited. Rejects if it is unknown whether something is left. Leaves a draft that is being written. */
  cleared(conversation: ConversationKey): Promise<void>;
  /** The turn ended without a post. */
  drop(conversation: ConversationKey): void;
  /** Removes drafts left behind by a crash. */
  sweep(): Promise<void>;
}

/** How long the final text waits for the end of the stream. */
const MAX_ENDING_MS = 5_000;

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
    // Retried, because a late delta must not end up behind the final text. An expired stream has already ended.
    const stream = { channel, ts: draft.at.ts };
    const ended = retryRepeatable(() => context.workspace.web.chat.stopStream(stream), context).catch(() => undefined);
    await within(context.clock, MAX_ENDING_MS, ended);
    return draft.at;
  };
  const discard = async (conversation: ConversationKey, ts: string): Promise<void> => {
    await removeDraft(context, conversation, ts);
    await context.state.delete(DRAFTS, conversation);
  };
  /** Drafts that are being removed; the next stream of the conversation waits for them. */
  const clearing = new Map<ConversationKey, Promise<void>>();
  const clear = (conversation: ConversationKey): void => {
    if (!context.settings.streaming || drafts.has(conversation) || clearing.has(conversation)) return;
    const work = removeNoted(context, conversation)
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
    settled: (conversation) => context.state.delete(DRAFTS, conversation),
    remove: discard,
    clear,
    async cleared(conversation) {
      await clearing.get(conversation);
      if (!drafts.has(conversation)) await removeNoted(context, conversation);
    },
    drop(conversation) {
      const work = async () => {
        const taken = await end(conversation);
        if (taken === null) clear(conversation);
        else await discard(conversation, taken.ts);
      };
      if (!drafts.has(conversation)) return;
      work().catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }));
    },
    sweep: () => sweepDrafts(context, clear),
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
  return cleanText(wanted.slice(0, MAX_DRAFT_LENGTH));
}

const startedSchema = z.object({ ts: z.string() });

async function open(
  context: DraftContext,
  conversation: ConversationKey,
  { draft, text }: { readonly draft: Draft; readonly text: string },
): Promise<void> {
  const { workspace, threads, state, clock } = context;
  const threadTs = await threads.of(conversation);
  if (threadTs === null) throw new Error('Slack streams within threads only');
  const { channelId, teamId } = placeOfKey(conversation);
  const person = threads.personOf(conversation);
  const recipient = person === null ? {} : { recipient_team_id: teamId, recipient_user_id: person };
  await removeNoted(context, conversation);
  const after = newestOf([threads.newestOf(conversation), await context.plainPosts.newest(conversation)]);
  const note = { threadTs, at: clock.now(), after };
  await state.set(DRAFTS, conversation, { ...note, ts: null });
  const answer = await workspace.web.chat.startStream({
    channel: channelId,
    thread_ts: threadTs,
    markdown_text: harmless(text),
    ...recipient,
  });
  draft.at = { ts: startedSchema.parse(answer).ts, threadTs };
  await state.set(DRAFTS, conversation, { ...note, ts: draft.at.ts });
}

function newestOf(all: readonly (string | null)[]): string | null {
  return all.reduce((one, other) => (one === null || (other !== null && isNewer(other, one)) ? other : one));
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
