import { z } from 'zod';
import {
  type Clock,
  type ConversationKey,
  describe,
  type Log,
  parseKey,
  type StateStore,
} from '../../../../src/adapter-kit.ts';
import { placeOfKey } from '../place.ts';
import type { SlackSettings } from '../settings.ts';
import type { Threads } from '../threads.ts';
import { codeOf } from '../web.ts';
import { historySchema } from '../wire.ts';
import type { Workspace } from '../workspace.ts';
import { EVENT_TYPE, type TakenDraft } from './post.ts';

const NAMESPACE = 'slack.drafts';
/** Slack takes 12,000 characters in one go; a longer draft is worth no more. */
const LONGEST = 11_000;

export interface DraftParts {
  readonly workspace: Workspace;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly threads: Threads;
  readonly settings: Pick<SlackSettings, 'streaming' | 'streaming_seconds'>;
}

/** A reply shown while it is written, by Slack's streaming calls. Best effort; the final post never depends on it. */
export interface Drafts {
  show(conversation: ConversationKey, text: string): void;
  /** Ends the stream. Gives the message for the final text. */
  take(conversation: ConversationKey): Promise<TakenDraft | null>;
  /** The final text stands in the message: it is a draft no more. */
  settled(conversation: ConversationKey): Promise<void>;
  /** The message did not become the final text, which stands elsewhere. */
  remove(conversation: ConversationKey, ts: string): Promise<void>;
  /** The turn ended without a post. */
  drop(conversation: ConversationKey): void;
  /** Removes what a crash left behind. */
  sweep(): Promise<void>;
}

const takenSchema = z.object({ ts: z.string(), threadTs: z.string() });

interface Draft {
  wanted: string;
  /** What Slack was given of `wanted`. */
  shown: string;
  /** Where it stands; null before it is opened. */
  at: TakenDraft | null;
  /** The stream has expired or could not be opened: nothing more is shown. */
  isOver: boolean;
  readonly over: AbortController;
  running: Promise<void>;
}

const IDLE = Promise.resolve();

export function createDrafts(parts: DraftParts): Drafts {
  const drafts = new Map<ConversationKey, Draft>();
  const end = async (conversation: ConversationKey): Promise<TakenDraft | null> => {
    const draft = drafts.get(conversation);
    if (draft === undefined) return null;
    drafts.delete(conversation);
    draft.over.abort();
    await draft.running;
    if (draft.at === null) return null;
    const { channelId: channel } = placeOfKey(conversation);
    // An expired stream has ended already; its message is still there.
    await parts.workspace.web.chat.stopStream({ channel, ts: draft.at.ts }).catch(() => undefined);
    return draft.at;
  };
  const discard = async (conversation: ConversationKey, ts: string): Promise<void> => {
    await remove(parts, conversation, ts);
    await parts.state.delete(NAMESPACE, conversation);
  };
  return {
    show(conversation, text) {
      if (!parts.settings.streaming) return;
      const draft = drafts.get(conversation) ?? newDraft();
      drafts.set(conversation, draft);
      draft.wanted = text.slice(0, LONGEST).toWellFormed();
      if (draft.running === IDLE && !draft.isOver) draft.running = write(parts, conversation, draft);
    },
    take: end,
    settled: (conversation) => parts.state.delete(NAMESPACE, conversation),
    remove: discard,
    drop(conversation) {
      const work = async () => {
        const taken = await end(conversation);
        if (taken !== null) await discard(conversation, taken.ts);
      };
      work().catch((error: unknown) => parts.log.debug('A draft was left behind', { cause: describe(error) }));
    },
    sweep: () => sweep(parts),
  };
}

function newDraft(): Draft {
  return { wanted: '', shown: '', at: null, isOver: false, over: new AbortController(), running: IDLE };
}

async function write(parts: DraftParts, conversation: ConversationKey, draft: Draft): Promise<void> {
  const { signal } = draft.over;
  const pause = () => parts.clock.sleep(parts.settings.streaming_seconds * 1000, { signal });
  try {
    // The first words wait too: a quick reply is posted whole.
    await pause();
    while (draft.wanted !== draft.shown) {
      const text = draft.wanted;
      if (draft.at === null) await open(parts, conversation, { draft, text });
      else
        await append(parts, { channel: placeOfKey(conversation).channelId, ts: draft.at.ts, text, shown: draft.shown });
      draft.shown = text;
      await pause();
    }
  } catch (error) {
    if (!signal.aborted) {
      draft.isOver = true;
      parts.log.debug('A draft was not shown on', { conversation, cause: describe(error) });
    }
  } finally {
    draft.running = IDLE;
  }
}

const startedSchema = z.object({ ts: z.string() });

async function open(
  { workspace, threads, state }: DraftParts,
  conversation: ConversationKey,
  { draft, text }: { readonly draft: Draft; readonly text: string },
): Promise<void> {
  const threadTs = await threads.of(conversation);
  if (threadTs === null) throw new Error('Slack streams within threads only');
  const { channelId, teamId } = placeOfKey(conversation);
  const person = threads.personOf(conversation);
  const recipient = person === null ? {} : { recipient_team_id: teamId, recipient_user_id: person };
  const answer = await workspace.web.chat.startStream({
    channel: channelId,
    thread_ts: threadTs,
    markdown_text: harmless(text),
    ...recipient,
  });
  draft.at = { ts: startedSchema.parse(answer).ts, threadTs };
  await state.set(NAMESPACE, conversation, draft.at);
}

async function append(
  { workspace }: DraftParts,
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

/** In a draft, too, nothing between angle brackets is Slack's. */
function harmless(text: string): string {
  return text.replaceAll('<', '&lt;');
}

async function remove({ workspace }: DraftParts, conversation: ConversationKey, ts: string): Promise<void> {
  await workspace.web.chat.delete({ channel: placeOfKey(conversation).channelId, ts }).catch(() => undefined);
}

async function sweep(parts: DraftParts): Promise<void> {
  for (const { key, value } of await parts.state.list(NAMESPACE)) {
    const conversation = parseKey(key).key;
    const draft = takenSchema.safeParse(value).data;
    if (placeOfKey(conversation).teamId !== parts.workspace.teamId || draft === undefined) continue;
    if (!(await isFinal(parts, conversation, draft))) await remove(parts, conversation, draft.ts);
    await parts.state.delete(NAMESPACE, key);
  }
}

/** Whether the whole reply was put into the message before the process ended. */
async function isFinal(parts: DraftParts, conversation: ConversationKey, draft: TakenDraft): Promise<boolean> {
  const { channelId: channel } = placeOfKey(conversation);
  const { ts, threadTs } = draft;
  const range = { oldest: ts, latest: ts, inclusive: true, include_all_metadata: true };
  try {
    const answer = await parts.workspace.web.conversations.replies({ channel, ts: threadTs, ...range });
    const found = historySchema.parse(answer).messages.find((message) => message.ts === ts);
    return found?.metadata?.event_type === EVENT_TYPE;
  } catch (error) {
    if (codeOf(error) === 'thread_not_found') return false;
    throw error;
  }
}
