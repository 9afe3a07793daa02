import type { AgentSettings } from '../../config/schema.ts';
import { StrataError } from '../../domain/errors.ts';
import type { Breaker } from '../../models/breaker.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { MemoryWrite } from '../../ports/memory-store.ts';
import type { Claim, Conversation } from '../../ports/store.ts';
import type { CommitResult } from '../../ports/summary-store.ts';
import type { Services } from '../../services.ts';
import type { CallContext } from '../ask/call.ts';
import type { MeasureView } from '../watch/measure.ts';

/** One attempt at a piece of work, with one model. */
export interface Job {
  /** How the job calls its model. */
  readonly call: CallContext;
  readonly services: Services;
  readonly claim: Claim;
  readonly breaker: Breaker;
  readonly measureView: MeasureView;
  readonly conversation: Conversation;
  readonly agent: AgentSettings;
  readonly profile: ContextProfile;
  /** Whether its summary waits for a cheap moment to be published. */
  readonly ready: boolean;
  /** A person's wish, or empty. */
  readonly instruction: string;
  /** Maximum tokens of messages that one call reads; less than its window allows while a refused text is searched for. */
  readonly headTokens: number;
  /** The model must summarise a harmless text first. */
  readonly testsModel: boolean;
  /** The model refuses the text, so it is left out. */
  readonly leavesOut: boolean;
}

/** What a job stored, or came too late to store: the part of the range that it processed, and its memories. */
export interface JobResult {
  readonly result: CommitResult;
  readonly toSeq: number;
  readonly memories: readonly MemoryWrite[];
}

/** Whether the agent's summaries have sections. */
export function isStructured({ agent }: Pick<Job, 'agent'>): boolean {
  return agent.compaction.summary_form === 'structured';
}

/** A rewritten summary needs its whole source in one call. */
export function tooSmall(modelId: string): StrataError {
  return new StrataError('USAGE', { problem: `The window of ${modelId} is too small to read the source at once.` });
}
