import { type CatchingUp, type ConversationKey, type Cursor, describe } from '../../../../src/adapter-kit.ts';
import { servesPlace } from '../access.ts';
import { PLATFORM, placeOfKey, targetOf } from '../place.ts';
import { withRetries } from '../retry.ts';
import { isNewer, isSnowflake, snowflakeAt, timeOf } from '../wire.ts';
import type { CatchUpContext } from './catch-up-context.ts';
import { readStint, type Stint } from './stint.ts';

const SIDE_BY_SIDE = 4;
/** Each costs a request: more of them would keep Discord's limits busy for most of an hour. */
const MAX_HEARD_PLACES = 10_000;
const HOUR_MS = 3_600_000;
/** Places without a kept message that are looked into, the newest ones. */
const MAX_NEW_PLACES = 100;
/** A message may have been on its way to the store for so long while a newer one of another place was stored. */
const MARGIN_MS = 300_000;

/**
 * After a lost session or a restart, reads over REST what was said, edited and deleted in between, from the newest stored
 * message of each conversation on. What arrives live waits until its channel is done, so that the order holds.
 */
export interface CatchUp {
  /** A session has begun: messages of the shard wait from now on. */
  sessionBegan(shardId: number): void;
  /** The servers of the session are known: reads what was missed. */
  guildsKnown(shardId: number): void;
  passed(channelId: string, shardId: number): Promise<void>;
  drained(): Promise<void>;
}

/** By channel. Each is done once, when its turn comes or when something live waits for it; it never rejects. */
type Readings = ReadonlyMap<string, () => Promise<void>>;

interface Session extends PromiseWithResolvers<Readings> {
  /** Replies owed from before wait for it. */
  readonly owed: CatchingUp;
}

export function createCatchUp(parts: CatchUpContext): CatchUp {
  const sessions = new Map<number, Session>();
  const running = new Set<Promise<unknown>>();
  return {
    sessionBegan(shardId) {
      const before = sessions.get(shardId);
      const owed = parts.sink.catchingUp((conversation) => isRead(parts, shardId, conversation));
      const next = { ...Promise.withResolvers<Readings>(), owed };
      sessions.set(shardId, next);
      if (before === undefined) return;
      // What waited for a session that was lost again waits for this one.
      next.promise.then(before.resolve, before.reject);
      before.owed.end();
    },
    guildsKnown(shardId) {
      const session = sessions.get(shardId);
      if (session === undefined) return;
      const reading = readMissed(parts, shardId, session)
        .catch((error: unknown) => {
          parts.log.error('Missed messages could not be looked for', { cause: describe(error) });
          session.resolve(new Map());
        })
        .finally(session.owed.end);
      running.add(reading);
      reading.finally(() => running.delete(reading)).catch(() => undefined);
    },
    async passed(channelId, shardId) {
      const readings = await sessions.get(shardId)?.promise;
      await readings?.get(channelId)?.();
    },
    async drained() {
      // A session that never came to its servers is over.
      for (const session of sessions.values()) session.resolve(new Map());
      await Promise.all(running);
    },
  };
}

/** Whether catching up on the shard looks for changes in the conversation. */
function isRead(
  { bot: own, places, settings }: CatchUpContext,
  shardId: number,
  conversation: ConversationKey,
): boolean {
  if (settings.catch_up.messages === 0 || !conversation.startsWith(`${PLATFORM}:`)) return false;
  const { bot, guildId } = placeOfKey(conversation);
  return bot === own && places.shardOf(guildId) === shardId;
}

async function readMissed(parts: CatchUpContext, shardId: number, session: Session): Promise<void> {
  const ours = await withRetries(parts, 'looked for', () => heardLately(parts, shardId));
  // First of all: what is read below may not be shown wider than it is now.
  await withRetries(parts, 'closed', () => parts.audiences.review(shardId));
  const unread = await withRetries(parts, 'looked for', () => parts.unread.list());
  const readings = planReadings(parts, { shardId, ours, unread, owed: session.owed });
  session.resolve(readings);
  const waiting = readings.values();
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => workOff(parts, waiting)));
  await parts.leaving?.review(shardId, ours);
}

/**
 * The shard's conversations in which something was said in the last `hours` before the newest message that is kept, the
 * newest first: whoever was silent for longer is looked at only where Discord tells that something was said since.
 */
