import { Routes } from 'discord.js';
import { type ChannelSink, type Clock, type Cursor, describe, type Log } from '../../../src/index.ts';
import { servesPlace } from './access.ts';
import type { AudienceWatch } from './audience.ts';
import { type KeyPlace, PLATFORM, placeOfKey, targetOf } from './place.ts';
import type { Places } from './places.ts';
import { type Rest, statusOf } from './rest.ts';
import type { BotSettings } from './settings.ts';
import { isNewer, messagesSchema, timeOf, type WireMessage } from './wire.ts';

const PAGE = 100;
const SIDE_BY_SIDE = 4;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const ATTEMPTS = 4;
const PAUSE_MS = 2_000;

export interface CatchUpParts {
  readonly bot: string;
  readonly settings: BotSettings;
  readonly sink: ChannelSink;
  readonly rest: Rest;
  readonly places: Places;
  readonly audiences: AudienceWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  take(message: WireMessage, options: { readonly isPast: boolean }): Promise<void>;
}

/**
 * After a lost session or a restart, reads over REST what was said meanwhile, from the newest stored message of each
 * conversation on. What arrives live waits until its channel is done, so that the order holds.
 */
export interface CatchUp {
  /** A session has begun: messages of the shard wait from now on. */
  sessionBegan(shardId: number): void;
  /** The servers of the session are known: reads what was missed. */
  guildsKnown(shardId: number): void;
  passed(channelId: string, shardId: number): Promise<void>;
  drained(): Promise<void>;
}

type Readings = ReadonlyMap<string, Promise<void>>;

export function createCatchUp(parts: CatchUpParts): CatchUp {
  const sessions = new Map<number, PromiseWithResolvers<Readings>>();
  const running = new Set<Promise<unknown>>();
  return {
    sessionBegan(shardId) {
      const before = sessions.get(shardId);
      const next = Promise.withResolvers<Readings>();
      sessions.set(shardId, next);
      // What waited for a session that was lost again waits for this one.
      if (before !== undefined) next.promise.then(before.resolve, before.reject);
    },
    guildsKnown(shardId) {
      const session = sessions.get(shardId);
      const reading = readMissed(parts, shardId).then(
        ({ readings, done }) => {
          session?.resolve(readings);
          return done;
        },
        (error: unknown) => {
          parts.log.error('Missed messages could not be looked for', { cause: describe(error) });
          session?.resolve(new Map());
        },
      );
      running.add(reading);
      reading.finally(() => running.delete(reading)).catch(() => undefined);
    },
    async passed(channelId, shardId) {
      const readings = await sessions.get(shardId)?.promise;
      await readings?.get(channelId);
    },
    async drained() {
      // A session that never came to its servers is over.
      for (const session of sessions.values()) session.resolve(new Map());
      await Promise.all(running);
    },
  };
}

interface Reading {
  readonly readings: Readings;
  readonly done: Promise<void>;
}

async function readMissed(parts: CatchUpParts, shardId: number): Promise<Reading> {
  const all = await parts.sink.cursors(PLATFORM);
  const ours = all.filter(({ conversation }) => {
    const place = placeOfKey(conversation);
    return place.bot === parts.bot && parts.places.shardOf(place.guildId) === shardId;
  });
  const newestFirst = ours.toSorted((one, other) => other.at - one.at);
  const limit = createLimit(SIDE_BY_SIDE);
  const readings = new Map(
    newestFirst.map((cursor) => [
      targetOf(placeOfKey(cursor.conversation)),
      limit(() => readConversation(parts, cursor)),
    ]),
  );
  const done = Promise.all(readings.values()).then(() => parts.audiences.review(ours));
  return { readings, done };
}

async function readConversation(parts: CatchUpParts, cursor: Cursor): Promise<void> {
  const place = placeOfKey(cursor.conversation);
  if (parts.settings.catch_up.messages === 0 || !servesPlace(parts.settings, place)) return;
  if (!mayHaveMissed(parts, cursor, place)) return;
  try {
    const missed = await fetchPatiently(parts, targetOf(place), cursor.externalId);
    for (const message of missed) await takeMissed(parts, place, message);
    if (missed.length > 0) {
      parts.log.info('Read what was missed', { conversation: cursor.conversation, messages: missed.length });
    }
  } catch (error) {
    parts.log.warn('Missed messages could not be read', { conversation: cursor.conversation, cause: describe(error) });
  }
}

/** Discord tells the newest message of the channels of a server, but not of direct messages. */
function mayHaveMissed({ places, settings, clock }: CatchUpParts, cursor: Cursor, place: KeyPlace): boolean {
  const newest = place.guildId === null ? null : places.newestMessage(targetOf(place));
  if (newest === null) return true;
  return isNewer(newest, cursor.externalId) && clock.now() - timeOf(newest) <= settings.catch_up.hours * HOUR_MS;
}

async function takeMissed(parts: CatchUpParts, { guildId }: KeyPlace, message: WireMessage): Promise<void> {
  const { hours, answer_minutes: minutes } = parts.settings.catch_up;
  const ageMs = parts.clock.now() - Date.parse(message.timestamp);
  if (parts.signal.aborted || ageMs > hours * HOUR_MS) return;
  const whole = guildId === null ? message : { ...message, guild_id: guildId };
  await parts.take(whole, { isPast: ageMs > minutes * MINUTE_MS });
}

/** What is not read now is not read at all once a newer message was stored. */
async function fetchPatiently(parts: CatchUpParts, channelId: string, after: string): Promise<readonly WireMessage[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchMissed(parts, channelId, after);
    } catch (error) {
      const isGone = [403, 404].includes(statusOf(error) ?? 0);
      if (isGone || attempt === ATTEMPTS || parts.signal.aborted) throw error;
      await parts.clock.sleep(PAUSE_MS * attempt, { signal: parts.signal }).catch(() => undefined);
    }
  }
}

/** In the order of time. Of more than the bound, the newest. */
async function fetchMissed(parts: CatchUpParts, channelId: string, after: string): Promise<readonly WireMessage[]> {
  const first = await fetchPage(parts, channelId, { after });
  if (first.length < PAGE) return inOrder(first);
  const bound = parts.settings.catch_up.messages;
  const found: WireMessage[] = [];
  for (let before: string | null = null; found.length < bound; ) {
    const page: readonly WireMessage[] = await fetchPage(parts, channelId, before === null ? {} : { before });
    const newer = page.filter(({ id }) => isNewer(id, after));
    found.push(...newer);
    before = inOrder(page)[0]?.id ?? null;
    if (newer.length < PAGE || before === null) return inOrder(found).slice(-bound);
  }
  parts.log.warn('More was missed than is read; the oldest is left out', { channelId, read: bound });
  return inOrder(found).slice(-bound);
}

async function fetchPage(
  { rest, signal }: CatchUpParts,
  channelId: string,
  range: { readonly after?: string; readonly before?: string },
): Promise<readonly WireMessage[]> {
  const query = new URLSearchParams({ limit: String(PAGE), ...range });
  return messagesSchema.parse(await rest.get(Routes.channelMessages(channelId), { query, signal }));
}

function inOrder(messages: readonly WireMessage[]): readonly WireMessage[] {
  return messages.toSorted((one, other) => (isNewer(one.id, other.id) ? 1 : -1));
}

/** Runs at most so many pieces of work at a time. */
function createLimit(most: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let active = 0;
  return async (work) => {
    if (active >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    active += 1;
    try {
      await work();
    } finally {
      active -= 1;
      waiting.shift()?.();
    }
  };
}
