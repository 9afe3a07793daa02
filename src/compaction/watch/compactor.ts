import { describe } from '../../domain/errors.ts';
import type { Measurement, Tier } from '../../ports/engine.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { isPaused } from '../../util/async/pause.ts';

/**
 * Watches the view of one conversation and requests maintenance when it is due. It calls no model and never waits. It
 * remembers that it requested a job, and checks again after the job has ended.
 */
export interface Compactor {
  /** Called with every assessment of the view. Resolves when a due job has been requested; never rejects. */
  assessed(assessment: Assessment): Promise<void>;
  /** The requested job has ended, successfully or not. */
  ended(): void;
  /** True if there is no state to keep, so the compactor can be dropped and recreated. */
  readonly quiet: boolean;
}

export interface Assessment {
  readonly tier: Tier;
  readonly due: boolean;
  /** Called only when the tier has changed, because measuring a view takes time. */
  measure(): Pick<Measurement, 'used' | 'window'>;
  /** Whether the due time was stored with the turn, so that a crash cannot lose it. */
  readonly stored: boolean;
}

export interface CompactorOptions {
  readonly services: Pick<Services, 'store' | 'queue' | 'events' | 'clock'>;
  readonly conversation: Pick<Conversation, 'id' | 'key'>;
}

/** A job whose end is not reported by then ran in another process or was lost, so it is requested again. */
const REQUEST_LIFETIME_MS = 30_000;

export function createCompactor({ services, conversation }: CompactorOptions): Compactor {
  const { events, clock, queue } = services;
  const { id, key } = conversation;
  let tier: Tier = 'none';
  /** Until when the end of the requested job is awaited; null if none was requested. */
  let awaitedUntil: number | null = null;
  let again = false;
  const isRequested = (): boolean => isPaused(awaitedUntil, { now: clock.now(), maxMs: REQUEST_LIFETIME_MS });
  const request = (): void => {
    awaitedUntil = clock.now() + REQUEST_LIFETIME_MS;
    again = false;
    events.emit({ kind: 'maintenance.requested', conversation: key, tier: tier === 'none' ? 'gap' : tier });
    queue.kick(id);
  };
  return {
    async assessed(assessment) {
      if (assessment.tier !== tier) {
        tier = assessment.tier;
        const { used, window } = assessment.measure();
        events.emit({ kind: 'context.tier', conversation: key, tier, used, window });
      }
      if (!assessment.due) return;
      if (isRequested()) again = true;
      else if (assessment.stored) request();
      else await storeDueTime(services, conversation).then(request, request);
    },
    ended() {
      awaitedUntil = null;
      if (again) request();
    },
    get quiet() {
      return tier === 'none' && !isRequested();
    },
  };
}

/** The sweeper finds the time in the store if the kick is lost. */
async function storeDueTime(
  { store, clock, events }: CompactorOptions['services'],
  { id, key }: CompactorOptions['conversation'],
) {
  try {
    await store.conversations.change(id, { kind: 'maintain', at: clock.now() });
  } catch (error) {
    events.emit({ kind: 'error.internal', conversation: key, message: describe(error) });
  }
}
