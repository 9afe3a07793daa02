import { type Audience, type Clock, createRecentMap, type HeardBy, HOUR_MS } from '../../../../src/adapter-kit.ts';
import { createAllowance } from '../../shared/allowance.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import { within } from '../../shared/within.ts';
import { mentionedIds, type Names } from '../text.ts';
import { isPassing } from '../web/web.ts';
import type { Workspace } from '../web/workspace.ts';
import { channelSchema, userSchema, type WireChannel, type WireMessage, type WireUser } from '../wire.ts';
import { isDirect } from './place.ts';

/** Slack's data about people and channels, cached for an hour. Null if Slack does not return it in time. */
export interface Places {
  user(id: string, wanted?: Wanted): Promise<WireUser | null>;
  channel(id: string, wanted?: Wanted): Promise<WireChannel | null>;
  /** Drops the cached data of a channel, so that the next access requests it. */
  forget(channelId: string): void;
  /** The same for all channels. */
  forgetChannels(): void;
  /** Names of the people and public channels that a message mentions, and of the channel that it is in. */
  namesFor(message: Mentioning, channelId: string): Promise<Names>;
}

type Mentioning = Partial<Pick<WireMessage, 'text' | 'blocks' | 'attachments'>>;

interface Wanted {
  /** By default an hour. */
  readonly maxAgeMs?: number;
  /** How long to wait for Slack; by default as long as a message waits for a name. */
  readonly waitMs?: number;
  /** Called before Slack is asked; false if it must not be. */
  readonly mayAsk?: () => boolean;
}

const KEPT_MS = HOUR_MS;
/** How long a message waits for a name. */
const LOOKUP_MS = 800;
const MAX_NAMES = 20;
/**
 * How many people and channels are looked up in a minute because somebody names them, half of what Slack answers.
 * Otherwise one member could use up the lookups of those who speak, of whom some are then taken for outsiders.
 */
const NAMED_PER_MINUTE = { people: 50, channels: 25 } as const;
const MAX_KEPT = 10_000;

interface Asking {
  readonly clock: Clock;
  /** Aborted when the bot stops. */
  readonly signal: AbortSignal;
}

export function createPlaces({ web, userId }: Workspace, asking: Asking): Places {
  const user = createCache(asking, async (id) => userSchema.parse((await web.users.info({ user: id })).user));
  const channel = createCache(asking, async (id) =>
    channelSchema.parse((await web.conversations.info({ channel: id })).channel),
  );
  const mayAskFor = {
    person: createAllowance(asking.clock, NAMED_PER_MINUTE.people),
    channel: createAllowance(asking.clock, NAMED_PER_MINUTE.channels),
  };
  return {
    user: user.get,
    channel: channel.get,
    forget: channel.drop,
    forgetChannels: channel.clear,
    async namesFor(message, channelId) {
      const text = wordsOf(message);
      const people = [...mentionedIds(text), ...idsIn(text, 'user_id')]
        .filter((id) => id !== userId)
        .slice(0, MAX_NAMES);
      const channels = [...channelIds(text), ...idsIn(text, 'channel_id')].slice(0, MAX_NAMES);
      const [users, places, own] = await Promise.all([
        collect(people, (id) => user.get(id, { mayAsk: mayAskFor.person })),
        collect(channels, (id) => channel.get(id, { mayAsk: mayAskFor.channel })),
        user.get(userId),
      ]);
      return {
        user: (id) => nameOf((id === userId ? own : users.get(id)) ?? null),
        channel: (id) => (id === channelId ? (places.get(id)?.name ?? null) : publicName(places.get(id))),
      };
    },
  };
}

/** All texts of a message that may contain ids, joined. */
function wordsOf({ text, blocks, attachments }: Mentioning): string {
  return `${text ?? ''} ${JSON.stringify(blocks ?? [])} ${JSON.stringify(attachments ?? [])}`;
}

const ID_FIELDS = { user_id: /"user_id":"([A-Z0-9]+)"/g, channel_id: /"channel_id":"([A-Z0-9]+)"/g };

function idsIn(text: string, field: 'user_id' | 'channel_id'): readonly string[] {
  return [...new Set(Array.from(text.matchAll(ID_FIELDS[field]), ([, id = '']) => id))];
}

