import type { BlobId, ConversationKey, MemoryId, SeqRange, SummaryId } from '../../domain/message.ts';
import type { Reduction } from '../view/reduce.ts';

/**
 * What a request was built from: references to stored messages, summaries, memories and shared texts, never text. Notes
 * of one conversation form a chain, and each one says only how it differs from an earlier one.
 */
export interface RequestNote {
  /** Hash of the settings that do not change from turn to turn, see `keepProfile`. */
  readonly profile: string;
  /** Hash of the whole request as it was sent. A rebuilt one with another hash is not the same. Empty if unknown. */
  readonly print: string;
  /** Maximum tokens of tools and system sections. */
  readonly budgetTokens: number;
  /** The revision of the conversation; entries that changed later are not what the model saw. */
  readonly revision: number;
  readonly layers: readonly LayerRef[];
  /** The first entry of the tail, and how many before it were left out. */
  readonly fromSeq: number;
  readonly omitted: number;
  readonly reduction: Reduction;
  /** Sections for the newest message, in their order. */
  readonly sections: readonly SectionRef[];
  /** Minutes since 1970 on the clock that the model saw. */
  readonly minute: number;
  /** The seq of each reply in the view, and of the message that it was said to answer. */
  readonly links: ReadonlyMap<number, number>;
  /** Messages of the turn's own tool calls and results. */
  readonly steps: number;
  /** Messages whose images a tool opened, each at its place among these steps. */
  readonly opened: readonly OpenedAt[];
  /** The fallback that answered; null for the agent's own model. */
  readonly model: string | null;
  /** A hook of a plugin changed the request, or a tool opened images that are not stored. */
  readonly isAltered: boolean;
  /** The blob with what hooks changed; null if it is not kept. */
  readonly change: BlobId | null;
}

export interface OpenedAt {
  /** Index in the steps of the request, with those that opened images. */
  readonly at: number;
  readonly seq: number;
}

export type LayerRef =
  | { readonly kind: 'summary'; readonly id: SummaryId }
  | { readonly kind: 'gap'; readonly fromSeq: number; readonly toSeq: number };

export type SectionRef =
  | { readonly kind: 'clock' }
  | { readonly kind: 'memories'; readonly ids: readonly MemoryId[] }
  /** Messages by ascending seq; those of other conversations come first. */
  | { readonly kind: 'passages'; readonly seqs: readonly number[]; readonly elsewhere: readonly PassagesOf[] }
  | { readonly kind: 'replied-to'; readonly seq: number }
  /** Follows from the authors of these messages. */
  | ({ readonly kind: 'namesakes' } & SeqRange)
  /** A section of an engine or version that does not say what it is made of. */
  | { readonly kind: 'other' };

export interface PassagesOf {
  readonly conversation: ConversationKey;
  readonly seqs: readonly number[];
}
