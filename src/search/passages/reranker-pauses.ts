import { describe } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { EmbedRequest, Reranker } from '../../ports/reranker.ts';
import { rejection } from '../../util/async/limit.ts';
import { isPaused } from '../../util/async/pause.ts';

/** How long a model is not asked after it has failed or was too slow. */
const PAUSE_MS = 30_000;

/**
 * Does not repeat a request that has failed or taken too long until some time has passed, so that it delays one reply
 * and not every reply. Agents that ask the same model in another way, or wait longer, are not affected.
 */
export function withPauses(reranker: Reranker, { clock, log }: { readonly clock: Clock; readonly log: Log }): Reranker {
  const pausedUntil = new Map<string, number>();
  const guarded = async <Result>(
    method: keyof Reranker,
    { model, timeoutMs, signal }: EmbedRequest,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const way = `${method} ${timeoutMs} ${model}`;
    if (isPaused(pausedUntil.get(way) ?? null, { now: clock.now(), maxMs: PAUSE_MS })) throw new Error('paused');
    try {
      return await Promise.race([work(), rejection(signal)]);
    } catch (error) {
      pausedUntil.set(way, clock.now() + PAUSE_MS);
      log.warn('recall.unranked', { model, method, error: describe(error), pauseMs: PAUSE_MS });
      throw error;
    }
  };
  return {
    rerank: (request) => guarded('rerank', request, async () => usable(await reranker.rerank(request), request)),
    embed: (request) => guarded('embed', request, async () => usable(await reranker.embed(request), request)),
  };
}

function usable<Result extends readonly unknown[]>(answer: Result, { texts }: EmbedRequest): Result {
  if (Array.isArray(answer) && answer.length === texts.length) return answer;
  const found = Array.isArray(answer) ? answer.length : typeof answer;
  throw new Error(`expected ${texts.length} results, got ${found}`);
}
