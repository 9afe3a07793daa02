import { idleMsOf } from '../../config/directory.ts';
import { MAX_TAIL_ENTRIES } from '../../context/cuts/plan.ts';
import { hasRoom, isWarm } from '../../context/cuts/publication.ts';
import { hasReady, publishedView } from '../../context/cuts/ready.ts';
import { parsePrint } from '../../context/record/request-print.ts';
import { recognise, renderInSlices } from '../../context/view/entry-reuse.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { Look } from '../job/next-work.ts';
import type { Progress } from './progress.ts';
import type { Task } from './task.ts';

/**
 * Reads and measures the conversation, and publishes the summaries that need not wait any longer. `before` is the look of
 * the previous round. Null if the conversation is gone.
 */
export async function lookAt(task: Task, progress: Progress, before: Look | null): Promise<Look | null> {
  task.signal.throwIfAborted();
  const { conversationId } = task.claim;
  const { store, clock, agents } = task.services;
  const read = await store.transcript.context(conversationId, { maxEntries: MAX_TAIL_ENTRIES });
  if (read === null) return null;
  const stored = recognise(read, before?.snapshot.tail ?? []);
  const profile = await task.profiles.of(stored.conversation);
  await renderInSlices(stored, profile.timeZone);
  const { trigger, open, settling, asked } = progress;
  const waiting = await waitingOf(task, stored, { trigger, profile });
  if (hasReady(stored) && !waiting.canWait && (await store.summaries.publish(conversationId)) === 'committed')
    return await lookAt(task, progress, before);
  const snapshot = publishedView(stored);
  const idleMs = idleMsOf(agents.agentFor(snapshot.conversation.key));
  const measured = task.measureView(profile, snapshot);
  return { trigger, open, settling, ...waiting, ...measured, asked, snapshot, profile, idleMs, now: clock.now() };
}

/** A summary waits only for the cached prefix of a running conversation, and while the view has room for its messages. */
async function waitingOf(
  { services, claim, measureView }: Task,
  stored: ContextSnapshot,
  { trigger, profile }: Pick<Look, 'trigger'> & { readonly profile: ContextProfile },
): Promise<Pick<Look, 'isCached' | 'canWait'>> {
  const { store, clock } = services;
  const last = parsePrint(await store.journal.cache.lastRequest(claim.conversationId));
  const isCached = last?.reports === true;
  if (!isCached || trigger === 'manual') return { isCached, canWait: false };
  const { used, volatile } = measureView(profile, stored).measurement;
  return { isCached, canWait: isWarm(last, profile, clock.now()) && hasRoom(profile, used - volatile) };
}
