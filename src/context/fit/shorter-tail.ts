import { type CutPoint, cutPointsOf } from '../view/order.ts';
import type { Fitted, ViewRequest } from '../view/view.ts';

export interface ShorterTail {
  readonly correction: number;
  readonly wantedTokens: number;
  evaluate(request: ViewRequest): Fitted;
}

/**
 * Leaves out the oldest messages of the tail. Returns the longest view below the wanted tokens, if there is one, and the
 * request without all that may leave. Stores nothing.
 */
export function shortenTail(request: ViewRequest, { correction, wantedTokens, evaluate }: ShorterTail) {
  const points = cutPointsOf(request, correction);
  const evaluateFrom = (point: CutPoint) => evaluate(from(request, point));
  const last = points.at(-1);
  return {
    fitting: firstFitting(points, evaluateFrom, wantedTokens),
    shortest: last === undefined ? request : from(request, last),
  };
}

/** Later positions leave fewer messages, so a binary search finds the first that fits. */
function firstFitting(
  points: readonly CutPoint[],
  evaluate: (point: CutPoint) => Fitted,
  wantedTokens: number,
): Fitted | null {
  let [low, high] = [0, points.length];
  let best: Fitted | null = null;
  while (low < high) {
    const middle = (low + high) >> 1;
    const point = points[middle];
    const fitted = point === undefined ? null : evaluate(point);
    if (fitted !== null && fitted.measurement.used < wantedTokens) {
      best = fitted;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

function from(request: ViewRequest, { toSeq }: CutPoint): ViewRequest {
  const { snapshot } = request;
  const tail = snapshot.tail.filter((entry) => entry.seq > toSeq);
  const entries = snapshot.omitted.entries + snapshot.tail.length - tail.length;
  return { ...request, snapshot: { ...snapshot, tail, omitted: { entries, tokens: 0 } } };
}
