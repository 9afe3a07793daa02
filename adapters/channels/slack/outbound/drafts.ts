import { z } from 'zod';
import { type ConversationKey, cleanText, describe } from '../../../../src/adapter-kit.ts';
import { createLiveDrafts, type DraftChange } from '../../shared/live-drafts.ts';
import { within } from '../../shared/within.ts';
import { isNewer, placeOfKey } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { retryRepeatable } from '../web/web.ts';
import type { DraftRate } from './draft-rate.ts';
import { DRAFTS, type NotedDraftContext, removeDraft, removeNoted, sweepDrafts } from './noted-drafts.ts';
import type { TakenDraft } from './post.ts';

/** Slack accepts 12,000 characters at once; a longer draft is not useful. */
const MAX_DRAFT_LENGTH = 11_000;

export interface DraftContext extends NotedDraftContext, Pick<BotServices, 'threads' | 'settings'> {
  readonly draftRate: DraftRate;
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

/** What Slack shows of a draft. */
interface Draft {
  /** Its message; null before it is opened. */
  at: TakenDraft | null;
  /** The stream has expired or could not be opened, so nothing more is shown. */
  isOver: boolean;
}

export function createDrafts(context: DraftContext): Drafts {
  /** Drafts that are being removed; the next stream of the conversation waits for them. */
  const clearing = new Map<ConversationKey, Promise<void>>();
  const live = createLiveDrafts<Draft>(context, {
    begin: () => ({ at: null, isOver: false }),
    textOf: headOf,
    async write(change) {
      if (change.shown.isOver) return true;
      await clearing.get(change.conversation);
      change.signal.throwIfAborted();
      return await advance(context, change).catch((error: unknown) => {
        change.shown.isOver = true;
        throw error;
      });
    },
  });
  const end = async (conversation: ConversationKey): Promise<TakenDraft | null> => {
    const at = (await live.end(conversation))?.at ?? null;
    if (at === null) return null;
    const stream = { channel: placeOfKey(conversation).channelId, ts: at.ts };
    // Retried, because a late delta must not end up behind the final text. An expired stream has already ended.
    const ended = retryRepeatable(() => context.workspace.web.chat.stopStream(stream), context).catch(() => undefined);
    await within(context.clock, MAX_ENDING_MS, ended);
    return at;
  };
  const discard = async (conversation: ConversationKey, ts: string): Promise<void> => {
    await removeDraft(context, conversation, ts);
    await context.state.delete(DRAFTS, conversation);
  };
  const clear = (conversation: ConversationKey): void => {
    if (!context.settings.streaming || live.has(conversation) || clearing.has(conversation)) return;
    const work = removeNoted(context, conversation)
      .catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }))
      .finally(() => clearing.delete(conversation));
    clearing.set(conversation, work);
  };
  return {
    show: live.show,
    take: end,
    settled: (conversation) => context.state.delete(DRAFTS, conversation),
    remove: discard,
    clear,
    async cleared(conversation) {
      await clearing.get(conversation);
      if (!live.has(conversation)) await removeNoted(context, conversation);
    },
    drop(conversation) {
      const work = async () => {
        const taken = await end(conversation);
        if (taken === null) clear(conversation);
        else await discard(conversation, taken.ts);
      };
      if (!live.has(conversation)) return;
      work().catch((error: unknown) => context.log.debug('A draft could not be removed', { cause: describe(error) }));
    },
    sweep: () => sweepDrafts(context, clear),
  };
}

/** Whether the text was shown; false if Slack allows no more calls for now. */
async function advance(context: DraftContext, change: DraftChange<Draft>): Promise<boolean> {
  const { at } = change.shown;
  const method = at === null ? 'chat.startStream' : 'chat.appendStream';
  if (!context.draftRate.mayCall(method)) return false;
  try {
    if (at === null) await open(context, change);
    else await append(context, at, change);
    return true;
  } catch (error) {
    if (context.draftRate.isRefusal(method, error)) return false;
    throw error;
  }
}

function headOf(answer: string): string {
  return cleanText(answer.slice(0, MAX_DRAFT_LENGTH));
}

const startedSchema = z.object({ ts: z.string() });

async function open(context: DraftContext, { conversation, shown, text }: DraftChange<Draft>): Promise<void> {
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
  shown.at = { ts: startedSchema.parse(answer).ts, threadTs };
  await state.set(DRAFTS, conversation, { ...note, ts: shown.at.ts });
}

function newestOf(all: readonly (string | null)[]): string | null {
  return all.reduce((one, other) => (one === null || (other !== null && isNewer(other, one)) ? other : one));
}

async function append(
  { workspace }: DraftContext,
  { ts }: TakenDraft,
  { conversation, text, before }: DraftChange<Draft>,
): Promise<void> {
  // Another step of the same turn starts over; a stream only grows.
  const added = text.startsWith(before) ? text.slice(before.length) : `\n\n${text}`;
  const channel = placeOfKey(conversation).channelId;
  await workspace.web.chat.appendStream({ channel, ts, markdown_text: harmless(added) });
}

/** In a draft too, text between angle brackets must not work as Slack markup. */
function harmless(text: string): string {
  return text.replaceAll('<', '&lt;');
}
