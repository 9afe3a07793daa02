import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Statement, Tables } from '../../../adapters/stores/sql/index.ts';
import { createReadGiven } from '../../../adapters/stores/sql/memories/provenance.ts';
import type { ConversationRow } from '../../../adapters/stores/sql/schema/tables.ts';
import type { MemoryId } from '../../../src/adapter-kit.ts';
import { HERE, THERE } from '../../contracts/store-kit.ts';

/** Checks memories that may all be read and are all noted, and counts the queries. */
function openGiven() {
  const database = new Database(':memory:');
  const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  let mark: string | null = 'first';
  let unnoted = '';
  let queries = 0;
  const readGiven = createReadGiven({ query, memoryMark: () => mark });
  const rows = async ({ parameters }: Statement) => {
    queries += 1;
    const ids = [...new Set(parameters)].filter((value) => /^y\d+$/u.test(String(value)));
    return ids.map((id) => ({ id, isReadable: 1, readIn: id === unnoted ? null : 1, saidIn: null })) as never;
  };
  const transaction = { rows, run: async () => 0 };
  return {
    /** How many queries it takes. */
    async ask(numbers: readonly number[], over: Partial<ConversationRow> = {}) {
      const row = { id: 1, place: HERE, audience: 'public', present_audience: null, ...over } as ConversationRow;
      const before = queries;
      const given = await readGiven(
        transaction,
        row,
        numbers.map((number) => `y${number}` as MemoryId),
      );
      expect(given).toEqual({
        isWithdrawn: false,
        unnoted: numbers.map((n) => `y${n}`).filter((id) => id === unnoted),
      });
      return queries - before;
    },
    setMark(changed: string | null) {
      mark = changed;
    },
    setUnnoted(id: string) {
      unnoted = id;
    },
    [Symbol.dispose]: () => void database.close(),
  };
}

describe('memories that a turn is given', () => {
  it('are checked once until any memory changes', async () => {
    using given = openGiven();
    expect([await given.ask([1, 2]), await given.ask([2]), await given.ask([2, 3]), await given.ask([1, 3])]).toEqual([
      1, 0, 1, 0,
    ]);
    given.setMark('second');
    expect([await given.ask([1]), await given.ask([2]), await given.ask([1, 2])]).toEqual([1, 1, 0]);
    given.setMark('first');
    expect(await given.ask([1])).toBe(1);
  });

  it('are always checked on an engine without a mark', async () => {
    using given = openGiven();
    given.setMark(null);
    expect([await given.ask([1]), await given.ask([1])]).toEqual([1, 1]);
  });

  it('are checked for each conversation, place and audience', async () => {
    using given = openGiven();
    const rows = [
      { id: 2 },
      { present_audience: 'dm' },
      { audience: 'private' },
      { place: THERE },
      { present_audience: 'dm', audience: 'private' },
    ] as const;
    await given.ask([1]);
    for (const over of rows) {
      // The last one that was asked about a conversation is remembered.
      await given.ask([1]);
      expect([await given.ask([1], over), await given.ask([1], over)]).toEqual([1, 0]);
    }
  });

  it('are checked again while they are not noted', async () => {
    using given = openGiven();
    given.setUnnoted('y1');
    expect([await given.ask([1, 2]), await given.ask([1]), await given.ask([2])]).toEqual([1, 1, 0]);
  });

  it('are remembered for the newest of 500 conversations', async () => {
    using given = openGiven();
    for (let id = 1; id <= 500; id += 1) await given.ask([1], { id });
    expect(await given.ask([1], { id: 1 })).toBe(0);
    await given.ask([1], { id: 501 });
    expect([await given.ask([1], { id: 100 }), await given.ask([1], { id: 1 })]).toEqual([0, 1]);
  });

  it('are remembered up to 100 in a conversation', async () => {
    using given = openGiven();
    for (let number = 1; number <= 100; number += 1) await given.ask([number]);
    expect(await given.ask([1, 100])).toBe(0);
    await given.ask([101, 1]);
    expect([await given.ask([1, 101]), await given.ask([2])]).toEqual([0, 1]);
    const many = Array.from({ length: 150 }, (_, index) => index);
    expect([await given.ask(many), await given.ask(many)]).toEqual([1, 0]);
  });
});
