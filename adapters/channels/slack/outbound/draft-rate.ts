import { type Clock, MINUTE_MS } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import { retryAfterOf } from '../web/web.ts';

/** Slack's limit for an app per minute and workspace, minus a reserve. */
const MAX_PER_MINUTE = { 'chat.startStream': 18, 'chat.appendStream': 90 } as const;
export type DraftMethod = keyof typeof MAX_PER_MINUTE;

/**
 * All drafts of a workspace share Slack's limit. None of them waits: what is not shown now is shown with the next
 * delta.
 */
export interface DraftRate {
  /** Whether the method may be called now; if so, the call counts. */
  mayCall(method: DraftMethod): boolean;
  /** True for a rate limit error: the method then pauses for as long as Slack asks. */
  isRefusal(method: DraftMethod, error: unknown): boolean;
}

export function createDraftRate(clock: Clock): DraftRate {
  const calls = new Map<DraftMethod, number[]>();
  const holds = new Map<DraftMethod, { readonly at: number; readonly ms: number }>();
  return {
    mayCall(method) {
      const lately = (calls.get(method) ?? []).filter((at) => elapsedMs(clock, at) < MINUTE_MS);
      const held = holds.get(method);
      const isHeld = held !== undefined && elapsedMs(clock, held.at) < held.ms;
      const isFree = lately.length < MAX_PER_MINUTE[method] && !isHeld;
      calls.set(method, isFree ? [...lately, clock.now()] : lately);
      return isFree;
    },
    isRefusal(method, error) {
      const seconds = retryAfterOf(error);
      if (seconds !== null) holds.set(method, { at: clock.now(), ms: seconds * 1000 });
      return seconds !== null;
    },
  };
}
