import type { ConversationView, LayerSpan } from '../../../../src/adapter-kit.ts';

/** Summaries of jobs that the journal no longer has, oldest first: it keeps the newest jobs of each conversation. */
export function olderJobs({ layers, runs }: Pick<ConversationView, 'layers' | 'runs'>): readonly LayerSpan[] {
  const oldest = runs.reduce((least, { startedAt }) => Math.min(least, startedAt), Number.POSITIVE_INFINITY);
  return layers.filter(({ kind, since }) => kind === 'summary' && since < oldest).toSorted((a, b) => a.since - b.since);
}
