import { MINUTE_MS, type ProvenanceStore, type StateStore, type Store } from '../../../src/adapter-kit.ts';
import { createConversations } from './conversations/conversations.ts';
import { createTranscript } from './conversations/transcript.ts';
import { createMemories } from './memories/memories.ts';
import { createProvenance } from './memories/provenance.ts';
import { skipWhileRunning } from './query/coalesce.ts';
import type { SqlEngine } from './query/engine.ts';
import { createBlobs } from './records/blobs.ts';
import { createJournal, createState } from './records/journal.ts';
import { createOutbox } from './records/outbox.ts';
import { createSummaries } from './records/summaries.ts';
import { createConversationRows } from './rows/conversation-rows.ts';
import { createEntryRows } from './rows/entry-rows.ts';
import { createErasure, type Erasure } from './rows/erasure.ts';
import { createReadyRows } from './rows/ready-summaries.ts';
import { createScrubSoon } from './rows/scrub-soon.ts';
import { createSummaryRows } from './rows/summary-rows.ts';

export { createArchive } from './archive/archive.ts';
export { indexAll, transactionOf } from './archive/archive-index.ts';
export {
  applyMigrations,
  isComplete,
  isForeign,
  type MigratedTables,
  occupied,
} from './migrations/apply-migrations.ts';
export { coreMigrations } from './migrations/migrations.ts';
export { coalesce, skipWhileRunning } from './query/coalesce.ts';
export type {
  EngineIndex,
  IndexedEntry,
  IndexedMemory,
  SqlEngine,
  Statement,
  TextIndex,
  Transaction,
  Unit,
  Written,
} from './query/engine.ts';
export { type Parameter, prepare, writeAheadOf } from './query/engine.ts';
export { createShapes, named, placeholders } from './query/shapes.ts';
export { indexed } from './rows/entry-rows.ts';
export { readableBy, selectSources, toMemories } from './rows/memory-rows.ts';
export { identityOf } from './schema/identity.ts';
export type { MemoryRow, Tables } from './schema/tables.ts';
export {
  bestOf,
  COUNTED_ROWS,
  DEFAULT_STATES,
  type Hit,
  inverseFrequency,
  LENGTH_SHARE,
  type Match,
  RANKED_ROWS,
  SATURATION,
  score,
} from './search/ranking.ts';
export {
  FEW_ROWS,
  onShelf,
  type QueryWord,
  queryTerms,
  queryWords,
  shelfOf,
  stemsOf,
  wordsOnShelf,
} from './search/words.ts';

interface SqlStore {
  readonly store: Store;
  readonly state: StateStore;
  readonly provenance: ProvenanceStore;
}

/** The whole store on one SQL engine. A new engine provides its dialect, its transactions and its text index. */
export function createSqlStore(engine: SqlEngine): SqlStore {
  const conversations = createConversationRows(engine);
  const erasure = createErasure({ engine, conversations });
  const shared = {
    engine,
    conversations,
    erasure,
    entries: createEntryRows(engine),
    summaries: createSummaryRows(engine),
    ready: createReadyRows(engine),
    soon: createScrubSoon(engine.scrub),
  };
  const resuming = resumeOften(erasure, engine);
  const store = {
    conversations: createConversations(shared),
    transcript: createTranscript(shared),
    summaries: createSummaries(shared),
    memories: createMemories(shared),
    outbox: createOutbox(engine),
    blobs: createBlobs(shared),
    journal: createJournal(shared),
    async close() {
      resuming.stop();
      await shared.soon.close();
      await engine.close();
    },
  };
  return { store, state: createState(shared), provenance: createProvenance(shared) };
}

const RESUME_INTERVAL_MS = 10 * MINUTE_MS;

/** Now and every ten minutes, in the background: a step may fail, and a process that begins an erasure may die. */
function resumeOften(erasure: Erasure, engine: SqlEngine): { stop(): void } {
  const resume = skipWhileRunning(async () => {
    if (await erasure.resume()) await engine.scrub();
  });
  // What fails is done the next time.
  const attempt = () => void resume().catch(() => undefined);
  attempt();
  const timer = setInterval(attempt, RESUME_INTERVAL_MS).unref();
  return { stop: () => clearInterval(timer) };
}
