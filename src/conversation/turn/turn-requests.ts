import { StrataError } from '../../domain/errors.ts';
import type { Assembly } from '../../ports/engine.ts';
import type { Claim, ContextSnapshot } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import type { OpenedImages } from './images/opened-images.ts';
import type { RequestEffects } from './loop/effects.ts';
import type { PreparedTurn, TurnBasis } from './prepare.ts';
import type { RefusedPast } from './refused/refused-past.ts';
import type { Opening } from './reply-options.ts';
import { wholeView } from './waiting/too-many-waiting.ts';

/** Owns the view of a turn that runs, and the newest request made of it. */
export interface TurnRequests {
  readonly effects: RequestEffects;
  /** Null before the first one. */
  last(): LastRequest | null;
}

export interface LastRequest {
  readonly turn: TurnBasis;
  /** The view after it. */
  readonly snapshot: ContextSnapshot;
  readonly assembly: Assembly;
  /** With what was left out because the provider's filter had refused it. */
  readonly whole: Assembly;
  /** How many messages of the turn itself `whole` contains. */
  readonly steps: number;
}

interface Shared {
  readonly clock: Services['clock'];
  readonly past: RefusedPast;
  readonly images: OpenedImages;
}

export function createTurnRequests(turn: PreparedTurn, { clock, past, images }: Shared): TurnRequests {
  const { leased, basis, volatile } = turn;
  const { profile, newest, engine } = basis;
  let { snapshot } = basis;
  let last: Omit<LastRequest, 'turn' | 'snapshot'> | null = null;
  return {
    effects: {
      async assemble(steps) {
        snapshot = await latestView(snapshot, leased);
        const read = { readUpto: newest.seq, volatile, now: clock.now() };
        const whole = await wholeView(engine, { profile, snapshot, ...read, steps: images.after(steps) });
        const assembly = past.reduce(whole);
        last = { assembly, whole, steps: steps.length };
        // Freeing space reads the view again, and may find that no message is left to answer.
        snapshot = requireClaim(assembly.snapshot, leased.claim);
        return assembly;
      },
      async makeRoom() {
        const request = { profile, snapshot, readUpto: newest.seq, reason: 'overflow' as const };
        const result = await engine.compact({ ...request, now: clock.now() });
        snapshot = result.snapshot;
        return result.compacted;
      },
      leaveOut: past.refused,
    },
    last: () => (last === null ? null : { ...last, turn: basis, snapshot }),
  };
}

/**
 * The current view, so that text that was edited or deleted during the turn is not sent again. Throws `CLAIM_LOST`, so
 * that a turn without its claim ends here instead of after its last step.
 */
async function latestView(known: ContextSnapshot, { claim, latest }: Opening): Promise<ContextSnapshot> {
  const now = await latest();
  if (now === null || now.conversation.revision <= known.conversation.revision) return known;
  return requireClaim(now, claim);
}

function requireClaim(snapshot: ContextSnapshot, { epoch }: Claim): ContextSnapshot {
  const { key, replyEpoch } = snapshot.conversation;
  if (replyEpoch !== epoch) throw new StrataError('CLAIM_LOST', { conversation: key, work: 'reply' });
  return snapshot;
}
