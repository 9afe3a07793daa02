import type { MemoryId } from '../domain/message.ts';
import type { ModelMessage, ModelTraits, SystemBlock, ToolSpec } from './model.ts';
import type { ContextSnapshot } from './store.ts';

/** Decides what a model sees of a conversation, and when the past must shrink. One instance serves all conversations. */
export interface ContextEngine {
  readonly info: EngineInfo;
  /** Called when a conversation becomes active in this process. */
  bootstrap(snapshot: ContextSnapshot): Promise<BootstrapResult>;
  /** Called for each stored message, answered or not; the same message twice is `ingested: false`. Judges the pressure. */
  ingest(ingest: Ingest): Promise<IngestResult>;
  /**
   * The request of the next model call, measured and within the window. Called before every call, in the tool loop too.
   * Throws `WINDOW_TOO_SMALL` when even the newest message does not fit.
   */
  assemble(request: AssembleRequest): Promise<Assembly>;
  /** Called before a turn commits, with what it is about to add: says whether maintenance is due. Must not wait. */
  afterTurn(turn: FinishedTurn): AfterTurn;
  /** Frees room now, without a model: an overflow answer of the provider, or a person's command with `force`. */
  compact(request: CompactRequest): Promise<CompactResult>;
  /** Does what is due, in the background, under a claim. */
  maintain(work: MaintainRequest): Promise<MaintainResult>;
  dispose(): Promise<void>;
}

export interface EngineInfo {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** False: the engine keeps no summaries, and the host runs no compaction for it. */
  readonly ownsCompaction: boolean;
}

/** What an agent's settings mean for the context, resolved for the model in use. */
export interface ContextProfile {
  readonly agentId: string;
  readonly modelId: string;
  readonly traits: ModelTraits;
  readonly windowTokens: number;
  /** Kept free for the answer. */
  readonly reserveTokens: number;
  readonly thresholds: Thresholds;
  /** Most tokens of memories and earlier messages beside a new message. */
  readonly recallTokens: number;
  /** Largest share of the window for the stack before it is condensed. */
  readonly stackShare: number;
  readonly sections: readonly SystemSection[];
  readonly tools: readonly ToolSpec[];
}

/** Shares of the window: 0 < background < aggressive < emergency <= 1. */
export interface Thresholds {
  readonly background: number;
  readonly aggressive: number;
  readonly emergency: number;
}

export type Tier = 'none' | 'background' | 'aggressive' | 'emergency';

/** A named piece of the system prompt. Order of the list is order in the prompt; priority only decides who is cut. */
export interface SystemSection {
  readonly key: string;
  readonly text: string;
  /** 0..100; the lowest is cut first. */
  readonly priority: number;
  /** Cut last of all, and only so that the whole fits. */
  readonly protected: boolean;
  /** Where it comes from and why it is there, for `/context`. */
  readonly source: string;
  readonly reason: string;
  /** The memories that the text holds. Default: none. */
  readonly memoryIds?: readonly MemoryId[];
}

/** Text that belongs to the newest message only: recalled memories, the clock. Never part of the cached prefix. */
export interface VolatileSection {
  readonly key: string;
  readonly text: string;
  readonly source: string;
  readonly reason: string;
  /** The memories that the text holds, to be counted as recalled when it was not cut. */
  readonly memoryIds: readonly MemoryId[];
}

/**
 * Earlier messages for the newest message only, best first. `text` is their heading. An engine shows the heading and as
 * many passages as `recallTokens` and its free room allow, and none that its view holds anyway.
 */
export interface PassageSection extends VolatileSection {
  readonly passages: readonly Passage[];
}

export interface Passage {
  readonly seq: number;
  /** Of the platform; null for what the bot said. */
  readonly externalId: string | null;
  /** The whole message under its label. */
  readonly text: string;
}

export interface AssembleRequest {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  /** The newest message that this turn reads; later ones wait for the next turn. */
  readonly readUpto: number;
  readonly volatile: readonly (VolatileSection | PassageSection)[];
  /** Steps of the running turn so far, not stored yet. */
  readonly steps: readonly ModelMessage[];
  readonly now: number;
}

export interface Assembly {
  readonly system: readonly SystemBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly measurement: Measurement;
  /** Of the request, uncorrected and without the reserve: what `learn` compares with the provider's count. */
  readonly estimatedTokens: number;
  readonly parts: readonly ContextPart[];
  /** Differs from the request's when room had to be made. */
  readonly snapshot: ContextSnapshot;
  /** Of the volatile sections that went in whole. */
  readonly recalled: readonly MemoryId[];
}

/** One meter for the gate, the tiers, `/status`, `/context` and the CLI. Tokens are corrected by the learned ratio. */
export interface Measurement {
  readonly fixed: number;
  readonly stack: number;
  readonly tail: number;
  readonly volatile: number;
  readonly reserve: number;
  readonly used: number;
  readonly window: number;
  /** `used / window`. */
  readonly ratio: number;
  readonly tier: Tier;
  /** True until the provider's own count of this very view is known: shown with `~`. */
  readonly estimated: boolean;
}

/** One line of `/context`. */
export interface ContextPart {
  readonly key: string;
  readonly source: string;
  readonly reason: string;
  readonly tokens: number;
  readonly text: string;
  readonly included: boolean;
  readonly truncated: boolean;
  /** Before anything was cut of it. */
  readonly originalTokens: number;
  /** Of a system section, 0..100; null for other parts. */
  readonly priority: number | null;
  /** Cut last of all. */
  readonly protected: boolean;
}

export interface BootstrapResult {
  readonly bootstrapped: boolean;
  readonly reason: string | null;
}

export interface Ingest {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  readonly seq: number;
}

export interface IngestResult {
  readonly ingested: boolean;
  readonly due: boolean;
}

export interface FinishedTurn {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  /** Of the last assembly of the turn. */
  readonly measurement: Measurement;
  readonly addedTokens: number;
}

export interface AfterTurn {
  readonly tier: Tier;
  readonly due: boolean;
}

export interface CompactRequest {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  readonly readUpto: number;
  readonly reason: 'overflow' | 'manual';
  readonly now: number;
}

export interface CompactResult {
  readonly ok: boolean;
  readonly compacted: boolean;
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly snapshot: ContextSnapshot;
}

export interface MaintainRequest {
  readonly conversationId: number;
  readonly trigger: 'queue' | 'manual' | 'shutdown';
  /** A person's wish for this one run: data for the prompt, not an instruction to us. */
  readonly instruction: string | null;
  readonly signal: AbortSignal;
}

export interface MaintainResult {
  readonly changed: boolean;
  readonly reason: string;
}
