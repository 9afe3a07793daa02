import { isDeepStrictEqual } from 'node:util';
import { estimateRequest } from '../context/measure/tokens.ts';
import { StrataError } from '../domain/errors.ts';
import type { ModelContext } from '../hooks/hooks.ts';
import type { HookRunner } from '../hooks/runner.ts';
import type { ModelRequest } from '../ports/model.ts';
import type { Step } from './step.ts';

export interface HookedCall {
  readonly where: Pick<ModelContext, 'conversation' | 'agentId' | 'audience' | 'model'>;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
}

/**
 * One model call with its hooks. A request that hooks have enlarged beyond the window is not sent. Hooks do not see what
 * the model wants back with its calls, and other calls go without it.
 */
export async function callHooked(
  hooks: Pick<HookRunner, 'model'>,
  { where, request, signal }: HookedCall,
  call: (request: ModelRequest) => Promise<Step>,
): Promise<Step> {
  const { purpose, tools, maxOutputTokens, system, messages } = request;
  const context = { ...where, purpose, tools, maxOutputTokens };
  let answered: Step | null = null;
  const result = await hooks.model({ context, change: { system, messages }, signal }, async (changed) => {
    const isSame = changed.system === system && changed.messages === messages;
    answered = await call(isSame ? request : fitting({ ...request, ...changed }));
    const { reasoning, ...shown } = answered;
    return shown;
  });
  return { ...result, reasoning: reasoningFor(result.calls, answered) };
}

function reasoningFor(calls: Step['calls'], answered: Step | null): Step['reasoning'] {
  return answered !== null && isDeepStrictEqual(calls, answered.calls) ? answered.reasoning : null;
}

/** Whether the window has room for the request and its answer. */
export function hasRoom(request: ModelRequest): boolean {
  return neededBy(request) <= (request.windowTokens ?? Number.POSITIVE_INFINITY);
}

function neededBy(request: ModelRequest): number {
  return estimateRequest(request) + request.maxOutputTokens;
}

function fitting(request: ModelRequest): ModelRequest {
  if (hasRoom(request)) return request;
  const { windowTokens } = request;
  const needed = neededBy(request);
  const cause = `the changed request needs ${needed} tokens, but the window has ${windowTokens}`;
  throw new StrataError('HOOK_FAILED', { hook: 'model', owner: 'a plugin', cause });
}
