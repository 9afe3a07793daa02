import type { MemoryId } from '../domain/message.ts';
import type { EngineChildren } from './engine-children.ts';
import type { ModelMessage, ModelTraits, SystemBlock, ToolSpec } from './model.ts';
import type { PassageSection, SystemSection, VolatileSection } from './sections.ts';
import type { ContextSnapshot, TurnMessage } from './store.ts';

/**
 * Decides what a model sees of a conversation, and when older messages must leave the view. One instance serves all
 * conversations.
 */
export interface ContextEngine extends EngineIntake, EngineChildren {
  readonly info: EngineInfo;
  /**
   * Builds the request of the next model call, measured and within the window. Called before every call, also inside
   * the tool loop. Throws `WINDOW_TOO_SMALL` if not even the newest message fits.
   */
  assemble(request: AssembleRequest): Promise<Assembly>;
  /**
   * Called before a turn commits, with the messages that it adds. Returns whether maintenance is due. Must not wait.
   */
  afterTurn(turn: FinishedTurn): AfterTurn;
  /**
   * Frees space now, without a model: after an overflow error of the provider, or when a person asks for it and the
   * engine has no maintenance.
   */
  compact(request: CompactRequest): Promise<CompactResult>;
  /** Does the due work in the background, under a claim. */
  maintain(work: MaintainRequest): Promise<MaintainResult>;
  dispose(): Promise<void>;
}

/** How an engine learns what is stored. */
export interface EngineIntake {
  /** Called when a conversation becomes active in this process. */
  bootstrap(snapshot: ContextSnapshot): Promise<BootstrapResult>;
  /**
   * Called for each stored message that no turn answers. A repeated message returns `ingested: false`. Also reports
   * whether maintenance is due.
   */
  ingest(ingest: Ingest): Promise<IngestResult>;
  /** Called after a turn commits, with the messages that it answered and those that it added. */
  ingestBatch(batch: IngestBatch): Promise<IngestBatchResult>;
}

/** What an engine is called, and whether it keeps summaries. */
export interface EngineInfo {
  /** As in `engine` of an agent. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly version: string;
  /** False if the engine keeps no summaries; the host then runs no compaction for it. */
  readonly ownsCompaction: boolean;
}

/** An agent's settings for the context, resolved for the model in use. */
export interface ContextProfile {
  readonly agentId: string;
  readonly modelId: string;
  /** Models to use while `modelId` is unavailable or overloaded, in order. Default: none. */
  readonly fallbackIds?: readonly string[];
  readonly traits: ModelTraits;
  readonly windowTokens: number;
  /** Reserved for the answer. */
  readonly reserveTokens: number;
  readonly thresholds: Thresholds;
  /** Maximum tokens of memories and passages next to a new message. */
  readonly recallTokens: number;
  /** What a compaction at each tier leaves in use, as a share of the window; null for the tier's share of the tail. */
  readonly targets: Targets;
  /** Number of messages in the tail at which a compaction is due, regardless of their size; 0 for no limit. */
  readonly messageThreshold: number;
  /** Maximum share of the window for tools and system sections. */
  readonly fixedShare: number;
  /** Maximum share of the window for the stack before it is condensed. */
  readonly stackShare: number;
  /** Share of the window for the newest messages, which no cut removes. */
  readonly tailShare: number;
  /** IANA name, of the times in labels. */
  readonly timeZone: string;
  /** From the background threshold on, tool results of older turns are shortened. */
  readonly toolResults: {
    /** The newest turns whose tool results stay as they are. */
    readonly recentTurns: number;
    /** What remains of an older result of more than twice that size. */
    readonly oldBytes: number;
  };
  readonly sections: readonly SystemSection[];
  readonly tools: readonly ToolSpec[];
}

/** Shares of the window: 0 < background < aggressive < emergency <= 1. */
export interface Thresholds {
  readonly background: number;
  readonly aggressive: number;
  readonly emergency: number;
}

/** By tier: the share of the window that a compaction leaves in use, or null for the tier's share of the tail. */
export type Targets = Readonly<Record<Exclude<Tier, 'none'>, number | null>>;

/** How full a view is: which threshold it has reached. */
export type Tier = 'none' | 'background' | 'aggressive' | 'emergency';

/** What the next request of a turn is built from. `assembleView` accepts it as it is. */
export interface AssembleRequest {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  /** The newest message that this turn reads; later messages wait for the next turn. */
  readonly readUpto: number;
  /** Shown next to the newest message of this request only. */
  readonly volatile: readonly (VolatileSection | PassageSection)[];
  /** Steps of the running turn that are not stored yet. */
  readonly steps: readonly ModelMessage[];
  readonly now: number;
}

