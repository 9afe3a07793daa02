import { type CatchingUp, describe } from '../../../../src/adapter-kit.ts';
import { createRunning } from '../../shared/running.ts';
import { within } from '../../shared/within.ts';
import { PLATFORM, placeOfKey } from '../places/place.ts';
import { withRetries } from '../web/retry.ts';
import { isSnowflake } from '../wire.ts';
import type { CatchUpContext } from './catch-up-context.ts';
import {
  afterHeard,
  heardLately,
  isIn,
  newestOf,
  planReadings,
  type Reading,
  type Readings,
  type Scope,
} from './readings.ts';

const SIDE_BY_SIDE = 4;
/** How long a live message waits for what was missed in its channel. */
const MAX_WAIT_MS = 5_000;

/**
 * After a lost session or a restart, reads over REST what was sent, edited and deleted in between, starting at the
 * newest stored message of each conversation. Live messages wait until their channel is done, to keep the order,
 * but not for a Discord that answers slowly.
 */
export interface CatchUp {
  /** A session has begun. From now on messages of the shard wait. */
  sessionBegan(shardId: number): void;
  /** The servers of the session are known: reads what was missed. */
  guildsKnown(shardId: number): void;
  /** A server joined or became available: reads what was missed in it. */
  guildKnown(guildId: string, shardId: number): void;
  passed(channelId: string, shardId: number): Promise<void>;
  drained(): Promise<void>;
}

interface Session extends PromiseWithResolvers<Readings> {
  /** Replies that were owed before wait for it. */
  readonly owed: CatchingUp;
  /** By server, for those that became available later. */
  readonly late: Map<string, Late>;
  /** The newest message stored before it. */
  heardUpto: string | null;
  areGuildsKnown: boolean;
}

/** Resolves when the server is available and its readings are planned. */
interface Late extends PromiseWithResolvers<Readings> {
  readonly owed: CatchingUp;
}

export function createCatchUp(context: CatchUpContext): CatchUp {
  const sessions = new Map<number, Session>();
  const running = createRunning();
  return {
    sessionBegan(shardId) {
      const before = sessions.get(shardId);
      const next = openSession(context, shardId);
      sessions.set(shardId, next);
      if (before === undefined) return;
      // Messages that waited for a lost session wait for this one.
      next.promise.then(before.resolve, before.reject);
      for (const { owed } of [before, ...before.late.values()]) owed.end();
    },
    guildsKnown(shardId) {
      const session = sessions.get(shardId);
      if (session === undefined) return;
      session.areGuildsKnown = true;
      for (const guildId of context.places.guildsOf(shardId)) {
        if (context.places.isAvailable(guildId)) continue;
        session.late.set(guildId, openLate(context, { shardId, guildId }));
      }
      void running.track(readScope(context, { scope: { shardId, guildId: null }, session, ...session }));
    },
    guildKnown(guildId, shardId) {
      const session = sessions.get(shardId);
      // Before that, the server is read with the others. A packet may contain any server id.
      if (session?.areGuildsKnown !== true || !isSnowflake(guildId)) return;
      const late = openLate(context, { shardId, guildId });
      const before = session.late.get(guildId);
      session.late.set(guildId, late);
      before?.owed.end();
      if (before !== undefined) late.promise.then(before.resolve, before.reject);
      void running.track(
        session.promise.then(() => readScope(context, { scope: { shardId, guildId }, session, ...late })),
      );
    },
    async passed(channelId, shardId) {
      const reading = (await sessions.get(shardId)?.promise)?.get(channelId);
      if (reading !== undefined) await waitFor(context, channelId, reading);
      // The session in which the message arrived may be over by now.
      const session = sessions.get(shardId);
      const late = session?.late.get(context.places.peek(channelId)?.guildId ?? '');
      if (late !== undefined) await waitForServer(context, channelId, { late, heardUpto: session?.heardUpto ?? null });
    },
    async drained() {
      // The session ended before its servers were known.
      for (const session of sessions.values()) {
        for (const waiting of [session, ...session.late.values()]) waiting.resolve(new Map());
      }
      await running.drained();
    },
  };
}

