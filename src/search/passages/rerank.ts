import type { AgentSettings } from '../../config/schema.ts';
import type { Reranker } from '../../ports/reranker.ts';
import { limitWork } from '../../util/async/limit.ts';

/** Texts of one request, and how much of each: more would take longer and rarely change the first ones. */
const MAX_TEXTS = 40;
const READ_CHARACTERS = 1000;
/** How much less a rank counts than the one before: with a small number, the first ranks decide. */
const RANK_OFFSET = 10;

interface Candidate {
  readonly text: string;
  readonly score: number;
}

interface Asked {
  readonly question: string;
  readonly recall: AgentSettings['recall'];
}

/**
 * The candidates in an order to which the reranker has contributed, or as they were if it does not answer in time.
 * `candidates` are best first, and their scores stay, in the new order.
 */
export async function rerank<Item extends Candidate>(
  reranker: Reranker,
  candidates: readonly Item[],
  asked: Asked,
): Promise<readonly Item[]> {
  const first = candidates.slice(0, MAX_TEXTS);
  if (first.length < 2) return candidates;
  try {
    const texts = first.map(({ text }) => text.slice(0, READ_CHARACTERS).toWellFormed());
    return [...inFusedOrder(first, await scoresWithin(reranker, texts, asked)), ...candidates.slice(MAX_TEXTS)];
  } catch {
    // `withPauses` has logged it.
    return candidates;
  }
}

async function scoresWithin(reranker: Reranker, texts: readonly string[], { question, recall }: Asked) {
  const timeoutMs = recall.rerank_timeout_ms;
  using limit = limitWork(new AbortController().signal, { ms: timeoutMs });
  const request = { model: recall.rerank_model, timeoutMs, signal: limit.signal };
  return recall.rerank_with === 'rerank'
    ? await reranker.rerank({ ...request, question, texts })
    : similarities(await reranker.embed({ ...request, texts: [question, ...texts] }));
}

/** The similarity of the first vector to each of the others. */
function similarities([asked = [], ...others]: readonly (readonly number[])[]): readonly number[] {
  const length = dot(asked, asked);
  return others.map((vector) => dot(asked, vector) / (Math.sqrt(length * dot(vector, vector)) || 1));
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** Both orders count alike, because their scores cannot be compared. */
function inFusedOrder<Item extends Candidate>(items: readonly Item[], scores: readonly number[]): readonly Item[] {
  const byScore = items.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const rankOf = new Map(byScore.map((index, rank) => [index, rank]));
  const worth = (index: number) => 1 / (RANK_OFFSET + index) + 1 / (RANK_OFFSET + (rankOf.get(index) ?? 0));
  const order = items.map((_, index) => index).sort((a, b) => worth(b) - worth(a) || a - b);
  return order.flatMap((index, place) => {
    const item = items[index];
    return item === undefined ? [] : [{ ...item, score: items[place]?.score ?? 0 }];
  });
}
