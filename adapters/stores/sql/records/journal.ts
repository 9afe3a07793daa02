import type { Kysely, Selectable } from 'kysely';
import type { Journal, StateStore } from '../../../../src/adapter-kit.ts';
import { first } from '../query/engine.ts';
import { readJson, readRun, writeJson } from '../query/json.ts';
import { createConversationState } from '../rows/conversation-state.ts';
import { createRequestLog } from '../rows/requests.ts';
import type { Shared } from '../rows/shared.ts';
import type { Tables } from '../schema/tables.ts';
import { createCacheLog } from './cache-losses.ts';
import { createUsage } from './usage.ts';

const KEPT_RUNS = 100;

export function createJournal(shared: Pick<Shared, 'engine' | 'conversations'>): Journal {
  const { engine } = shared;
  const { query } = engine;
  const usage = createUsage(engine);
  const newest = (conversationId: number, limit: number) =>
    query
      .selectFrom('maintenance_run')
      .where('conversation_id', '=', conversationId)
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit);
  return {
    addUsage: (conversationId, rows) =>
      engine.write(async (tx) => {
        if ((await shared.conversations.lock(tx, conversationId)) === null) return;
        await usage.add(tx, conversationId, rows);
      }),
    usage: (conversationId) => engine.read((tx) => usage.totals(tx, conversationId)),
    spending: (asked) => engine.read((tx) => usage.spending(tx, asked)),
    addRun: (run, revision) =>
      engine.write(async (tx) => {
        const { id, conversationId, startedAt } = run;
        const read = await shared.conversations.lock(tx, conversationId);
        if (read === null) return;
        const isLate = read.changed_revision > revision;
        const kept = isLate ? { ...run, error: null } : run;
        const row = { id, conversation_id: conversationId, started_at: startedAt, run: writeJson(kept) };
        const insertion = query.insertInto('maintenance_run').values(row);
        await tx.run(insertion.onConflict((conflict) => conflict.column('id').doUpdateSet({ run: row.run })).compile());
        const newer = newest(conversationId, KEPT_RUNS).select('id');
        const others = query.deleteFrom('maintenance_run').where('conversation_id', '=', conversationId);
        await tx.run(others.where('id', 'not in', newer).compile());
      }),
    runs: (conversationId, limit) =>
      engine.read(async (tx) => {
        const rows = await tx.rows(newest(conversationId, limit).select('run').compile());
        return rows.map((row) => readRun(row.run));
      }),
    requests: createRequestLog(engine),
    cache: createCacheLog(shared),
  };
}

export function createState(shared: Pick<Shared, 'engine' | 'conversations'>): StateStore {
  const { engine } = shared;
  const { query } = engine;
  const own = (namespace: string, key: string) =>
    query.selectFrom('state').where('namespace', '=', namespace).where('key', '=', key);
  return {
    get: (namespace, key) =>
      engine.read(async (tx) => {
        const row = await first(tx, own(namespace, key).select('value').compile());
        return row === null ? undefined : readJson(row.value);
      }),
    async set(namespace, key, value) {
      const row = { namespace, key, value: writeJson(value) };
      const insertion = query.insertInto('state').values(row);
      const upsert = insertion.onConflict((conflict) =>
        conflict.columns(['namespace', 'key']).doUpdateSet({ value: row.value }),
      );
      await engine.write((tx) => tx.run(upsert.compile()));
    },
    async delete(namespace, key) {
      const own = query.deleteFrom('state').where('namespace', '=', namespace).where('key', '=', key);
      await engine.write((tx) => tx.run(own.compile()));
    },
    swap: (namespace, key, { from, to }) =>
      engine.write(async (tx) => {
        const before = { namespace, key, value: from === undefined ? '' : writeJson(from) };
        const row = { namespace, key, value: to === undefined ? '' : writeJson(to) };
        if (from !== undefined) return (await tx.run(swapOf(query, before, to === undefined ? null : row))) > 0;
        if (to === undefined) return (await first(tx, own(namespace, key).select('value').compile())) === null;
        const insertion = query.insertInto('state').values(row);
        return (await tx.run(insertion.onConflict((conflict) => conflict.doNothing()).compile())) > 0;
      }),
    list: (namespace) =>
      engine.read(async (tx) => {
        const own = query.selectFrom('state').select(['key', 'value']).where('namespace', '=', namespace);
        const rows = await tx.rows(own.orderBy('key').compile());
        return rows.map((row) => ({ key: row.key, value: readJson(row.value) }));
      }),
    of: (conversationId) => createConversationState(shared, conversationId),
  };
}

type StateRow = Selectable<Tables['state']>;

/** Replaces or deletes the row if it still has this value. */
function swapOf(query: Kysely<Tables>, { namespace, key, value }: StateRow, to: StateRow | null) {
  if (to === null) {
    const deletion = query.deleteFrom('state').where('namespace', '=', namespace).where('key', '=', key);
    return deletion.where('value', '=', value).compile();
  }
  const update = query.updateTable('state').set({ value: to.value }).where('namespace', '=', namespace);
  return update.where('key', '=', key).where('value', '=', value).compile();
}
