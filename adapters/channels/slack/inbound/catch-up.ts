import {
  type CatchingUp,
  type ConversationKey,
  type Cursor,
  describe,
  MINUTE_MS,
} from '../../../../src/adapter-kit.ts';
import { within } from '../../shared/within.ts';
import { isDirect, PLATFORM, placeOfKey } from '../places/place.ts';
import { createRate } from '../web/rate.ts';
import { codeOf } from '../web/web.ts';
import type { CatchUpContext, Missed, Pace } from './catch-up-context.ts';
import { applyChanges, keptAtTop, spanOf } from './changes.ts';
import { placeFor } from './context.ts';
import { createGapRecord, type Gap } from './gap-record.ts';
import { type Page, pagesOf } from './history.ts';
import { cursorsOf, heardChannels, type MissedChannel, type Thread, unheardChannels } from './missed.ts';
import { type SaidToBot, saidToBot } from './presence.ts';
import { createReadings, type Readings } from './readings.ts';
import { takeAll, takeNewest } from './take-missed.ts';

/**
 * How far before the gap to read again, because messages are not delivered in order of time, and the clock of this
 * machine may be ahead of Slack's. Duplicates are recognised.
 */
const OVERLAP_S = 300;
/** Among this many times the limit, messages that address the bot are still found. */
const SCANNED_FOLD = 10;
/** This many threads are read before channels in which a mention may have been missed. */
const MAX_OWED_FIRST = 20;
/** How long missed messages and owed replies wait until it is known who can read the stored channels. */
const MAX_REVIEW_MS = 10_000;

/** After a time without a connection, reads from history what was said in between, within the granted rate. */
export interface CatchUp {
  /** Before the connection: owed replies wait from now on. */
  opening(): void;
  connected(): void;
  /** Slack withheld events for a minute that began then (in seconds): reads them when it is over. */
  withheld(since: number): Promise<void>;
  lost(): void;
  drained(): Promise<void>;
}

export function createCatchUp(context: CatchUpContext): CatchUp {
  const gaps = createGapRecord(context);
  const { requests_per_minute: granted } = context.settings.catch_up;
  const most = Math.max(1, Math.floor(granted));
  const rate = createRate(context.clock, { most, spanMs: (most * MINUTE_MS) / granted });
  const pace = () => rate(context.signal);
  const { teamId } = context.workspace;
  const hold = () => context.sink.catchingUp((conversation) => isOf(conversation, teamId));
  let running: Promise<void> = Promise.resolve();
  let opening: CatchingUp | null = null;
  let waiting: { gap: Promise<Gap> } | null = null;
  const connected = () => {
    const gap = gaps.begin();
    gap.catch(() => undefined);
    const reviewed = context.audiences.review();
    if (context.settings.catch_up.messages === 0) return;
    // A reading that has not begun reads this gap too.
    if (waiting !== null) {
      waiting.gap = gap;
      return;
    }
    const own = { gap };
    waiting = own;
    const owed = hold();
    opening?.end();
    opening = null;
    running = running.then(async () => {
      waiting = null;
      try {
        await within(context.clock, MAX_REVIEW_MS, reviewed);
        await readGap({ ...context, pace, owed }, await own.gap);
      } catch (error) {
        if (context.signal.aborted) return;
        context.log.error('Missed messages could not be looked for', { cause: describe(error) });
      } finally {
        owed.end();
      }
    });
  };
  return {
    opening() {
      if (context.settings.catch_up.messages > 0) opening ??= hold();
    },
    connected,
    async withheld(since) {
      context.log.warn('Slack withheld events because there were too many in a minute; they are read from history', {
        team: teamId,
        since,
      });
      await gaps.missed(since);
      const leftMs = since * 1000 + MINUTE_MS - context.clock.now();
      context.clock
        .sleep(Math.min(Math.max(0, leftMs), MINUTE_MS), { signal: context.signal })
        .then(connected, () => undefined);
    },
    lost: gaps.lost,
    async drained() {
      await running;
      await gaps.drained();
    },
  };
}

interface Reading extends CatchUpContext {
  readonly pace: Pace;
  readonly owed: CatchingUp;
}

function isOf(conversation: ConversationKey, teamId: string): boolean {
  return conversation.startsWith(`${PLATFORM}:`) && placeOfKey(conversation).teamId === teamId;
}

/**
 * Direct messages first, then channels, then threads with new messages, then edits and deletions in all others. Some
 * threads that owe a reply come before channels without stored messages. What cannot be read is skipped, and read again
 * after the next start.
 */
async function readGap(context: Reading, { since, close }: Gap): Promise<void> {
  const readings = createReadings(context);
  try {
    await readSince(context, readings, since);
    if (await readings.settled()) await close();
  } finally {
    await readings.settled().catch(() => undefined);
  }
}

async function readSince(context: Reading, readings: Readings<Reading>, since: number | null): Promise<void> {
  const cursors = await cursorsOf(context);
  const quiet: OpenThread[] = [];
  const open: OpenThread[] = [];
  const owed: OpenThread[] = [];
  const readThreads = async (threads: readonly OpenThread[]): Promise<void> => {
    for (const thread of threads) {
      await readings.read(
        { channel: thread.channel, thread: thread.ts },
        {
          work: (patience) => readThread(patience, thread),
          ended: () => {
            if (thread.cursor !== null) context.owed.applied(thread.cursor.conversation);
          },
        },
      );
    }
  };
  const readOne = (channel: MissedChannel) =>
    readings.read(
      { channel: channel.id },
      {
        work: async (patience) => {
          const threads = threadsOf(context, channel, await readTop(patience, channel));
          owed.push(...threads.owed);
          open.push(...threads.open);
          quiet.push(...threads.quiet);
          if (isDirect(channel.id, null)) await readThreads([...owed.splice(0), ...open.splice(0)]);
        },
        ended: () => undefined,
      },
    );
  for (const channel of heardChannels(context, cursors, since)) await readOne(channel);
  await readThreads(owed.splice(0, MAX_OWED_FIRST));
  for (const channel of await unheardChannels(context, { cursors, since }, context.pace)) await readOne(channel);
  const others = () => [...owed.splice(0), ...open.splice(0), ...quiet.splice(0)];
  await readThreads(others());
  await readings.settled();
  // Those of a channel that was read late.
  await readThreads(others());
}

