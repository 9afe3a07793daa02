import { type CatchingUp, type Cursor, HOUR_MS } from '../../../../src/adapter-kit.ts';
import { servesPlace } from '../places/access.ts';
import { PLATFORM, placeOfKey, targetOf } from '../places/place.ts';
import type { Places } from '../places/places.ts';
import { isNewer, isSnowflake, snowflakeAt, timeOf } from '../wire.ts';
import { type Backlog, readBacklog } from './backlog.ts';
import type { CatchUpContext } from './catch-up-context.ts';

/** Each costs a request; more would exhaust Discord's limits for most of an hour. */
const MAX_HEARD_PLACES = 10_000;
/** How many places without stored messages are read, newest first. */
const MAX_NEW_PLACES = 100;
/** For this long a message may still be on its way to the store while a newer one of another place is stored. */
const MARGIN_MS = 300_000;

/** What is read: a whole shard, or one server that became available later. */
export interface Scope {
  readonly shardId: number;
  /** Null for the whole shard, direct messages included. */
  readonly guildId: string | null;
}

export function isIn(places: Places, { shardId, guildId }: Scope, of: string | null): boolean {
  return guildId === null ? places.shardOf(of) === shardId : of === guildId;
}

/** By channel. Each runs once, when its turn comes or when a live message waits for it; it never rejects. */
export type Readings = ReadonlyMap<string, Reading>;

export interface Reading {
  /** The message after which it begins. */
  readonly after: string;
  read(): Promise<void>;
  /** Live messages no longer wait for it. */
  isLate: boolean;
}

/**
 * Conversations with messages in the last `hours` before the newest stored message, newest first. Older conversations
 * are read only if Discord reports newer messages.
 */
export async function heardLately(context: CatchUpContext, scope: Scope): Promise<readonly Cursor[]> {
  const ours: Cursor[] = [];
  for await (const cursor of context.sink.conversations.heard(PLATFORM, context.settings.catch_up.hours * HOUR_MS)) {
    const { bot, guildId } = placeOfKey(cursor.conversation);
    if (bot !== context.bot || !isSnowflake(cursor.externalId) || !isIn(context.places, scope, guildId)) continue;
    if (ours.length < MAX_HEARD_PLACES) ours.push(cursor);
    else {
      context.log.warn('Only the newest conversations are checked for missed messages', { read: MAX_HEARD_PLACES });
      break;
    }
  }
  return ours;
}

export interface Plan {
  readonly scope: Scope;
  readonly ours: readonly Cursor[];
  readonly unread: ReadonlyMap<string, string>;
  readonly owed: CatchingUp;
  /** The newest message stored when the session began; null if there was none. */
  readonly heardUpto: string | null;
  /** Then: the newest message when the bot first connected; null if this is the first time. */
  readonly connectedAfter: string | null;
}

export function newestOf(cursors: readonly Cursor[]): string | null {
  return cursors.reduce<string | null>(
    (one, { externalId }) => (one === null || isNewer(externalId, one) ? externalId : one),
    null,
  );
}

/**
 * First conversations with an owed reply, then recent ones, newest first; then channels and threads without stored
 * messages.
 */
export function planReadings(context: CatchUpContext, { scope, ours, unread, owed, ...plan }: Plan): Readings {
  const rank = ({ owesReply }: Cursor) => Number(owesReply);
  const newestFirst = ours.toSorted((one, other) => rank(other) - rank(one) || other.at - one.at);
  const known = newestFirst.map(
    (cursor): Backlog => ({ place: placeOfKey(cursor.conversation), after: cursor.externalId, cursor }),
  );
  const isKnown = new Set(known.map(({ place }) => targetOf(place)));
  const since = sinceOf(plan);
  const unheard = (since === null ? [] : context.places.activeSince(scope.shardId, since))
    .filter(({ place }) => isIn(context.places, scope, place.guildId) && !isKnown.has(targetOf(place)))
    .slice(0, MAX_NEW_PLACES)
    .map(({ place, since }): Backlog => ({ place, after: since, cursor: null }));
  const due = [...known, ...unheard].filter((backlog) => isDue(context, backlog));
  const left = [...unreadPlaces(context, scope, unread), ...known].flatMap((backlog) => {
    const after = unread.get(targetOf(backlog.place));
    return after !== undefined && isServedStill(context, backlog.place) ? [{ ...backlog, after }] : [];
  });
  // What was left unread starts earlier, and replaces the backlog of the same channel.
  const all = new Map([...due, ...left].map((backlog) => [targetOf(backlog.place), sinceJoined(context, backlog)]));
  const read = async (backlog: Backlog): Promise<void> => {
    await readBacklog(context, backlog);
    if (backlog.cursor !== null) owed.applied(backlog.cursor.conversation);
  };
  return new Map(
    [...all].map(([channelId, backlog]) => [
      channelId,
      { after: backlog.after, read: once(() => read(backlog)), isLate: false },
    ]),
  );
}

/** What was said while the bot was removed from the server was not said to it. */
function sinceJoined({ places }: CatchUpContext, backlog: Backlog): Backlog {
  const joined = backlog.place.guildId === null ? '0' : places.joinedAfter(backlog.place.guildId);
  return isNewer(joined, backlog.after) ? { ...backlog, after: joined } : backlog;
}

/** After which message unstored ones are read; null for none. */
function sinceOf({ heardUpto, connectedAfter }: Pick<Plan, 'heardUpto' | 'connectedAfter'>): string | null {
  return heardUpto === null ? connectedAfter : afterHeard(heardUpto);
}

/** Where to begin in a place of which nothing is stored, if that is the newest message of all. */
export function afterHeard(heardUpto: string): string {
  return snowflakeAt(timeOf(heardUpto) - MARGIN_MS);
}

/** Channels without stored messages. */
function unreadPlaces(
  { places }: CatchUpContext,
  scope: Scope,
  unread: ReadonlyMap<string, string>,
): readonly Backlog[] {
  return [...unread].flatMap(([channelId, after]) => {
    const place = places.peek(channelId);
    const isOurs = place !== null && isIn(places, scope, place.guildId);
    return isOurs ? [{ place, after, cursor: null }] : [];
  });
}

function isServedStill({ places, settings }: CatchUpContext, place: Backlog['place']): boolean {
  const isOff = settings.catch_up.messages === 0 || !servesPlace(settings, place);
  // An unavailable server is read once it is available again.
  return !isOff && (place.guildId === null || places.isAvailable(place.guildId));
}

/** Discord reports the newest message of a server's channels, but not of direct messages. */
function isDue(context: CatchUpContext, { place, after, cursor }: Backlog): boolean {
  const { places, settings, clock } = context;
  const { guildId } = place;
  if (!isServedStill(context, place)) return false;
  const isLate = (at: number) => clock.now() - at > settings.catch_up.hours * HOUR_MS;
  // Recently stored messages may have been edited or deleted.
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
