import { z } from 'zod';
import type { Clock, Log, StateStore } from '../../../src/adapter-kit.ts';
import { isDirect } from './place.ts';

/**
 * Slack can give a channel another id. Its conversations keep their keys, with the first id; only events and calls are
 * translated, so nothing stored has to move.
 */
export interface ChannelIds {
  /** The id in the keys of the channel's conversations. */
  first(id: string): Promise<string>;
  /** The id that Slack knows now. */
  current(id: string): Promise<string>;
  /** Every id under which messages of the channel may be stored, and the channel's first id at the beginning. */
  all(id: string): Promise<readonly string[]>;
  /** Later events and calls use the new id, also after a restart and in other processes. */
  changed(change: { readonly from: string; readonly to: string }): Promise<void>;
}

const NAMESPACE = 'slack.channels';
const rowSchema = z.object({ ids: z.array(z.string()), current: z.string() });
type Row = z.infer<typeof rowSchema>;

/** For this long, a process may not know of a change that another one has stored. */
const FRESH_MS = 60_000;
const MAX_KNOWN = 5_000;

export interface ChannelIdsOptions {
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly teamId: string;
}

export function createChannelIds({ state, clock, log, teamId }: ChannelIdsOptions): ChannelIds {
  const known = new Map<string, { readonly row: Row; readonly readAt: number }>();
  const keyOf = (id: string) => `${teamId}:${id}`;
  const remember = (id: string, row: Row): Row => {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(id, { row, readAt: clock.now() });
    return row;
  };
  let changing: Promise<unknown> = Promise.resolve();
  /** Shared, because events that wait for the same query stay in their order. */
  const queries = new Map<string, Promise<Row>>();
  const query = async (id: string): Promise<Row> => {
    const found = known.get(id);
    const row = rowSchema.safeParse(await state.get(NAMESPACE, keyOf(id))).data ?? { ids: [id], current: id };
    // A change that was learned during the query is newer.
    const newest = known.get(id);
    return newest === undefined || newest === found ? remember(id, row) : newest.row;
  };
  const read = async (id: string): Promise<Row> => {
    const found = known.get(id);
    if (found !== undefined && clock.now() - found.readAt < FRESH_MS) return found.row;
    const running = queries.get(id) ?? query(id).finally(() => queries.delete(id));
    queries.set(id, running);
    return await running;
  };
  /** A message right behind a change finds its conversation. */
  const rowOf = async (id: string): Promise<Row> => {
    await changing;
    return await read(id);
  };
  const learn = async (change: { readonly from: string; readonly to: string }): Promise<Row> => {
    const row = withChange(await read(change.from), change);
    for (const id of row.ids) remember(id, row);
    return row;
  };
  return {
    async first(id) {
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
    async changed(change) {
      const learned = changing.then(() => learn(change));
      changing = learned.catch(() => undefined);
      const row = await learned;
      log.info('A Slack channel has another id; the configuration still uses the first one', {
        first: row.ids[0] ?? change.from,
        current: row.current,
      });
      for (const id of row.ids) await state.set(NAMESPACE, keyOf(id), row);
    },
  };
}

/** A redelivered change that is older than the newest one changes nothing. */
function withChange(row: Row, { from, to }: { readonly from: string; readonly to: string }): Row {
  if (row.ids.includes(to) && row.current !== from) return row;
  return { ids: [...new Set([...row.ids, from, to])], current: to };
}

/** A direct message that becomes a group has other readers, so the group begins conversations of its own. */
function isAlike(one: string, other: string): boolean {
  return isDirect(one, null) === isDirect(other, null);
}
