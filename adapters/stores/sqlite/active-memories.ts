import type { Kysely } from 'kysely';
import type { MemoryReader } from '../../../src/adapter-kit.ts';
import { type MemoryRow, type Parameter, prepare, readableBy, type SqlEngine, type Tables } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { FEW_MEMORIES } from './few-memories.ts';
import type { MemoryWatch } from './memory-watch.ts';

/** Readers whose rows are cached; the queries of one turn come in quick succession. */
const MAX_KEPT = 16;
/** Readers known to have more. */
const MAX_CROWDED = 10_000;

interface Kept {
  readonly mark: string;
  /** The same array until a text changes, so that what is derived from the texts can be kept with it. */
  readonly rows: MemoryRow[];
}

/** Reads a reader's active memories once for all queries between two changes of memories. */
export function createActiveMemories(
  query: Kysely<Tables>,
  connection: Pick<Connection, 'mark'>,
  watch: MemoryWatch,
): SqlEngine['activeMemories'] {
  const statements = createStatements(query);
  const kept = new Map<string, Kept>();
  const crowded = new Set<string>();
  watch.onRecall((id, counted) => {
    for (const reader of kept.values()) {
      const at = reader.rows.findIndex((row) => row.id === id);
      const row = reader.rows[at];
      if (row !== undefined) reader.rows[at] = { ...row, ...counted };
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
      kept.delete(key);
      if (crowded.size >= MAX_CROWDED) crowded.clear();
      crowded.add(key);
      return null;
    }
    if (kept.size >= MAX_KEPT) kept.clear();
    const own = [...rows];
    kept.set(key, { mark, rows: own });
    return own;
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
