import { type Kysely, sql } from 'kysely';
import type { Memory, MemoryReader } from '../../../src/adapter-kit.ts';
import {
  createShapes,
  type Parameter,
  prepare,
  readableBy,
  type SqlEngine,
  selectSources,
  type Tables,
  type Transaction,
  toMemories,
} from '../sql/index.ts';
import { FEW_MEMORIES } from './few-memories.ts';
import type { MemoryWatch } from './memory-watch.ts';

/**
 * Of the cached memories: their characters, and what else a memory and each of its sources takes in characters. With
 * their index, a few megabytes.
 */
const MAX_WEIGHT = 500_000;
const MEMORY_WEIGHT = 400;
const SOURCE_WEIGHT = 100;
/** Of each reader, so that few are kept: with more, a bot with a thousand active places needs some megabytes more. */
const READER_WEIGHT = 20_000;
/** Readers known to have more. */
const MAX_CROWDED = 10_000;

interface Kept {
  readonly mark: string;
  /** The same array until a text changes, so that what is derived from the texts can be kept with it. */
  readonly memories: Memory[];
  readonly places: ReadonlyMap<string, number>;
  readonly weight: number;
}

interface ActiveMemoriesOptions {
  readonly query: Kysely<Tables>;
  readonly memoryMark: () => string;
  /** The mark of what is committed. Null if that cannot be told without waiting. */
  readonly restingMark: () => string | null;
  readonly watch: Pick<MemoryWatch, 'onRecall'>;
}

export interface ActiveMemories {
  readonly read: SqlEngine['activeMemories'];
  readonly known: SqlEngine['knownMemories'];
}

/** Reads a reader's active memories once for all queries between two changes of memories. */
export function createActiveMemories(options: ActiveMemoriesOptions): ActiveMemories {
  const { query, memoryMark, restingMark, watch } = options;
  const statementsFor = createShapes(
    ({ audience, sharePublic }: MemoryReader) => `${audience} ${sharePublic}`,
    (reader) => prepareActive(query, reader),
  );
  const kept = createKept();
  const crowded = new Set<string>();
  watch.onRecall((id, counted) => {
    for (const { memories, places } of kept.all()) {
      const at = places.get(id);
      const memory = at === undefined ? undefined : memories[at];
      if (at !== undefined && memory !== undefined) memories[at] = Object.freeze({ ...memory, ...counted });
    }
  });
  return {
    async read(transaction, reader) {
      const key = keyOf(reader);
      if (crowded.has(key)) return null;
      const mark = memoryMark();
      const known = kept.get(key);
      if (known?.mark === mark) return known.memories;
      const own = await readFew(transaction, statementsFor(reader), reader);
      if (own === null) {
        kept.remove(key);
        if (crowded.size >= MAX_CROWDED) crowded.clear();
        crowded.add(key);
        return null;
      }
      const places = new Map(own.map(({ id }, at) => [id, at]));
      const weight = own.reduce((sum, memory) => sum + weightOf(memory), READER_WEIGHT);
      kept.set(key, { mark, memories: own, places, weight });
      return own;
    },
    known(reader) {
      const known = kept.get(keyOf(reader));
      return known !== undefined && known.mark === restingMark() ? known.memories : null;
    },
  };
}

function keyOf({ place, workspace, agentId, audience, sharePublic }: MemoryReader): string {
  return JSON.stringify([place, workspace, agentId, audience, sharePublic]);
}

function weightOf({ text, sources }: Memory): number {
  return MEMORY_WEIGHT + text.length + sources.length * SOURCE_WEIGHT;
}

/** Null if there are more than a few. */
async function readFew(
  transaction: Transaction,
  { few, sources }: ReturnType<typeof prepareActive>,
  { place, workspace, agentId }: MemoryReader,
): Promise<Memory[] | null> {
  const reader = { place, workspace, agentId };
  const rows = await transaction.rows(few(reader));
  if (rows.length > FEW_MEMORIES) return null;
  return toMemories(rows, await transaction.rows(sources(reader))).map(frozen);
}

/** Callers share it: what one of them changed would be read by all later turns. */
function frozen(memory: Memory): Memory {
  for (const source of memory.sources) Object.freeze(source);
  Object.freeze(memory.sources);
  Object.freeze(memory.extractedBy);
  return Object.freeze(memory);
}

/** The memories of the readers that asked last. */
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

type ReaderParameters = Pick<MemoryReader, 'place' | 'workspace' | 'agentId'>;

function prepareActive(query: Kysely<Tables>, { audience, sharePublic }: MemoryReader) {
  const active = (p: Parameter<ReaderParameters>) => {
    const reader = { place: p('place'), workspace: p('workspace'), agentId: p('agentId'), audience, sharePublic };
    return query.selectFrom('memory').where(readableBy(reader)).where('state', '=', 'active');
  };
  return {
    /** One more than a few, to detect that there are more. */
    few: prepare((p: Parameter<ReaderParameters>) =>
      active(p)
        .selectAll()
        .limit(sql.lit(FEW_MEMORIES + 1)),
    ),
    sources: prepare((p: Parameter<ReaderParameters>) =>
      selectSources(query, active(p).select('memory.id').$asScalar()),
    ),
  };
}
