import type { ContextEngine } from '../../ports/engine.ts';
import type { Services } from '../../services.ts';
import { addPassages, withoutPassages } from '../fit/add-passages.ts';
import { toAssembly } from '../fit/fit.ts';
import { shortenToFit } from '../fit/shorten-to-fit.ts';
import { correctionFor } from '../measure/calibration.ts';
import { tierOf } from '../measure/tiers.ts';
import { announceCuts, createFixedPrefixBuilder, type FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import type { Fitted, ViewRequest } from '../view/view.ts';
import { createIntake } from './intake.ts';
import { createReducedWindows } from './reduced-windows.ts';
import { statelessMethods } from './stateless-methods.ts';

/** Only the newest turns that fit: no summaries, no maintenance. Older messages stay searchable. */
export function createSlidingEngine({ services }: { readonly services: Services }): ContextEngine {
  const prefixes = createFixedPrefixBuilder(services, announceCuts(services));
  const reducedWindows = createReducedWindows();
  return {
    ...statelessMethods(createIntake(), reducedWindows),
    info: { id: 'sliding', name: 'Sliding window', version: '1', ownsCompaction: false },
    bootstrap: async () => ({ bootstrapped: false, reason: 'a sliding window has no state to prepare' }),
    async assemble(request) {
      const limitTokens = request.profile.windowTokens * reducedWindows.shareOf(request);
      return toAssembly(slide(prefixes, request, limitTokens), request.snapshot);
    },
    afterTurn({ profile, snapshot, measurement, addedTokens }) {
      const used =
        measurement.used - measurement.volatile + addedTokens * correctionFor(snapshot.conversation, profile.modelId);
      return { tier: tierOf(used / profile.windowTokens, profile.thresholds), due: false };
    },
    async compact(request) {
      const { profile, snapshot, readUpto } = request;
      const resting: ViewRequest = { profile, snapshot, readUpto, volatile: [], steps: [] };
      const tokensBefore = slide(prefixes, resting, profile.windowTokens).measurement.used;
      const idle = { ok: true, compacted: false, tokensBefore, tokensAfter: tokensBefore, snapshot };
      if (request.reason === 'manual') return { ...idle, reason: 'a sliding window keeps only what fits anyway' };
      const first = reducedWindows.shareOf(request) === 1;
      const limitTokens = profile.windowTokens * reducedWindows.reduce(request);
      const tokensAfter = first ? Math.min(tokensBefore, limitTokens) : tokensBefore;
      const reason = first ? 'the window was reduced for this turn' : 'the window cannot be reduced further';
      return { ok: true, compacted: first, reason, tokensBefore, tokensAfter, snapshot };
    },
    maintain: async () => ({ changed: false, reason: 'a sliding window has no summaries' }),
  };
}

/** The newest messages that fit, without summaries. */
export function slide(prefixes: FixedPrefixBuilder, request: ViewRequest, limitTokens: number): Fitted {
  const bare = withoutPassages({ ...request, snapshot: { ...request.snapshot, stack: [] } });
  return addPassages(prefixes, shortenToFit(prefixes, bare, limitTokens), request);
}
