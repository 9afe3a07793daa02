import { describe } from '../../domain/errors.ts';
import type { Services } from '../../services.ts';
import { type Due, type Look, requestedRewrite } from '../job/next-work.ts';
import { endRewrite, type RewriteRequest, rewriteOf } from '../job/rewrite-request.ts';
import { countFailure } from './give-up.ts';
import type { Progress } from './progress.ts';
import type { Task } from './task.ts';
import { type Tried, tryWork } from './try-work.ts';

/** The requested rewrite that was not tried yet; null if there is none. */
export async function pendingRewrite(state: Services['state'], conversationId: number): Promise<RewriteRequest | null> {
  const request = await rewriteOf(state, conversationId);
  return request?.failure === null ? request : null;
}

/** Ends a request whose summary has left the stack, or was edited below, since somebody asked. */
export async function withoutImpossible(
  task: Task,
  progress: Progress,
  { snapshot }: Pick<Look, 'snapshot'>,
): Promise<Progress> {
  const { asked } = progress;
  if (asked === null || requestedRewrite({ asked, snapshot }) !== null) return progress;
  const summary = await task.services.store.summaries.find(asked.summaryId);
  // A worker that died after the commit has done it already.
  const isDone = summary?.supersededBy !== null && summary?.supersededBy !== undefined;
  return await withoutRequest(task, progress, {
    failure: isDone ? null : 'The messages or the stack have changed since.',
  });
}

/** Tries once: the failure of what somebody asked for does not delay what is due. */
export async function tryRequested(task: Task, before: Progress, due: Due): Promise<Tried> {
  const tried = await tryWork(task, before, due);
  if (tried.kind === 'again') return tried;
  if (tried.kind === 'ended') return await closeTried(task, tried);
  if (task.signal.aborted) return tried;
  await countFailure(task, tried, due.look.snapshot.conversation);
  const failure = { failure: describe(tried.error), mayQuote: true };
  return { kind: 'again', progress: await withoutRequest(task, tried.progress, failure) };
}

/** A store that fails now does not undo the rewrite: the next maintenance finds the request and that it is done. */
async function closeTried(task: Task, tried: Extract<Tried, { kind: 'ended' }>): Promise<Tried> {
  const failure = tried.result.result === 'committed' ? null : 'The summary has changed since.';
  try {
    return { ...tried, progress: await withoutRequest(task, tried.progress, { failure }) };
  } catch (error) {
    const progress = { ...tried.progress, asked: null };
    return task.signal.aborted ? { kind: 'failed', error, progress } : { kind: 'again', progress };
  }
}

/** Ends what somebody asked for; `failure` says why it was not done. */
async function withoutRequest(
  { services, claim }: Task,
  progress: Progress,
  { failure, mayQuote = false }: { readonly failure: string | null; readonly mayQuote?: boolean },
): Promise<Progress> {
  const { conversationId } = claim;
  const { asked: request } = progress;
  if (request !== null) await endRewrite(services.state, { conversationId, request, failure, mayQuote });
  return { ...progress, asked: null };
}
