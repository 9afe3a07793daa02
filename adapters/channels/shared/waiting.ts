import { type Clock, MINUTE_MS } from '../../../src/adapter-kit.ts';

/** Most characters of live messages and edits that wait for the store: a member who writes all night must not fill the memory. */
export const MAX_WAITING_CHARACTERS = 50_000_000;

/** A shorter limit would leave out what a short failure delays. */
const MIN_PAST_MS = 10 * MINUTE_MS;

/** Whether a live message has waited for the store since a moment as long as a missed one may, and is not answered either. */
export function hasWaitedTooLong(
  {
    clock,
    settings,
  }: { readonly clock: Clock; readonly settings: { readonly catch_up: { readonly answer_minutes: number } } },
  since: number,
): boolean {
  return clock.now() - since > Math.max(MIN_PAST_MS, settings.catch_up.answer_minutes * MINUTE_MS);
}