/** A request that fits into the window, and what `/context` says about it. */
export interface Assembly {
  readonly system: readonly SystemBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly measurement: Measurement;
  /** Of the request, uncorrected and without the reserve. `learn` compares it with the provider's count. */
  readonly estimatedTokens: number;
  readonly parts: readonly ContextPart[];
  /** Differs from the request's snapshot if space had to be freed. */
  readonly snapshot: ContextSnapshot;
  /** The memories of the volatile sections that were included whole. */
  readonly recalled: readonly MemoryId[];
}

/**
 * The one measurement behind the gate, the tiers, `/status`, `/context` and the CLI. Tokens are corrected by the
 * learned ratio.
 */
export interface Measurement {
  /** Tools and system sections. */
  readonly fixed: number;
  /** Summaries. */
  readonly stack: number;
  /** Messages, and the steps of the running turn. */
  readonly tail: number;
  /** What is shown next to the newest message only. It does not count for the tier. */
  readonly volatile: number;
  readonly reserve: number;
  /** All of these and the reserve. */
  readonly used: number;
  readonly window: number;
  /** `used / window`. */
  readonly ratio: number;
  readonly tier: Tier;
  /** True until the provider has counted this exact view; shown with `~`. */
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
  /** Before any cut. */
  readonly originalTokens: number;
  /** For system sections, 0..100; null for other parts. */
  readonly priority: number | null;
  /** Cut last. */
  readonly protected: boolean;
  /** Null if nothing limits the part but the space that the others leave. */
  readonly budget: ContextBudget | null;
}

/** The most tokens that parts may take together. */
export interface ContextBudget {
  /** `fixed`: tools and system sections; `stack`: summaries; `recall`: memories and earlier messages; `tail`; `reserve`. */
  readonly of: 'fixed' | 'stack' | 'recall' | 'tail' | 'reserve';
  readonly tokens: number;
}

/** Whether the engine prepared anything for the conversation. `reason`: why not, or null. */
export interface BootstrapResult {
  readonly bootstrapped: boolean;
  readonly reason: string | null;
}

/** A stored message that no turn answers, and the view that contains it. */
export interface Ingest {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  readonly seq: number;
}

/** Whether the message was new to the engine, and whether maintenance is due. */
export interface IngestResult {
  readonly ingested: boolean;
  readonly due: boolean;
}

/** The messages that a committed turn answered and added. */
export interface IngestBatch {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  /** Oldest first. */
  readonly seqs: readonly number[];
}

/** How many messages of a batch were new to the engine. */
export interface IngestBatchResult {
  /** Without messages that the engine knew. */
  readonly ingested: number;
}

/** A turn that is about to commit. `snapshot` does not contain its messages yet. */
export interface FinishedTurn {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  /** The newest message that the turn answers. */
  readonly readUpto: number;
  readonly messages: readonly TurnMessage[];
  /** Of the turn's last assembly. */
  readonly measurement: Measurement;
  /** Estimated, of those `messages` that the assembly did not contain. */
  readonly addedTokens: number;
}

/** How full the view is after the turn. If maintenance is `due`, it runs soon after the commit. */
export interface AfterTurn {
  readonly tier: Tier;
  readonly due: boolean;
}

/** A view to make smaller without a model. */
export interface CompactRequest {
  readonly profile: ContextProfile;
  readonly snapshot: ContextSnapshot;
  readonly readUpto: number;
  /** `overflow`: the provider rejected the request as too long. `manual`: a person asked for it. */
  readonly reason: 'overflow' | 'manual';
  readonly now: number;
}

/** What became smaller. After an overflow, the turn asks the model again only if `compacted` is true. */
export interface CompactResult {
  /** False if the engine failed without throwing. */
  readonly ok: boolean;
  /** The next request of the turn will be smaller. */
  readonly compacted: boolean;
  /** What was done, or why nothing was, in words that `/compact` shows. */
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The view as it is now; that of the request if nothing was removed. */
  readonly snapshot: ContextSnapshot;
}

/** Which conversation to look after, and why now. */
export interface MaintainRequest {
  readonly conversationId: number;
  /** `queue`: it is due. `manual`: a person asked for it. `shutdown`: the process is about to stop. */
  readonly trigger: 'queue' | 'manual' | 'shutdown';
  /** What a person asked for in this run: data for the prompt, never an instruction to Strata. */
  readonly instruction: string | null;
  readonly signal: AbortSignal;
}

/** What was done, in words that `/compact` shows. */
export interface MaintainResult {
  readonly changed: boolean;
  readonly reason: string;
}
