import type { ContextEngine } from '../ports/engine.ts';
import type { Services } from '../services.ts';
import { addPassages, withoutPassages } from './add-passages.ts';
import { childrenWithout } from './engine-children.ts';
import { correctionOf, toAssembly } from './fit.ts';
import { announceCuts, createFixedPrefixBuilder, type FixedPrefixBuilder } from './fixed-prefix.ts';
import { createIntake } from './intake.ts';
import { createReducedWindows } from './reduced-windows.ts';
import { shortenToFit } from './shorten-to-fit.ts';
import { tierOf } from './tiers.ts';
import type { Fitted, ViewRequest } from './view.ts';

/** Only the newest turns that fit: no summaries, no maintenance. Older messages stay searchable. */
export function createSlidingEngine({ services }: { readonly services: Services }): ContextEngine {
  const prefixes = createFixedPrefixBuilder(services, announceCuts(services));
  const reducedWindows = createReducedWindows();
  const intake = createIntake();
  return {
    info: { id: 'sliding', name: 'Sliding window', version: '1', ownsCompaction: false },
    bootstrap: async () => ({ bootstrapped: false, reason: 'a sliding window has no state to prepare' }),
    async ingest({ snapshot, seq }) {
      return { ingested: intake.take(snapshot.conversation.id, seq), due: false };
    },
    async ingestBatch({ snapshot, seqs }) {
      return { ingested: seqs.filter((seq) => intake.take(snapshot.conversation.id, seq)).length };
    },
    async assemble(request) {
      const turn = { conversationId: request.snapshot.conversation.id, readUpto: request.readUpto };
      const limitTokens = request.profile.windowTokens * reducedWindows.shareOf(turn);
      const fitted = slide(prefixes, withoutPassages(request), limitTokens);
      return toAssembly(addPassages(prefixes, fitted, request), request.snapshot);
    },
    afterTurn({ profile, snapshot, measurement, addedTokens }) {
      const used = measurement.used - measurement.volatile + addedTokens * correctionOf(snapshot, profile.modelId);
      return { tier: tierOf(used / profile.windowTokens, profile.thresholds), due: false };
    },
    async compact(request) {
      const { profile, snapshot, readUpto } = request;
      const resting: ViewRequest = { profile, snapshot, readUpto, volatile: [], steps: [] };
      const turn = { conversationId: snapshot.conversation.id, readUpto };
      const tokensBefore = slide(prefixes, resting, profile.windowTokens).measurement.used;
      const idle = { ok: true, compacted: false, tokensBefore, tokensAfter: tokensBefore, snapshot };
      if (request.reason === 'manual') return { ...idle, reason: 'a sliding window keeps only what fits anyway' };
      const first = reducedWindows.shareOf(turn) === 1;
      const limitTokens = profile.windowTokens * reducedWindows.reduce(turn);
      const tokensAfter = first ? Math.min(tokensBefore, limitTokens) : tokensBefore;
      const reason = first ? 'the window was reduced for this turn' : 'the window cannot be reduced further';
      return { ok: true, compacted: first, reason, tokensBefore, tokensAfter, snapshot };
    },
    maintain: async () => ({ changed: false, reason: 'a sliding window has no summaries' }),
    ...childrenWithout(intake, reducedWindows),
    async dispose() {
      intake.clear();
    },
  };
}

/** The newest messages that fit, without summaries. */
export function slide(prefixes: FixedPrefixBuilder, request: ViewRequest, limitTokens: number): Fitted {
  const bare: ViewRequest = { ...request, snapshot: { ...request.snapshot, stack: [] } };
  return shortenToFit(prefixes, bare, limitTokens);
}
