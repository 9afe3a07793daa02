import { describe } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Events } from '../../ports/events.ts';
import { isPaused } from '../async/pause.ts';
import { createRecentMap } from '../recent-map.ts';
import { MINUTE_MS } from '../time/time.ts';

const MAX_MESSAGES = 20;

/**
 * Reports failures of work that is repeated every few seconds, the same failure once a minute: while a store is away,
 * one line would otherwise follow the other for hours.
 */
export function createRepeatedReport(services: {
  readonly events: Events;
  readonly clock: Clock;
}): (error: unknown) => void {
  const quietUntil = createRecentMap<string, number>(MAX_MESSAGES);
  return (error) => {
    const message = describe(error);
    const now = services.clock.now();
    if (isPaused(quietUntil.get(message) ?? null, { now, maxMs: MINUTE_MS })) return;
    quietUntil.set(message, now + MINUTE_MS);
    services.events.emit({ kind: 'error.internal', conversation: null, message });
  };
}
