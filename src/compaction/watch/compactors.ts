import { describe } from '../../domain/errors.ts';
import type { Entry } from '../../domain/message.ts';
import type { AfterTurn, ContextEngine, ContextProfile, Measurement } from '../../ports/engine.ts';
import type { ContextSnapshot, Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { type Assessment, type Compactor, createCompactor } from './compactor.ts';
import { createMeasureView, type MeasuredView, type MeasureView } from './measure.ts';

/** The compactors of the active conversations in this process, one each. A compactor without state is dropped. */
export interface Compactors {
  /** A message was stored that no turn of this process will answer. Returns at once. */
  stored(snapshot: ContextSnapshot, entry: Entry): void;
  /** A turn was stored together with its verdict, and with the messages that it answered and added. Returns at once. */
  answered(snapshot: ContextSnapshot, verdict: AfterTurn, seqs: readonly number[]): void;
  /** A maintenance job of the conversation has ended. */
  ended(conversationId: number): void;
  /** Resolves when all maintenance that became due before this call has been requested. */
  drained(): Promise<void>;
}

export interface CompactorsOptions {
  readonly services: Services;
  readonly profiles: { of(conversation: Conversation): Promise<ContextProfile> };
  engineFor(profile: ContextProfile): ContextEngine;
}

/** What the functions of this file share: the options, and the compactors that have state. */
interface Self extends CompactorsOptions {
  readonly measureView: MeasureView;
  readonly active: Map<number, Compactor>;
}

export function createCompactors(options: CompactorsOptions): Compactors {
  const self: Self = { ...options, measureView: createMeasureView(options.services), active: new Map() };
  const pending = new Set<Promise<void>>();
  const track = (looked: Promise<void>, { conversation }: ContextSnapshot) => {
    const reported = looked.catch((error: unknown) => {
      options.services.events.emit({
        kind: 'error.internal',
        conversation: conversation.key,
        message: describe(error),
      });
    });
    pending.add(reported);
    void reported.finally(() => pending.delete(reported));
  };
  return {
    stored: (snapshot, entry) => track(ingest(self, snapshot, entry), snapshot),
    answered(snapshot, verdict, seqs) {
      track(ingestBatch(self, snapshot, seqs), snapshot);
      if (needsAssessment(self, snapshot, verdict)) track(assessTurn(self, snapshot, verdict), snapshot);
    },
    ended(conversationId) {
      const compactor = self.active.get(conversationId);
      compactor?.ended();
      if (compactor?.quiet === true) self.active.delete(conversationId);
    },
    async drained() {
      await Promise.all(pending);
    },
  };
}

/** After most turns nothing is due and there is no state, so the view is not measured. */
function needsAssessment({ active }: Self, { conversation }: ContextSnapshot, { tier, due }: AfterTurn): boolean {
  return tier !== 'none' || due || active.has(conversation.id);
}

async function assessTurn(self: Self, snapshot: ContextSnapshot, verdict: AfterTurn): Promise<void> {
  const profile = await self.profiles.of(snapshot.conversation);
  await assess(self, snapshot, { ...verdict, measure: () => shownOf(profile, self.measureView(profile, snapshot)) });
}

function shownOf(
  { windowTokens }: ContextProfile,
  { shownTokens }: MeasuredView,
): Pick<Measurement, 'used' | 'window'> {
  return { used: shownTokens, window: windowTokens };
}

/** The engine already has this message. */
async function ingest(self: Self, snapshot: ContextSnapshot, { seq }: Entry): Promise<void> {
  const profile = await self.profiles.of(snapshot.conversation);
  const { ingested, due } = await self.engineFor(profile).ingest({ profile, snapshot, seq });
  if (!ingested) return;
  const measured = self.measureView(profile, snapshot);
  const { measurement } = measured;
  const verdict = { tier: measurement.tier, due };
  if (!needsAssessment(self, snapshot, verdict)) return;
  await assess(self, snapshot, { ...verdict, measure: () => shownOf(profile, measured) });
}

async function ingestBatch(self: Self, snapshot: ContextSnapshot, seqs: readonly number[]): Promise<void> {
  const profile = await self.profiles.of(snapshot.conversation);
  await self.engineFor(profile).ingestBatch({ profile, snapshot, seqs });
}

async function assess(
  self: Self,
  { conversation }: ContextSnapshot,
  assessment: Omit<Assessment, 'stored'>,
): Promise<void> {
  const compactor = self.active.get(conversation.id) ?? createCompactor({ services: self.services, conversation });
  self.active.set(conversation.id, compactor);
  // The commit of a turn stores the due time; for other messages it is stored here.
  const isStored = conversation.maintainAt !== null && conversation.maintainAt <= self.services.clock.now();
  const asked = compactor.assessed({ ...assessment, stored: isStored });
  if (compactor.quiet) self.active.delete(conversation.id);
  await asked;
}
