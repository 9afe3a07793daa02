import { isRequestedRewrite, type Look, nextLookAt, nextWork } from '../job/next-work.ts';
import { type Progress, progressAfter } from './progress.ts';
import { tryRequested, withoutImpossible } from './requested.ts';
import type { Task } from './task.ts';
import { tryWork } from './try-work.ts';

/** What came of a round, and the progress after it. */
export type Round = { readonly progress: Progress } & (
  | { readonly kind: 'tried' }
  | { readonly kind: 'nothing due'; readonly seenNextSeq: number; readonly maintainAt: number | null }
  | { readonly kind: 'failed'; readonly error: unknown }
);

/** Decides from the look what is due, and tries it once. */
export async function runRound(task: Task, before: Progress, seen: Look): Promise<Round> {
  const progress = await withoutImpossible(task, before, seen);
  const look: Look = { ...seen, asked: progress.asked };
  const work = nextWork(look);
  if (work === null) {
    const seenNextSeq = look.snapshot.conversation.nextSeq;
    return { kind: 'nothing due', progress, seenNextSeq, maintainAt: nextLookAt(look) };
  }
  const tried = await (isRequestedRewrite(work) ? tryRequested : tryWork)(task, progress, { look, work });
  if (tried.kind === 'failed') return tried;
  return { kind: 'tried', progress: progressAfter(tried.progress, work, tried.kind === 'ended' ? tried.result : null) };
}
