import {
  type Author,
  type Conversation,
  type Entry,
  type Memory,
  type MemorySource,
  type Part,
  type PostRow,
  type Summary,
  textOf,
} from '../../../../src/adapter-kit.ts';
import { readAuthors, readCalibration, readExtractedBy, readLost, readParts, readPostBody } from '../query/json.ts';
import type { ConversationRow, MemoryRow, OutboxRow, ReadEntryRow, SummaryRow } from '../schema/tables.ts';

/** Converts rows to domain objects. Pure. */

export function toConversation(row: ConversationRow): Conversation {
  return {
    id: row.id,
    key: row.key,
    audience: row.present_audience ?? row.audience,
    tightestAudience: row.audience,
    audienceFrom: row.present_from,
    nextSeq: row.next_seq,
    compactedUpto: row.compacted_upto,
    contextFrom: row.context_from,
    extractedUpto: row.extracted_upto,
    replyDueSeq: row.reply_due_seq,
    replyDueFrom: row.reply_due_from,
    answeredUpto: row.answered_upto,
    revision: row.revision,
    replyEpoch: row.reply_epoch,
    replyUntil: row.reply_until,
    maintenanceEpoch: row.maintenance_epoch,
    maintenanceUntil: row.maintenance_until,
    maintainAt: row.maintain_at,
    failures: row.failures,
    nextAttemptAt: row.next_attempt_at,
    lastError: row.last_error,
    calibration: readCalibration(row.calibration),
    createdAt: row.created_at,
    lastActivityAt: row.last_activity_at,
    heard: row.heard_id === null || row.heard_at === null ? null : { externalId: row.heard_id, at: row.heard_at },
  };
}

export function toAuthor(row: Pick<ReadEntryRow, 'author_id' | 'author_name' | 'author_kind'>): Author | null {
  if (row.author_id === null || row.author_kind === null) return null;
  return { id: row.author_id, name: row.author_name ?? '', kind: row.author_kind };
}

export function toEntry(row: ReadEntryRow): Entry {
  return {
    seq: row.seq,
    externalId: row.external_id,
    role: row.role,
    turn: row.turn,
    author: toAuthor(row),
    parts: readParts(row.parts),
    replyTo: row.reply_to,
    mentions: readAuthors(row.mentions),
    tokens: row.tokens,
    at: row.at,
    editedAt: row.edited_at,
    redactedAt: row.redacted_at,
    wantsReply: row.wants_reply === 1,
  };
}

export function toSummary(row: SummaryRow): Summary {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    level: row.level,
    kind: row.kind,
    fromSeq: row.from_seq,
    toSeq: row.to_seq,
    text: row.text,
    tokens: row.tokens,
    model: row.model,
    promptHash: row.prompt_hash,
    stale: row.stale === 1,
    supersededBy: row.superseded_by,
    createdAt: row.created_at,
    lost: readLost(row.lost),
  };
}

export function toMemory(row: MemoryRow, sources: readonly MemorySource[]): Memory {
  return {
    id: row.id,
    agentId: row.agent_id,
    kind: row.kind,
    text: row.text,
    importance: row.importance,
    confidence: row.confidence,
    scope: row.scope,
    place: row.place,
    workspace: row.workspace,
    audience: row.audience,
    subjectId: row.subject_id,
    subjectName: row.subject_name,
    trust: row.trust,
    state: row.state,
    pinned: row.pinned === 1,
    validFrom: row.valid_from,
    validUntil: row.valid_until,
    supersededBy: row.superseded_by,
    recallCount: row.recall_count,
    lastRecalledAt: row.last_recalled_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    fingerprint: row.fingerprint,
    extractedBy: readExtractedBy(row.extracted_by),
    sources,
  };
}

export function toPost(row: OutboxRow): PostRow {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    turn: row.turn,
    chunk: row.chunk,
    nonce: row.nonce,
    body: row.body === null ? { kind: 'text', text: '' } : readPostBody(row.body),
    replyTo: row.reply_to,
    state: row.state,
    attempts: row.attempts,
    reason: row.reason,
    platformMessageId: row.platform_message_id,
    ...(row.unasked_at === null ? {} : { unaskedAt: row.unasked_at }),
  };
}

/** The searchable text of an entry: messages, file names, tool results. Notices are not searched. */
export function searchableText(role: Entry['role'], parts: readonly Part[]): string {
  if (role === 'notice') return '';
  const besides = parts.flatMap((part) =>
    part.kind === 'attachment' ? [part.name] : part.kind === 'tool-result' ? [part.text] : [],
  );
  const text = textOf(parts);
  return besides.length === 0 ? text : [text, ...besides].join('\n');
}
