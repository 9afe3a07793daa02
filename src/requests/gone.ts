import type { Entry, Part } from '../domain/message.ts';
import type { Conversation } from '../ports/store.ts';
import { MINUTE_MS } from '../util/time/time.ts';

/** Why something that the model saw is not shown again. */
export type Gone =
  /** Forgotten, deleted on the platform, or expired. */
  | 'deleted'
  /** The model saw an earlier version. */
  | 'edited'
  /** It came before the last reset. */
  | 'reset'
  /** This place may not read it (any more). */
  | 'hidden'
  /** It was never kept, because an engine or a hook of a plugin made it. */
  | 'unknown';

const TEXTS: Readonly<Record<Gone, string>> = {
  deleted: '(deleted since)',
  edited: '(edited since; the model saw an earlier version)',
  reset: '(from before the last reset)',
  hidden: '(not readable here)',
  unknown: '(not kept: a plugin made this part)',
};

export function goneText(reason: Gone): string {
  return TEXTS[reason];
}

/** Which entries no longer are what the model saw. */
export interface EntryChanges {
  readonly conversation: Pick<Conversation, 'contextFrom'>;
  /** Seqs of entries that changed after the request. */
  readonly changed: ReadonlySet<number>;
}

export function goneEntry(entry: Entry, { conversation, changed }: EntryChanges): Gone | null {
  if (entry.seq < conversation.contextFrom) return 'reset';
  if (!changed.has(entry.seq)) return null;
  return entry.redactedAt === null ? 'edited' : 'deleted';
}

interface QuotedFrom {
  /** The other conversation; null if it is gone. */
  readonly other: Pick<Conversation, 'contextFrom'> | null;
  /** The first of its entries that may be read; null for none. */
  readonly fromSeq: number | null;
  readonly minute: number;
}

/** The same for an entry of another conversation. */
export function goneElsewhere(entry: Entry | null, { other, fromSeq, minute }: QuotedFrom): Gone | null {
  if (entry === null || other === null || entry.redactedAt !== null) return 'deleted';
  if (entry.seq < other.contextFrom) return 'reset';
  if (fromSeq === null || entry.seq < fromSeq) return 'hidden';
  return entry.editedAt !== null && entry.editedAt >= minute * MINUTE_MS ? 'edited' : null;
}

/** The entry with a remark in place of its content. */
export function withoutContent(entry: Entry, reason: Gone): Entry {
  const text = goneText(reason);
  const parts = entry.parts.flatMap((part): readonly Part[] =>
    part.kind === 'tool-result' ? [{ ...part, text }] : [],
  );
  const spoken: readonly Part[] = entry.role === 'tool' ? parts : [{ kind: 'text', text }];
  return { ...entry, parts: spoken, editedAt: null, redactedAt: null };
}
