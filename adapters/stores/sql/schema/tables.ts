import type { Generated, Selectable } from 'kysely';
import type {
  Audience,
  BlobId,
  ConversationKey,
  MemoryId,
  MemoryKind,
  MemoryState,
  PostRow,
  Role,
  SummaryId,
  Trust,
} from '../../../../src/adapter-kit.ts';
import type {
  CacheLossTable,
  LastRequestTable,
  MaintenanceRunTable,
  RequestLinkTable,
  RequestPartTable,
  UsageTable,
} from './record-tables.ts';

/** Times are epoch milliseconds, booleans 0 or 1, and structured values JSON text: the same on every engine. */
export interface Tables {
  conversation: ConversationTable;
  entry: EntryTable;
  summary: SummaryTable;
  ready_summary: ReadySummaryTable;
  memory: MemoryTable;
  memory_source: MemorySourceTable;
  memory_event: MemoryEventTable;
  memory_reading: MemoryReadingTable;
  tombstone: TombstoneTable;
  held: HeldTable;
  outbox: OutboxTable;
  blob: BlobTable;
  usage: UsageTable;
  cache_loss: CacheLossTable;
  last_request: LastRequestTable;
  request_part: RequestPartTable;
  request_link: RequestLinkTable;
  maintenance_run: MaintenanceRunTable;
  state: StateTable;
  conversation_state: ConversationStateTable;
}

interface ConversationTable {
  id: Generated<number>;
  key: ConversationKey;
  /** The key without its thread, used to find conversations that share memories. */
  place: string;
  /** The narrowest audience so far. */
  audience: Audience;
  /** Since the entry `present_from`; null if it never differed from `audience`. */
  present_audience: Audience | null;
  present_from: Generated<number>;
  next_seq: number;
  compacted_upto: Generated<number>;
  context_from: number;
  extracted_upto: Generated<number>;
  reply_due_seq: Generated<number>;
  /** Seq of the message that caused the current owed reply: set at append if none was owed, and kept while one is. */
  reply_due_from: Generated<number>;
  answered_upto: Generated<number>;
  revision: Generated<number>;
  /** `revision` after the last change that deleted or edited text that turns and jobs have read. */
  changed_revision: Generated<number>;
  reply_epoch: Generated<number>;
  reply_until: number | null;
  maintenance_epoch: Generated<number>;
  maintenance_until: number | null;
  /** `revision` when the maintenance claim began; later changes are missing from what the job has read. */
  maintenance_revision: Generated<number>;
  maintain_at: number | null;
  /** Work became due while a job ran, so the end of the job must not clear `maintain_at`. */
  maintain_again: Generated<number>;
  failures: Generated<number>;
  next_attempt_at: number | null;
  last_error: string | null;
  calibration: string | null;
  created_at: number;
  last_activity_at: number;
  /** The newest message of a person, by seq, and its time: where catching up starts. */
  heard_id: string | null;
  heard_at: number | null;
}
export type ConversationRow = Selectable<ConversationTable>;

interface EntryTable {
  conversation_id: number;
  seq: number;
  external_id: string | null;
  role: Role;
  turn: number | null;
  author_id: string | null;
  author_name: string | null;
  author_kind: 'person' | 'bot' | null;
  parts: string;
  reply_to: string | null;
  mentions: string;
  tokens: number;
  at: number;
  edited_at: number | null;
  redacted_at: number | null;
  /** The conversation's revision after the last edit or redaction. */
  changed_revision: number | null;
  /** What the request of a reply was built from. */
  request: string | null;
  /** 1 if it asked for a reply. */
  wants_reply: number;
  /** JSON: what edits added to it; null for nothing. */
  added: string | null;
}
export type EntryRow = Selectable<EntryTable>;
/** An entry as it is read, without what only changes need, such as the note of a request. */
export type ReadEntryRow = Omit<EntryRow, 'conversation_id' | 'changed_revision' | 'request' | 'added'>;

interface SummaryTable {
  id: SummaryId;
  conversation_id: number;
  level: number;
  kind: 'summary' | 'gap';
  from_seq: number;
  to_seq: number;
  text: string;
  tokens: number;
  model: string | null;
  prompt_hash: string | null;
  stale: number;
  superseded_by: SummaryId | null;
  created_at: number;
  /** JSON; null for nothing. */
  lost: string | null;
}
export type SummaryRow = Selectable<SummaryTable>;

/** A summary that waits for a cheap moment to replace its messages in the view. */
type ReadySummaryTable = Omit<SummaryTable, 'kind' | 'stale' | 'superseded_by'>;
export type ReadySummaryRow = Selectable<ReadySummaryTable>;

interface MemoryTable {
  id: MemoryId;
  agent_id: string;
  kind: MemoryKind;
  text: string;
  importance: number;
  confidence: number;
  scope: 'place' | 'global';
  place: string;
  workspace: string;
  audience: Audience;
  subject_id: string | null;
  subject_name: string | null;
  trust: Trust;
  state: MemoryState;
  pinned: number;
  valid_from: number;
  valid_until: number | null;
  superseded_by: MemoryId | null;
  recall_count: number;
  last_recalled_at: number | null;
  created_at: number;
  updated_at: number;
  fingerprint: string;
  extracted_by: string | null;
  /** JSON: what edits added to it; null for nothing. */
  added: string | null;
}
export type MemoryRow = Selectable<MemoryTable>;

interface MemorySourceTable {
  memory_id: MemoryId;
  conversation_id: number;
  seq: number;
}

interface MemoryEventTable {
  id: Generated<number>;
  memory_id: MemoryId;
  kind: string;
  at: number;
  actor: string;
  detail: string;
}
export type MemoryEventRow = Selectable<MemoryEventTable>;

/** Records that a reply in the conversation was given a memory from elsewhere. */
interface MemoryReadingTable {
  memory_id: MemoryId;
  conversation_id: number;
  /** Entries up to this one were written before. */
  from_seq: number;
}

/** A sentence that a placeholder replaces in the entry's text. */
interface HeldTable {
  id: string;
  conversation_id: number;
  seq: number;
  text: string;
  about_id: string;
  about_name: string;
  at: number;
}
export type HeldRow = Selectable<HeldTable>;

/** A forgotten statement. Only its fingerprint is kept, so that extraction cannot bring it back. */
interface TombstoneTable {
  place: string;
  fingerprint: string;
  at: number;
}

interface OutboxTable {
  id: Generated<number>;
  conversation_id: number;
  turn: number;
  /** The entry that the post shows; null if the turn stored none. */
  entry_seq: number | null;
  chunk: number;
  nonce: string;
  /** Emptied once the post is sent; the entry contains the text. */
  body: string | null;
  reply_to: string | null;
  state: PostRow['state'];
  attempts: number;
  platform_message_id: string | null;
  reason: string | null;
  /** Until then, the posting process is considered alive. */
  held_until: Generated<number>;
  /** When it was committed, for a post that answers no message; null for a reply. */
  unasked_at: number | null;
}
export type OutboxRow = Selectable<OutboxTable>;

interface BlobTable {
  id: BlobId;
  conversation_id: number;
  text: string;
  created_at: number;
}

/** Small values of one conversation, such as the last failure. */
interface ConversationStateTable {
  conversation_id: number;
  name: string;
  value: string;
  /** The value may repeat what people said. */
  may_quote: Generated<number>;
}

interface StateTable {
  namespace: string;
  key: string;
  value: string;
}
