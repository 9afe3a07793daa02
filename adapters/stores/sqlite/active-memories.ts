import type { Kysely } from 'kysely';
import type { MemoryReader } from '../../../src/adapter-kit.ts';
import { type MemoryRow, type Parameter, prepare, readableBy, type SqlEngine, type Tables } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { FEW_MEMORIES } from './few-memories.ts';
import type { MemoryWatch } from './memory-watch.ts';

/** Of the cached rows: their characters, and what else a row takes in characters. With their index, a few megabytes. */
const MAX_WEIGHT = 500_000;
const ROW_WEIGHT = 400;
/** Of each reader, so that few are kept: with more, a bot with a thousand active places needs some megabytes more. */
const READER_WEIGHT = 20_000;
/** Readers known to have more. */
const MAX_CROWDED = 10_000;

interface Kept {
  readonly mark: string;
  /** The same array until a text changes, so that what is derived from the texts can be kept with it. */
  readonly rows: MemoryRow[];
  readonly places: ReadonlyMap<string, number>;
  readonly weight: number;
}

/** Reads a reader's active memories once for all queries between two changes of memories. */
export function createActiveMemories(
  query: Kysely<Tables>,
  connection: Pick<Connection, 'mark'>,
  watch: MemoryWatch,
): SqlEngine['activeMemories'] {
  const statements = createStatements(query);
  const kept = createKept();
  const crowded = new Set<string>();
  watch.onRecall((id, counted) => {
    for (const { rows, places } of kept.all()) {
      const at = places.get(id);
      const row = at === undefined ? undefined : rows[at];
      if (at !== undefined && row !== undefined) rows[at] = { ...row, ...counted };
    }
  });
  return async (transaction, reader) => {
    const { place, workspace, agentId, audience, sharePublic } = reader;
    const key = JSON.stringify([place, workspace, agentId, audience, sharePublic]);
    if (crowded.has(key)) return null;
    const mark = `${connection.mark()} ${watch.changes()}`;
    const known = kept.get(key);
    if (known?.mark === mark) return known.rows;
    const rows = await transaction.rows(statements(reader)({ place, workspace, agentId, limit: FEW_MEMORIES + 1 }));
    if (rows.length > FEW_MEMORIES) {
      kept.remove(key);
      if (crowded.size >= MAX_CROWDED) crowded.clear();
      crowded.add(key);
      return null;
    }
    const own = [...rows];
    const places = new Map(own.map((row, at) => [row.id, at]));
    const weight = own.reduce((sum, { text }) => sum + ROW_WEIGHT + text.length, READER_WEIGHT);
    kept.set(key, { mark, rows: own, places, weight });
    return own;
  };
}

/** The rows of the readers that asked last. */
function createKept() {
  const kept = new Map<string, Kept>();
  let weight = 0;
  const remove = (key: string): Kept | undefined => {
    const known = kept.get(key);
    weight -= known?.weight ?? 0;
    kept.delete(key);
    return known;
  };
  const set = (key: string, value: Kept) => {
    remove(key);
    kept.set(key, value);
    weight += value.weight;
    for (const oldest of kept.keys()) {
      if (weight <= MAX_WEIGHT || oldest === key) break;
      remove(oldest);
    }
  };
  return {
    all: () => kept.values(),
    get(key: string): Kept | undefined {
      const known = kept.get(key);
      if (known === undefined) return undefined;
      kept.delete(key);
      kept.set(key, known);
      return known;
    },
    remove,
    set,
  };
}

type ReaderParameters = Pick<MemoryReader, 'place' | 'workspace' | 'agentId'> & { readonly limit: number };

/** The condition depends on the reader; each shape is built once. */
function createStatements(query: Kysely<Tables>) {
  const made = new Map<string, ReturnType<typeof prepareActive>>();
  return (reader: MemoryReader) => {
    const shape = `${reader.audience} ${reader.sharePublic}`;
    const known = made.get(shape) ?? prepareActive(query, reader);
    made.set(shape, known);
    return known;
  };
}

function prepareActive(query: Kysely<Tables>, { audience, sharePublic }: MemoryReader) {
  return prepare((p: Parameter<ReaderParameters>) => {
    const reader = { place: p('place'), workspace: p('workspace'), agentId: p('agentId'), audience, sharePublic };
    const readable = query.selectFrom('memory').selectAll().where(readableBy(reader));
    return readable.where('state', '=', 'active').limit(p('limit'));
  });
}
