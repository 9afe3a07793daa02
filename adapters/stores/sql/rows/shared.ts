import type { SqlEngine } from '../query/engine.ts';
import type { ConversationRows } from './conversation-rows.ts';
import type { EntryRows } from './entry-rows.ts';
import type { Erasure } from './erasure.ts';
import type { ReadyRows } from './ready-summaries.ts';
import type { ScrubSoon } from './scrub-soon.ts';
import type { SummaryRows } from './summary-rows.ts';

/** What the parts of a store share: the engine, and access to the rows that several of them read and write. */
export interface Shared {
  readonly engine: SqlEngine;
  readonly conversations: ConversationRows;
  readonly entries: EntryRows;
  readonly summaries: SummaryRows;
  readonly ready: ReadyRows;
  readonly soon: ScrubSoon;
  readonly erasure: Erasure;
}
