import { MINUTE_MS, type ProvenanceStore, type StateStore, type Store } from '../../../src/adapter-kit.ts';
import { createBlobs } from './blobs.ts';
import { skipWhileRunning } from './coalesce.ts';
import { createConversationRows } from './conversation-rows.ts';
import { createConversations } from './conversations.ts';
import type { SqlEngine } from './engine.ts';
import { createEntryRows } from './entry-rows.ts';
import { createErasure, type Erasure } from './erasure.ts';
import { createJournal, createState } from './journal.ts';
import { createMemories } from './memories.ts';
import { createOutbox } from './outbox.ts';
import { createProvenance } from './provenance.ts';
import { createReadyRows } from './ready-summaries.ts';
import { createScrubSoon } from './scrub-soon.ts';
import { createSummaries } from './summaries.ts';
import { createSummaryRows } from './summary-rows.ts';
import { createTranscript } from './transcript.ts';

export { applyMigrations, isComplete, isForeign, type MigratedTables, occupied } from './apply-migrations.ts';
export { createArchive } from './archive.ts';
export { indexAll, transactionOf } from './archive-index.ts';
export { coalesce, skipWhileRunning } from './coalesce.ts';
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
} from './engine.ts';
export { type Parameter, prepare, writeAheadOf } from './engine.ts';
export { indexed } from './entry-rows.ts';
export { identityOf } from './identity.ts';
export { readableBy, selectSources, toMemories } from './memory-rows.ts';
export { coreMigrations } from './migrations.ts';
export {
  COUNTED_ROWS,
  DEFAULT_STATES,
  type Hit,
  inverseFrequency,
  LENGTH_SHARE,
  type Match,
  RANKED_ROWS,
  SATURATION,
  score,
} from './ranking.ts';
export { createShapes, named, placeholders } from './shapes.ts';
export type { MemoryRow, Tables } from './tables.ts';
export { FEW_ROWS, onShelf, type QueryWord, queryTerms, queryWords, shelfOf, stemsOf, wordsOnShelf } from './words.ts';

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
