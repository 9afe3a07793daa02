import type { Breaker } from '../../models/breaker.ts';
import type { ContextProfile, MaintainRequest } from '../../ports/engine.ts';
import type { ChatModel } from '../../ports/model.ts';
import type { Claim, Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import type { MeasureView } from '../watch/measure.ts';
import type { SeenReasoning } from './reasoning.ts';
import type { RewriteRequest } from './rewrite-request.ts';

export interface MaintenanceOptions {
  readonly services: Services;
  readonly profiles: ProfileSource;
  /** One for the whole process, so that failures of replies and of summaries count together. */
  readonly breaker: Breaker;
}

/** The agent's settings for a conversation, and the model that replies in it. */
export interface ProfileSource {
  of(conversation: Conversation): Promise<ContextProfile>;
  modelFor(profile: ContextProfile): Promise<ChatModel>;
}

/** Shared by all runs of a process. They add what they learn about the models. */
export interface MaintenanceContext extends MaintenanceOptions {
  readonly measureView: MeasureView;
  /** Windows of models, learned from their refusals. */
  readonly windows: Map<string, number>;
  /** Models that turned out not to support tools. */
  readonly toolless: Set<string>;
  readonly reasoning: SeenReasoning;
}

/**
 * One run: its claim, and its progress. `createMaintenance` makes it; the functions that get it as `self` change it.
 */
export interface Run {
  readonly shared: MaintenanceContext;
  readonly request: MaintainRequest;
  readonly claim: Claim;
  readonly signal: AbortSignal;
  /** The finished jobs, in words. */
  readonly done: string[];
  /** Null before the first job. */
  opened: Opened | null;
  /** What somebody wants rewritten; null once it is done or refused. */
  asked: RewriteRequest | null;
  /** Models that turned out to be unavailable. */
  readonly unavailable: Set<string>;
  /** Maximum tokens of messages in one call. */
  headTokens: number;
  /** Whether refusals may be the model's own fault, which a test with a harmless text shows. */
  doubt: 'none' | 'open' | 'cleared';
}

/** The model that writes summaries. */
export interface Opened {
  readonly model: ChatModel;
  readonly windowTokens: number;
}
