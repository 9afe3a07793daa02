import { describe } from '../../domain/errors.ts';
import { failureOf, seenOf } from '../../models/failure.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import type { Done } from './do-work.ts';
import type { Run } from './maintenance-context.ts';
import { type Look, requestedRewrite } from './next-work.ts';
import { endRewrite, type RewriteRequest, rewriteOf } from './rewrite-request.ts';

/** The requested rewrite that was not tried yet; null if there is none. */
export async function pendingRewrite(state: Services['state'], conversationId: number): Promise<RewriteRequest | null> {
  const request = await rewriteOf(state, conversationId);
  return request?.failure === null ? request : null;
}

/** Ends a request whose summary has left the stack, or was edited below, since somebody asked. */
export async function dropImpossible(self: Run, look: Pick<Look, 'snapshot'>): Promise<void> {
  const { asked } = self;
  if (asked === null || requestedRewrite({ asked, snapshot: look.snapshot }) !== null) return;
  const summary = await self.shared.services.store.summaries.find(asked.summaryId);
  // A worker that died after the commit has done it already.
  const isDone = summary?.supersededBy !== null && summary?.supersededBy !== undefined;
  await end(self, isDone ? null : 'The messages or the stack have changed since.');
}

/** Tries once: the failure of what somebody asked for does not delay what is due. Null if another model should try. */
export async function tryRequestedRewrite(
  self: Run,
  { conversation }: Pick<ContextSnapshot, 'conversation'>,
  attempt: () => Promise<Done | null>,
): Promise<Done | null> {
  try {
    const done = await attempt();
    if (done !== null) await end(self, done.result === 'committed' ? null : 'The summary has changed since.');
    return done;
  } catch (error) {
    if (self.signal.aborted) throw error;
    const failure = failureOf(error);
    const modelId = failure.modelId ?? self.opened?.model.id ?? null;
    const reason = describe(error);
    if (failure.isModels && modelId !== null)
      await self.shared.breaker.failed(modelId, seenOf(failure, error, conversation));
    await end(self, reason, true);
    return null;
  }
}

async function end(self: Run, failure: string | null, mayQuote = false): Promise<void> {
  const { asked, claim, shared } = self;
  self.asked = null;
  if (asked === null) return;
  const { conversationId } = claim;
  await endRewrite(shared.services.state, { conversationId, request: asked, failure, mayQuote });
}
