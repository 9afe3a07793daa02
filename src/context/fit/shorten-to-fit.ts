import type { FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import type { Fitted, ViewRequest } from '../view/view.ts';
import { reduceIfDue, reduceToFit } from './fit.ts';
import { shortenTail } from './shorter-tail.ts';

/** The view from the earliest position of the tail that keeps it below the first threshold. The stack stays. */
export function shortenToFit(prefixes: FixedPrefixBuilder, request: ViewRequest, limitTokens: number): Fitted {
  const wanted = limitTokens * request.profile.thresholds.background;
  const all = reduceIfDue(prefixes, request);
  if (all.measurement.used < wanted) return all;
  const { fitting, shortest } = shortenTail(request, {
    correction: all.correction,
    wantedTokens: wanted,
    evaluate: (shorter) => reduceIfDue(prefixes, shorter),
  });
  return fitting ?? reduceToFit(prefixes, shortest, limitTokens);
}