/** Everything in the channel itself since the gap began, including the page around its beginning. */
async function readTop(context: Reading, channel: MissedChannel): Promise<readonly Missed[]> {
  const { id, newest, cursors } = channel;
  const { messages: bound, hours } = context.settings.catch_up;
  const horizon = context.clock.now() / 1000 - hours * 3600;
  const since = Math.max(Number(newest) - OVERLAP_S, horizon);
  const kept = await keptAtTop(cursors);
  const known = new Set(kept.map(({ externalId }) => externalId));
  const all: Missed[] = [];
  const later: Missed[] = [];
  const place = { channel: id, threadTs: null };
  let before = Number.POSITIVE_INFINITY;
  for await (const page of pagesOf(context, { ...place, oldest: horizon }, context.pace)) {
    const { messages: listed } = page;
    const span = spanOf(page, { after: horizon, before });
    before = span.after;
    all.push(...listed);
    await applyChanges(context, { ...place, kept, listed, span }, context.pace);
    const isMeant = saidToBot(all, context.workspace);
    const fresh = listed.filter((missed) => Number(missed.ts) > since && !known.has(missed.ts) && isMeant(missed));
    // Each starts a conversation of its own, so it is answered before older pages are read.
    await takeAll(
      context,
      fresh.filter(({ message }) => placeFor(context, message).threadTs === message.ts),
    );
    later.push(...fresh.filter(({ message }) => placeFor(context, message).threadTs !== message.ts));
    if (all.length >= bound * SCANNED_FOLD || listed.some(({ ts }) => Number(ts) <= since)) break;
  }
  for (const { conversation } of cursors) {
    if (placeOfKey(conversation).threadTs === null) context.owed.applied(conversation);
  }
  await takeNewest(context, later);
  return all;
}

interface OpenThread {
  readonly channel: string;
  readonly ts: string;
  /** Earlier messages are already known. */
  readonly newest: string;
  readonly cursor: Cursor | null;
  readonly isMeant: SaidToBot;
}

/** The first message of a thread names its newest reply, so threads without new messages are read last. */
function threadsOf(
  { workspace }: Pick<CatchUpContext, 'workspace'>,
  { id: channel, newest, threads }: MissedChannel,
  top: readonly Missed[],
) {
  const isMeant = saidToBot(top, workspace);
  const latest = new Map(top.map((message) => [message.ts, message.latest ?? '0']));
  const known = new Map(threads.map((thread) => [thread.ts, thread]));
  const isNew = ({ ts, newest: read }: Pick<Thread, 'ts' | 'newest'>) => Number(latest.get(ts) ?? read) > Number(read);
  const unknown = top.flatMap(({ ts }) => (known.has(ts) ? [] : [{ ts, newest, cursor: null }])).filter(isNew);
  const all = [...threads, ...unknown].map((thread) => ({ ...thread, channel, isMeant }));
  const others = all.filter((thread) => !isOwed(thread));
  return { owed: all.filter(isOwed), open: others.filter(isNew), quiet: others.filter((thread) => !isNew(thread)) };
}

function isOwed({ cursor }: OpenThread): boolean {
  return cursor?.owesReply === true;
}

/** From the oldest stored message on: edits and deletions first, then new messages. */
async function readThread(context: Reading, thread: OpenThread): Promise<void> {
  const { channel, ts, newest, cursor, isMeant } = thread;
  const { hours } = context.settings.catch_up;
  const horizon = context.clock.now() / 1000 - hours * 3600;
  const since = Math.max(Number(newest) - OVERLAP_S, horizon);
  const kept = cursor === null ? [] : await cursor.kept();
  const oldest = Math.max(horizon, Math.min(since, ...kept.map(({ externalId }) => Number(externalId) - 1)));
  const listed: Missed[] = [];
  const pages: Page[] = [];
  try {
    for await (const page of pagesOf(context, { channel, threadTs: ts, oldest }, context.pace)) {
      listed.push(...page.messages);
      pages.push(page);
    }
  } catch (error) {
    if (codeOf(error) !== 'thread_not_found') throw error;
    // A deleted message without content: Slack keeps its place as long as it has replies.
    for (const { externalId } of kept) {
      await context.take({ kind: 'removal', channel, ts: externalId, threadTs: ts });
    }
    return;
  }
  // The first message of the thread comes with every page, however old it is.
  const replies = listed.filter((message) => message.ts !== ts);
  const root = listed.find((message) => message.ts === ts)?.message ?? null;
  const isWhole = root !== null && pages.every((page) => page.isWhole);
  // A part of a thread does not show what was deleted there.
  const span = isWhole ? { after: oldest, before: Number.POSITIVE_INFINITY } : null;
  await applyChanges(context, { channel, threadTs: ts, kept, listed, span }, context.pace);
  const known = new Set(kept.map(({ externalId }) => externalId));
  await takeNewest(
    context,
    replies.filter((reply) => Number(reply.ts) > since && !known.has(reply.ts) && isMeant(reply)),
    root,
  );
}
