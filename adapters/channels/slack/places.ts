import type { Audience, Clock } from '../../../src/adapter-kit.ts';
import { isDirect } from './place.ts';
import { mentionedIds, type Names } from './text.ts';
import { isPassing } from './web.ts';
import { channelSchema, userSchema, type WireChannel, type WireMessage, type WireUser } from './wire.ts';
import { within } from './within.ts';
import type { Workspace } from './workspace.ts';

/** What Slack tells of people and channels, kept for an hour. */
export interface Places {
  user(id: string): Promise<WireUser | null>;
  channel(id: string): Promise<WireChannel | null>;
  /** Drops what is known of a channel, so that the next access looks it up. */
  forget(channelId: string): void;
  /** Names of all that a message mentions. */
  namesFor(message: WireMessage): Promise<Names>;
}

const KEPT_MS = 3_600_000;
/** A message waits no longer for a name. */
const LOOKUP_MS = 800;
const MOST = 20;
const MAX_KEPT = 10_000;

export function createPlaces({ web, userId }: Workspace, clock: Clock): Places {
  const user = createCache(clock, async (id) => userSchema.parse((await web.users.info({ user: id })).user));
  const channel = createCache(clock, async (id) =>
    channelSchema.parse((await web.conversations.info({ channel: id })).channel),
  );
  return {
    user: user.get,
    channel: channel.get,
    forget: channel.drop,
    async namesFor(message) {
      const text = wordsOf(message);
      const people = [...mentionedIds(text), ...idsIn(text, 'user_id')].filter((id) => id !== userId).slice(0, MOST);
      const channels = [...channelIds(text), ...idsIn(text, 'channel_id')].slice(0, MOST);
      const [users, places, own] = await Promise.all([
        collect(people, user.get),
        collect(channels, channel.get),
        user.get(userId),
      ]);
      return {
        user: (id) => nameOf((id === userId ? own : users.get(id)) ?? null),
        channel: (id) => places.get(id)?.name ?? null,
      };
    },
  };
}

/** Everything of a message that may hold ids, as one text. */
function wordsOf({ text, blocks, attachments }: WireMessage): string {
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

export function nameOf(user: WireUser | null): string | null {
  if (user === null) return null;
  return user.profile?.display_name || user.real_name || user.profile?.real_name || user.name || null;
}

/** Who can read a place. A channel shared with another workspace is no public place. */
export function audienceOf(channel: WireChannel): Audience {
  if (channel.is_im || (isDirect(channel.id, null) && !channel.is_mpim)) return 'dm';
  const isShared = channel.is_ext_shared || channel.is_pending_ext_shared;
  return channel.is_mpim || channel.is_private || isShared ? 'private' : 'public';
}

interface Cache<Value> {
  get(id: string): Promise<Value | null>;
  drop(id: string): void;
}

/** Null for what Slack does not tell, or not in time. */
function createCache<Value>(clock: Clock, load: (id: string) => Promise<Value>): Cache<Value> {
  const known = new Map<string, { readonly value: Promise<Value | null>; readonly until: number }>();
  const fetch = (id: string): Promise<Value | null> => {
    const again = (error: unknown) => (isPassing(error) ? load(id) : Promise.reject(error));
    const value = load(id)
      .catch(again)
      .catch(() => {
        // Asked again the next time; until then the id stands for the name.
        known.delete(id);
        return null;
      });
    if (known.size >= MAX_KEPT) known.clear();
    known.set(id, { value, until: clock.now() + KEPT_MS });
    return value;
  };
  return {
    async get(id) {
      const kept = known.get(id);
      const value = kept !== undefined && kept.until > clock.now() ? kept.value : fetch(id);
      return await within(clock, LOOKUP_MS, value);
    },
    drop: (id) => known.delete(id),
  };
}
