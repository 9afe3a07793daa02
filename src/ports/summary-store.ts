import type { SummaryId } from '../domain/message.ts';
import type { MemoryWrite } from './memory-store.ts';

/**
 * A layer over the entries `[fromSeq, toSeq]`. A `gap` has no text: an emergency cut or a redaction removed it, and a
 * job will fill it.
 */
export interface Summary {
  readonly id: SummaryId;
  readonly conversationId: number;
  /** 0 covers entries, n + 1 covers summaries of level n. */
  readonly level: number;
  readonly kind: 'summary' | 'gap';
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly text: string;
  readonly tokens: number;
  /** Null if no model wrote it. */
  readonly model: string | null;
  /** Hash of the template that asked for it. */
  readonly promptHash: string | null;
  /** An entry below was edited since: still shown, but due to be rewritten. */
  readonly stale: boolean;
  /** The summary that has replaced or condensed it. */
  readonly supersededBy: SummaryId | null;
  readonly createdAt: number;
  /** The entries with specifics that the text leaves out; empty for a gap. */
  readonly lost: LossIndex;
}

/** Details that the view loses unless a summary keeps them exactly. */
export const SPECIFIC_KINDS = ['link', 'path', 'code', 'date', 'number', 'name', 'prohibition', 'promise'] as const;
export type SpecificKind = (typeof SPECIFIC_KINDS)[number];

/** Seqs in ascending order by what their entries say. It holds no text, so nothing in it has to be forgotten. */
export type LossIndex = Readonly<Partial<Record<SpecificKind, readonly number[]>>>;

/** A summary to store. The store sets the rest of its fields. */
export type NewSummary = Omit<Summary, 'conversationId' | 'kind' | 'stale' | 'supersededBy' | 'lost'> & {
  /** Default: nothing is lost. */
  readonly lost?: LossIndex;
};

/** One level-0 summary with the memories of the same answer. All of it is stored, or nothing. */
export interface CompactionCommit {
  readonly conversationId: number;
  /** The epoch of the maintenance claim. */
  readonly epoch: number;
  readonly summary: NewSummary;
  readonly memories: readonly MemoryWrite[];
  /** The watermark before the model call, and its new position; null if no memories were extracted. */
  readonly extracted: { readonly from: number; readonly upto: number } | null;
  /**
   * The revision of the conversation that the job has read. If an entry up to the end of the range was edited or deleted
   * since, the result is stale: the job has also read what is before the range. Default: the revision at the claim.
   */
  readonly seenRevision?: number;
  /** Keeps the summary ready for `publish` instead of changing the stack. Only after the end of the stack. Default false. */
  readonly ready?: boolean;
  /** The valid summary of exactly this range that it replaces. Default: none. */
  readonly rewrites?: SummaryId | null;
  readonly now: number;
}

/** One summary of several summaries. */
export interface CondensationCommit {
  readonly conversationId: number;
  readonly epoch: number;
  readonly summary: NewSummary;
  /** All must still be live, or sources of the summary that it rewrites; otherwise nothing is stored. */
  readonly childIds: readonly SummaryId[];
  /** As in `CompactionCommit`. */
  readonly ready?: boolean;
  /**
   * The valid condensed summary of the same level and range that it replaces; `childIds` are its sources, which become
   * those of the new one. Default: none.
   */
  readonly rewrites?: SummaryId | null;
  readonly now: number;
}

/** The memories of a range of entries. */
export interface ExtractionCommit {
  readonly conversationId: number;
  readonly epoch: number;
  readonly memories: readonly MemoryWrite[];
  readonly extracted: { readonly from: number; readonly upto: number };
  /** As in `CompactionCommit`, but only for entries of the range: a memory says what its sources say. */
  readonly seenRevision?: number;
  readonly now: number;
}

/** `stale`: the claim, the range or the watermark has changed. Nothing was stored. */
export type CommitResult = 'committed' | 'stale';

/** The stack of summaries of each conversation. */
export interface SummaryStore {
  /** The stack of the current context: live summaries and gaps by `fromSeq`. */
  live(conversationId: number): Promise<readonly Summary[]>;
  find(id: SummaryId): Promise<Summary | null>;
  /** The sources of a condensed summary, by `fromSeq`, also of one that was rewritten. Empty for level 0. */
  children(id: SummaryId): Promise<readonly Summary[]>;
  /**
   * `compaction/job/commit.ts` decides inside the transaction: it extends the stack after `compactedUpto`, or replaces the
   * head of a gap or a stale summary with the same start, or the summary that `rewrites` names. What it replaces stays
   * readable by its id.
   */
  commitCompaction(commit: CompactionCommit): Promise<CommitResult>;
  commitCondensation(commit: CondensationCommit): Promise<CommitResult>;
  /** Memories of a range that is not summarised: an idle tail, or the tail at shutdown. */
  commitExtraction(commit: ExtractionCommit): Promise<CommitResult>;
  /**
   * Puts all ready summaries into the stack, as every other commit does first. Takes no claim. Stale if there are none.
   * They are deleted when an entry is edited or redacted, at a reset, and when a gap is opened.
   */
  publish(conversationId: number): Promise<CommitResult>;
  /** Emergency: the entries `(expectedCompactedUpto, toSeq]` leave the view at once. Takes no claim. */
  openGap(gap: GapOpening): Promise<CommitResult>;
}

/** Takes entries out of the view at once; a job summarises them later. */
export interface GapOpening {
  readonly id: SummaryId;
  readonly conversationId: number;
  /** The result is stale if the stack ends elsewhere. */
  readonly expectedCompactedUpto: number;
  readonly toSeq: number;
  readonly now: number;
}