interface Missing {
  readonly late: Late;
  readonly heardUpto: string | null;
}

/** For a message of a server whose missed messages cannot be read yet. */
async function waitForServer(context: CatchUpContext, channelId: string, { late, heardUpto }: Missing): Promise<void> {
  const readings = await within(context.clock, MAX_WAIT_MS, late.promise);
  const reading = readings?.get(channelId);
  if (reading !== undefined) return await waitFor(context, channelId, reading);
  const after = readings === null && heardUpto !== null ? afterHeard(heardUpto) : null;
  if (after !== null) await withRetries(context, 'stored', () => context.unread.keep(channelId, after));
}

/** The live message moves the cursor: where the reading begins is noted before. */
async function waitFor(context: CatchUpContext, channelId: string, reading: Reading): Promise<void> {
  if (reading.isLate) return;
  const isRead = await within(
    context.clock,
    MAX_WAIT_MS,
    reading.read().then(() => true),
  );
  if (isRead === true || context.signal.aborted) return;
  await withRetries(context, 'stored', () => context.unread.keep(channelId, reading.after));
  reading.isLate = true;
}

function openSession(context: CatchUpContext, shardId: number): Session {
  const owed = hold(context, { shardId, guildId: null });
  const state = { late: new Map(), heardUpto: null, areGuildsKnown: false };
  return { ...Promise.withResolvers<Readings>(), owed, ...state };
}

function openLate(context: CatchUpContext, scope: Scope): Late {
  return { ...Promise.withResolvers<Readings>(), owed: hold(context, scope) };
}

/** Owed replies wait where catching up checks for changes. */
function hold({ bot: own, places, settings, sink }: CatchUpContext, scope: Scope): CatchingUp {
  return sink.catchingUp((conversation) => {
    if (settings.catch_up.messages === 0 || !conversation.startsWith(`${PLATFORM}:`)) return false;
    const { bot, guildId } = placeOfKey(conversation);
    return bot === own && isIn(places, scope, guildId);
  });
}

interface ScopeReading {
  readonly scope: Scope;
  readonly session: Session;
  readonly owed: CatchingUp;
  readonly resolve: (readings: Readings) => void;
}

/** Never rejects. */
async function readScope(context: CatchUpContext, reading: ScopeReading): Promise<void> {
  try {
    await readMissed(context, reading);
  } catch (error) {
    context.log.error('Missed messages could not be looked for', { cause: describe(error) });
    reading.resolve(new Map());
  } finally {
    reading.owed.end();
  }
}

async function readMissed(context: CatchUpContext, { scope, session, owed, resolve }: ScopeReading): Promise<void> {
  const ours = await withRetries(context, 'looked for', () => heardLately(context, scope));
  if (scope.guildId === null) session.heardUpto = newestOf(ours);
  const connectedAfter = session.heardUpto === null ? await firstConnectionOf(context, scope.shardId) : null;
  // First, because what is read below must not be shown to a wider audience than now.
  const guildIds = scope.guildId === null ? context.places.guildsOf(scope.shardId) : [scope.guildId];
  await withRetries(context, 'closed', () => context.audiences.review(guildIds));
  const unread = await withRetries(context, 'looked for', () => context.unread.list());
  const readings = planReadings(context, { scope, ours, unread, owed, heardUpto: session.heardUpto, connectedAfter });
  resolve(readings);
  const waiting = readings.values();
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => workOff(context, waiting)));
  await context.leaving?.review((guildId) => isIn(context.places, scope, guildId), ours);
}

/** Null if the shard connects for the first time, and has stored no message yet. */
async function firstConnectionOf(context: CatchUpContext, shardId: number): Promise<string | null> {
  const newest = context.places.newestOf(shardId) ?? '0';
  return await withRetries(context, 'looked for', () => context.firstConnections.of(shardId, newest));
}

async function workOff({ signal }: CatchUpContext, waiting: Iterable<Reading>): Promise<void> {
  for (const reading of waiting) {
    if (signal.aborted) return;
    await reading.read();
  }
}
