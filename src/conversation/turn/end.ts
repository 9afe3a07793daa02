import { fittedOf } from '../../context/fit/fit.ts';
import type { RecordedRequest } from '../../context/record/record-request.ts';
import { describe } from '../../domain/errors.ts';
import type { Entry } from '../../domain/message.ts';
import type { AfterTurn } from '../../ports/engine.ts';
import type { Claim, ContextSnapshot, TurnMessage } from '../../ports/store.ts';
import { throughPostHooks } from '../posts/hooked-post.ts';
import { NOTHING_GIVEN } from '../state/turn-standing.ts';
import type { FailedTurn, TurnOutcome, TurnStep } from './loop/outcome.ts';
import type { CallFindings } from './model-calls.ts';
import type { ReplyOptions } from './reply-options.ts';
import type { ToolFindings } from './tool-calls.ts';
import type { LastRequest } from './turn-requests.ts';

/** A turn that has run, or could not even be prepared. Nothing is called or shown for it any more. */
export interface EndedTurn {
  readonly outcome: TurnOutcome;
  readonly findings: Findings;
}

/** What a turn has learned, whatever its outcome: to be stored with it, booked and reported. */
export interface Findings extends CallFindings, ToolFindings {
  /** The last request that was to be sent; null if there was none. */
  readonly request: LastRequest | null;
}

/** Of a turn that could not be prepared. */
export function endedUnprepared(outcome: FailedTurn): EndedTurn {
  return {
    outcome,
    findings: { request: null, usage: [], calibration: null, answer: null, given: NOTHING_GIVEN, blobs: [] },
  };
}

/** An ended turn whose answer has passed the hooks. It is to be committed. */
export interface Ending {
  readonly claim: Claim;
  readonly newest: Entry;
  readonly outcome: TurnOutcome | Held;
  readonly startedAt: number;
  readonly findings: Findings;
  readonly snapshot: ContextSnapshot;
}

/** A turn whose answer a hook held back: nobody sees it, and no reply is owed any more. */
export interface Held {
  readonly kind: 'held';
  readonly reason: string;
  readonly steps: readonly TurnStep[];
}

/** The hooks for posts may change or hold back an answer. The apology for a failure does not pass through them. */
export async function throughHooks(
  { services }: ReplyOptions,
  { conversation }: ContextSnapshot,
  { outcome, signal }: { readonly outcome: TurnOutcome; readonly signal: AbortSignal },
): Promise<TurnOutcome | Held> {
  if (outcome.kind === 'failed') return outcome;
  try {
    const result = await throughPostHooks(services, { conversation, text: outcome.text, isReply: true, signal });
    return result.kind === 'post'
      ? { ...outcome, text: result.text.trim() }
      : { ...result, kind: 'held', steps: outcome.steps };
  } catch (error) {
    return { kind: 'failed', reason: 'hook', message: describe(error), steps: outcome.steps };
  }
}

/** Whether maintenance is due once these messages are stored. Without a request, the view has not changed. */
export function verdictOn({ request }: Findings, messages: readonly TurnMessage[]): AfterTurn {
  if (request === null) return { tier: 'none', due: false };
  const { turn, snapshot, whole, steps } = request;
  const { engine, profile, newest } = turn;
  const addedTokens = messages.slice(steps).reduce((sum, { tokens }) => sum + tokens, 0);
  const { measurement } = whole;
  return engine.afterTurn({ profile, readUpto: newest.seq, messages, snapshot, measurement, addedTokens });
}

/** What the answered request was built from; null if the engine does not say. */
export async function recordOf(
  { requests }: Pick<ReplyOptions, 'requests'>,
  { request, answer }: Findings,
  at: number,
): Promise<RecordedRequest | null> {
  const fitted = request === null ? null : fittedOf(request.assembly);
  if (request === null || fitted === null || answer === null) return null;
  const { profile, preparedAt, newest } = request.turn;
  const { sent, isAltered } = answer;
  const model = answer.model === profile.modelId ? null : answer.model;
  return await requests.record({ fitted, sent, preparedAt, turn: newest.seq, at, model, isAltered });
}

/** The model that answered last; null for an agent with one model. */
export function answeringModel({ request, answer }: Findings): string | null {
  return request !== null && request.turn.models.length > 1 ? (answer?.model ?? null) : null;
}

/** Which fixed part of the refused request the filter refuses by itself; null if none, or if it is unknown. */
export async function refusedPartOf(
  { refusedParts }: Pick<ReplyOptions, 'refusedParts'>,
  { request }: Findings,
): Promise<string | null> {
  if (request === null) return null;
  const { profile, snapshot } = request.turn;
  return await refusedParts.of({ profile, tools: request.assembly.tools, conversation: snapshot.conversation });
}
