import type { Breaker } from '../../models/breaker.ts';
import type { ContextProfile, MaintainRequest } from '../../ports/engine.ts';
import type { ChatModel } from '../../ports/model.ts';
import type { Claim, Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import type { SeenReasoning } from '../ask/reasoning.ts';
import type { MeasureView } from '../watch/measure.ts';

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

/** What every maintenance of a process uses, and what it has learned about the models. */
export interface MaintenanceContext extends MaintenanceOptions {
  readonly measureView: MeasureView;
  /** Windows of models, learned from their refusals. Changed by `tryWork` alone. */
  readonly windows: Map<string, number>;
  /** Models that turned out not to support tools. Changed by `ask` alone. */
  readonly toolless: Set<string>;
  /** Changed by `learnReasoning` alone. */
  readonly reasoning: SeenReasoning;
}

/** One maintenance: what was requested, and the claim under which it is done. No step changes it. */
export interface Task extends MaintenanceContext {
  readonly request: MaintainRequest;
  readonly claim: Claim;
  /** The conversation when it was claimed. */
  readonly claimed: Conversation;
  /** Aborts when the claim is lost or the maintenance is asked to stop. */
  readonly signal: AbortSignal;
}
