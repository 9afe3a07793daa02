import { z } from 'zod';
import { type Clock, createRecentMap, type Log, type StateStore } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import { createMovedChannels, type MovedChannelsOptions } from './moved-channels.ts';
import { isDirect } from './place.ts';

/**
 * Slack can give a channel another id. Its conversations keep their keys, with the first id; only events and calls are
 * translated, so nothing stored has to move.
 */
export interface ChannelIds {
  /** The id in the keys of the channel's conversations. `saidAt`: of a message under this id, in seconds. */
  first(id: string, saidAt?: number): Promise<string>;
  /** The id that Slack knows now. */
  current(id: string): Promise<string>;
  /** Every id under which messages of the channel may be stored, and the channel's first id at the beginning. */
  all(id: string): Promise<readonly string[]>;
  /** The new id of a channel that Slack no longer finds under this one; null if the channel is gone. */
  moved(id: string): Promise<string | null>;
  /** Later events and calls use the new id, also after a restart and in other processes. */
  changed(change: IdChange): Promise<void>;
}

export interface IdChange {
  readonly from: string;
  readonly to: string;
  /** When it happened, in seconds; null if Slack does not provide it. */
  readonly at: number | null;
}

const NAMESPACE = 'slack.channels';
const rowSchema = z.object({
  ids: z.array(z.string()),
  current: z.string(),
  /** When it became the current one, in seconds; 0 if unknown. */
  since: z.number().default(0),
});
type Row = z.infer<typeof rowSchema>;

/** For this long, a process may not know of a change that another one has stored. */
const FRESH_MS = 60_000;
const MAX_KNOWN = 5_000;

export interface ChannelIdsOptions extends Omit<MovedChannelsOptions, 'idsOf'> {
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
}

export function createChannelIds({ state, clock, log, teamId, ...asking }: ChannelIdsOptions): ChannelIds {
  const rows = createRows({ state, clock, teamId });
  let changing: Promise<unknown> = Promise.resolve();
  /** A message right behind a change finds its conversation. */
  const rowOf = async (id: string): Promise<Row> => {
    await changing;
    return await rows.read(id);
  };
  const movedChannels = createMovedChannels({ ...asking, teamId, idsOf: async (id) => (await rowOf(id)).ids });
  const search = createShared(async (id, saidAt: number | undefined) => {
    const from = await movedChannels.from(id);
    // Slack's own time, because later changes are compared with it.
    if (from !== null) await changed({ from, to: id, at: saidAt ?? clock.now() / 1000 });
  });
  const learn = async (change: IdChange): Promise<Row> =>
    rows.remember(withChange(await rows.read(change.from), await rows.read(change.to), change));
  const changed = async (change: IdChange): Promise<void> => {
    const learned = changing.then(() => learn(change));
    changing = learned.catch(() => undefined);
    const row = await learned;
    log.info('A Slack channel has a new id; keep its first id in the configuration', {
      first: row.ids[0] ?? change.from,
      current: row.current,
    });
    await rows.store(row);
  };
  return {
    async first(id, saidAt) {
      if ((await rowOf(id)).ids.length === 1) await search(id, saidAt);
      const { ids } = await rowOf(id);
      return ids.find((one) => isAlike(one, id)) ?? id;
    },
    async current(id) {
      const { current } = await rowOf(id);
      return isAlike(current, id) ? current : id;
    },
    async all(id) {
      const { ids } = await rowOf(id);
      return [...new Set([ids.find((one) => isAlike(one, id)) ?? id, id, ...ids])];
    },
    async moved(id) {
      const to = await movedChannels.to(id);
      if (to !== null) await changed({ from: id, to, at: clock.now() / 1000 });
      return to;
    },
    changed,
  };
}

/** The rows by id, read again after a minute. */
function createRows({ state, clock, teamId }: Pick<ChannelIdsOptions, 'state' | 'clock' | 'teamId'>) {
  const known = createRecentMap<string, { readonly row: Row; readonly readAt: number }>(MAX_KNOWN);
  const keyOf = (id: string) => `${teamId}:${id}`;
  const keep = (id: string, row: Row): Row => {
    known.set(id, { row, readAt: clock.now() });
    return row;
  };
  const query = createShared(async (id): Promise<Row> => {
    const found = known.get(id);
    const stored = rowSchema.safeParse(await state.get(NAMESPACE, keyOf(id))).data;
    // A change that arrived during the query is newer.
    const newest = known.get(id);
    return newest === undefined || newest === found
      ? keep(id, stored ?? { ids: [id], current: id, since: 0 })
      : newest.row;
  });
  return {
    async read(id: string): Promise<Row> {
      const found = known.get(id);
      if (found !== undefined && elapsedMs(clock, found.readAt) < FRESH_MS) return found.row;
      return await query(id);
    },
    remember(row: Row): Row {
      for (const id of row.ids) keep(id, row);
      return row;
    },
    async store(row: Row): Promise<void> {
      for (const id of row.ids) await state.set(NAMESPACE, keyOf(id), row);
    },
  };
}

/** Work that runs once for all its callers, so that events that wait for the same answer keep their order. */
function createShared<Result, Given extends unknown[]>(
  work: (id: string, ...given: Given) => Promise<Result>,
): (id: string, ...given: Given) => Promise<Result> {
  const running = new Map<string, Promise<Result>>();
  return (id, ...given) => {
    const shared = running.get(id) ?? work(id, ...given).finally(() => running.delete(id));
    running.set(id, shared);
    return shared;
  };
}

/** Changes may arrive late and in any order: an older one only adds ids, and the newest one sets the current id. */
function withChange(before: Row, after: Row, { from, to, at }: IdChange): Row {
  const ids = [...new Set([...before.ids, from, to, ...after.ids])];
  const newest = after.since > before.since ? after : before;
  const since = at ?? newest.since;
  const isRepeated = newest.ids.includes(to) && newest.current !== from;
  const isNewer = since > newest.since || (since === newest.since && !isRepeated);
  return isNewer ? { ids, current: to, since } : { ids, current: newest.current, since: newest.since };
}

/** A direct message that becomes a group has other readers, so the group begins conversations of its own. */
function isAlike(one: string, other: string): boolean {
  return isDirect(one, null) === isDirect(other, null);
}
