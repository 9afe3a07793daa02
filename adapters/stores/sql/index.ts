import type { ProvenanceStore, StateStore, Store } from '../../../src/adapter-kit.ts';
import { createBlobs } from './blobs.ts';
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

export { applyMigrations, type MigratedTables } from './apply-migrations.ts';
export { createArchive } from './archive.ts';
export { indexAll, transactionOf } from './archive-index.ts';
export type {
  EngineIndex,
  IndexedEntry,
  IndexedMemory,
  SqlEngine,
  Statement,
  TextIndex,
  Transaction,
  Unit,
} from './engine.ts';
export { type Parameter, prepare } from './engine.ts';
export { indexed } from './entry-rows.ts';
export { readableBy } from './memory-rows.ts';
export { coreMigrations } from './migrations.ts';
export { type Hit, inverseFrequency, type Match, score } from './ranking.ts';
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
  resume(erasure, engine).catch(() => undefined);
  const store = {
    conversations: createConversations(shared),
    transcript: createTranscript(shared),
    summaries: createSummaries(shared),
    memories: createMemories(shared),
    outbox: createOutbox(engine),
    blobs: createBlobs(shared),
    journal: createJournal(shared),
    async close() {
      await shared.soon.close();
      await engine.close();
    },
  };
  return { store, state: createState(shared), provenance: createProvenance(shared) };
}

/** In the background, because it may take long. What fails is tried again at the next start. */
async function resume(erasure: Erasure, engine: SqlEngine): Promise<void> {
  if (await erasure.resume()) await engine.scrub();
}
