import { describe } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EmbedRequest, Reranker } from '../ports/reranker.ts';
import { rejection } from '../util/limit.ts';

/** How long a model is not asked after it has failed or was too slow. */
const PAUSE_MS = 30_000;

/** Asks no model again soon that has failed or was too slow, so that it delays one reply and not every reply. */
export function withPauses(reranker: Reranker, { clock, log }: { readonly clock: Clock; readonly log: Log }): Reranker {
  const pausedUntil = new Map<string, number>();
  const guarded = async <Result>({ model, signal }: EmbedRequest, work: () => Promise<Result>): Promise<Result> => {
    if (clock.now() < (pausedUntil.get(model) ?? 0)) throw new Error('paused');
    try {
      return await Promise.race([work(), rejection(signal)]);
    } catch (error) {
      pausedUntil.set(model, clock.now() + PAUSE_MS);
      log.warn('recall.unranked', { model, error: describe(error), pauseMs: PAUSE_MS });
      throw error;
    }
  };
  return {
    rerank: (request) => guarded(request, () => reranker.rerank(request)),
    embed: (request) => guarded(request, () => reranker.embed(request)),
  };
}