function channelIds(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(/<#([A-Z0-9]+)[|>]/g), ([, id = '']) => id))];
}

async function collect<Value>(
  ids: readonly string[],
  get: (id: string) => Promise<Value | null>,
): Promise<ReadonlyMap<string, Value>> {
  const found = await Promise.all(ids.map(async (id) => [id, await get(id)] as const));
  return new Map(found.flatMap(([id, value]) => (value === null ? [] : [[id, value] as const])));
}

/** Anybody may write the id of a private channel, whose name is not for everybody. */
function publicName(channel: WireChannel | undefined): string | null {
  return channel !== undefined && audienceOf(channel) === 'public' ? (channel.name ?? null) : null;
}

export function nameOf(user: WireUser | null): string | null {
  if (user === null) return null;
  return user.profile?.display_name || user.real_name || user.profile?.real_name || user.name || null;
}

/**
 * Whether a person is from another workspace. In an organization, `home` may be the organization itself, or another one
 * of their workspaces.
 */
export function isForeign(
  user: WireUser | null,
  { home, own }: { readonly home: string | null | undefined; readonly own: string },
): boolean {
  if (user?.is_stranger === true) return true;
  const teams = user?.enterprise_user?.teams ?? [];
  return teams.length > 0 ? !teams.includes(own) : Boolean(home) && home !== own;
}

/**
 * Who can read a channel. What an event shows applies before what is known of the channel: of several processes, Slack
 * tells only one that it turned private. A channel that Slack does not describe in time counts as private.
 */
export async function heardIn(
  places: Pick<Places, 'channel'>,
  {
    id,
    type,
    isDoubtful = async () => false,
  }: {
    readonly id: string;
    /** According to the event; null if it does not show it. */
    readonly type: string | null | undefined;
    /** Whether a public channel may no longer be public. */
    readonly isDoubtful?: () => Promise<boolean>;
  },
): Promise<HeardBy> {
  if (isDirect(id, type)) return { audience: 'dm' };
  if (PRIVATE_TYPES.has(type ?? '')) return { audience: 'private' };
  const channel = await newestOf(places, id, isDoubtful);
  return channel === null ? { audience: 'private', isAudienceAssumed: true } : { audience: audienceOf(channel) };
}

/** Somebody who is missing from the workspace's directory must not cost a request for each message. */
const MIN_AGE_MS = 10_000;

/** Looked up again if it is public and in doubt. */
async function newestOf(
  places: Pick<Places, 'channel'>,
  id: string,
  isDoubtful: () => Promise<boolean>,
): Promise<WireChannel | null> {
  const channel = await places.channel(id);
  const mayHaveChanged = channel !== null && audienceOf(channel) === 'public' && (await isDoubtful());
  return mayHaveChanged ? await places.channel(id, { maxAgeMs: MIN_AGE_MS }) : channel;
}

/** Only such channels have these types. */
const PRIVATE_TYPES = new Set(['group', 'mpim']);

/** Who can read a place. A channel shared with another workspace is not public. */
export function audienceOf(channel: WireChannel): Audience {
  if (channel.is_im || (isDirect(channel.id, null) && !channel.is_mpim)) return 'dm';
  const isShared = channel.is_ext_shared || channel.is_pending_ext_shared || channel.is_org_shared;
  return channel.is_mpim || channel.is_private || isShared ? 'private' : 'public';
}

interface Cache<Value> {
  get(id: string, wanted?: Wanted): Promise<Value | null>;
  drop(id: string): void;
  clear(): void;
}

interface Kept<Value> {
  answer: Promise<Value | null>;
  askedAt: number;
  /** Used while Slack does not respond. Null before the first response. */
  last: Value | null;
}

/** Null for what Slack has never returned. */
function createCache<Value>({ clock, signal }: Asking, load: (id: string) => Promise<Value>): Cache<Value> {
  const known = createRecentMap<string, Kept<Value>>(MAX_KEPT);
  const ask = (id: string, last: Value | null): Kept<Value> => {
    const again = (error: unknown) => (isPassing(error) && !signal.aborted ? load(id) : Promise.reject(error));
    const answer = load(id)
      .catch(again)
      .then(
        (value) => {
          kept.last = value;
          return value;
        },
        () => {
          // Requested again the next time.
          kept.askedAt = Number.NEGATIVE_INFINITY;
          return kept.last;
        },
      );
    const kept: Kept<Value> = { answer, askedAt: clock.now(), last };
    known.set(id, kept);
    return kept;
  };
  return {
    async get(id, { maxAgeMs = KEPT_MS, waitMs = LOOKUP_MS, mayAsk = () => true } = {}) {
      const found = known.get(id);
      const isFresh = found !== undefined && elapsedMs(clock, found.askedAt) < maxAgeMs;
      if (!isFresh && !mayAsk()) return found?.last ?? null;
      const kept = isFresh ? found : ask(id, found?.last ?? null);
      return (await within(clock, waitMs, kept.answer)) ?? kept.last;
    },
    drop: (id) => known.delete(id),
    clear: () => known.clear(),
  };
}