async function heardLately(parts: CatchUpContext, shardId: number): Promise<readonly Cursor[]> {
  const ours: Cursor[] = [];
  for await (const cursor of parts.sink.conversations.heard(PLATFORM, parts.settings.catch_up.hours * HOUR_MS)) {
    const { bot, guildId } = placeOfKey(cursor.conversation);
    if (bot !== parts.bot || !isSnowflake(cursor.externalId) || parts.places.shardOf(guildId) !== shardId) continue;
    if (ours.length < MAX_HEARD_PLACES) ours.push(cursor);
    else {
      parts.log.warn('Only the newest conversations are checked for missed messages', { read: MAX_HEARD_PLACES });
      break;
    }
  }
  return ours;
}

async function workOff({ signal }: CatchUpContext, waiting: Iterable<() => Promise<void>>): Promise<void> {
  for (const read of waiting) {
    if (signal.aborted) return;
    await read();
  }
}

interface Plan {
  readonly shardId: number;
  readonly ours: readonly Cursor[];
  readonly unread: ReadonlyMap<string, string>;
  readonly owed: CatchingUp;
}

/**
 * Where a reply is owed, then where something was said lately, the newest first; then channels and threads in which
 * nothing was heard before.
 */
function planReadings(parts: CatchUpContext, { shardId, ours, unread, owed }: Plan): Readings {
  const rank = ({ owesReply }: Cursor) => Number(owesReply);
  const newestFirst = ours.toSorted((one, other) => rank(other) - rank(one) || other.at - one.at);
  const known = newestFirst.map(
    (cursor): Stint => ({ place: placeOfKey(cursor.conversation), after: cursor.externalId, cursor }),
  );
  const isKnown = new Set(known.map(({ place }) => targetOf(place)));
  const newest = ours.reduce((one, { externalId }) => (isNewer(externalId, one) ? externalId : one), '0');
  const others = newest === '0' ? [] : parts.places.activeSince(shardId, snowflakeAt(timeOf(newest) - MARGIN_MS));
  const unheard = others
    .filter(({ place }) => !isKnown.has(targetOf(place)))
    .slice(0, MAX_NEW_PLACES)
    .map(({ place, since }): Stint => ({ place, after: since, cursor: null }));
  const due = [...known, ...unheard].filter((stint) => isDue(parts, stint));
  const left = [...unreadPlaces(parts, shardId, unread), ...known].flatMap((stint) => {
    const after = unread.get(targetOf(stint.place));
    return after !== undefined && isServedStill(parts, stint.place) ? [{ ...stint, after }] : [];
  });
  // What was left unread begins earlier, and replaces the stint of the same channel.
  const all = new Map([...due, ...left].map((stint) => [targetOf(stint.place), stint]));
  const read = async (stint: Stint): Promise<void> => {
    await readStint(parts, stint);
    if (stint.cursor !== null) owed.applied(stint.cursor.conversation);
  };
  return new Map([...all].map(([channelId, stint]) => [channelId, once(() => read(stint))]));
}

/** Of channels in which nothing was kept. */
function unreadPlaces(
  { places }: CatchUpContext,
  shardId: number,
  unread: ReadonlyMap<string, string>,
): readonly Stint[] {
  return [...unread].flatMap(([channelId, after]) => {
    const place = places.peek(channelId);
    const isOurs = place !== null && places.shardOf(place.guildId) === shardId;
    return isOurs ? [{ place, after, cursor: null }] : [];
  });
}

function isServedStill({ places, settings }: CatchUpContext, place: Stint['place']): boolean {
  const isOff = settings.catch_up.messages === 0 || !servesPlace(settings, place);
  return !isOff && (place.guildId === null || places.isIn(place.guildId));
}

/** Discord tells the newest message of the channels of a server, but not of direct messages. */
function isDue(parts: CatchUpContext, { place, after, cursor }: Stint): boolean {
  const { places, settings, clock } = parts;
  const { guildId } = place;
  if (!isServedStill(parts, place)) return false;
  const isLate = (at: number) => clock.now() - at > settings.catch_up.hours * HOUR_MS;
  // What was kept lately may have been edited or deleted.
  if (cursor !== null && !isLate(cursor.at)) return true;
  const newest = guildId === null ? null : places.newestMessage(targetOf(place));
  return newest === null || (isNewer(newest, after) && !isLate(timeOf(newest)));
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
