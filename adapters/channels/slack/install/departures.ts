import { z } from 'zod';
import {
  type ChannelSink,
  type Clock,
  DAY_MS,
  describe,
  HOUR_MS,
  type Log,
  type StateStore,
} from '../../../../src/adapter-kit.ts';
import { forgetWorkspace } from '../inbound/leaving.ts';

const NAMESPACE = 'slack.departures';

/** How long the data of a workspace is kept after the app was removed. */
const GRACE_MS = 7 * DAY_MS;
const LOOK_MS = HOUR_MS;

const markSchema = z.object({
  at: z.number(),
  /** Which installation has ended; null for the only workspace of a bot. */
  installedAt: z.number().nullable(),
});

export interface DepartureOptions {
  readonly sink: ChannelSink;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Workspaces that removed the app. Their data is deleted after a grace period, unless they install it again. */
export interface Departures {
  /** The installation has ended: its period starts now, unless it has already started. Durable when it resolves. */
  mark(teamId: string, installedAt: number | null): Promise<void>;
  /** Deletes what is due. `deleted` runs after the data is gone. */
  settle(workspaces: {
    standing(teamId: string, installedAt: number | null): Promise<Standing>;
    deleted(teamId: string, installedAt: number | null): Promise<void>;
  }): Promise<void>;
}

/** `back`: the app is installed. `reinstalled`: it was, and has ended again, so the mark is not of that end. */
export type Standing = 'gone' | 'back' | 'reinstalled';

export function createDepartures(options: DepartureOptions): Departures {
  const { state, clock, log, signal } = options;
  return {
    async mark(teamId, installedAt) {
      const from = await state.get(NAMESPACE, teamId);
      if (markSchema.safeParse(from).data?.installedAt === installedAt) return;
      const at = clock.now();
      // Another gateway may have marked it in between.
      if (!(await state.swap(NAMESPACE, teamId, { from, to: { at, installedAt } }))) return;
      const deletedAt = new Date(at + GRACE_MS).toISOString();
      log.warn('The app was removed from a workspace; its data will be deleted later', { team: teamId, deletedAt });
    },
    async settle({ standing, deleted }) {
      for (const { key: teamId, value } of await state.list(NAMESPACE)) {
        if (signal.aborted) return;
        const { at, installedAt } = markSchema.parse(value);
        const passedMs = clock.now() - at;
        const now = await standing(teamId, installedAt);
        if (now === 'gone' && passedMs < 0) {
          // The clock has been set back since. The period starts again, or it would last until the clock is there again.
          await state.swap(NAMESPACE, teamId, { from: value, to: { at: clock.now(), installedAt } });
        }
        if (now === 'reinstalled' || (now === 'gone' && passedMs < GRACE_MS)) continue;
        if (now === 'gone') {
          await forgetWorkspace(options, teamId);
          await deleted(teamId, installedAt);
        }
        await state.swap(NAMESPACE, teamId, { from: value, to: undefined });
      }
    },
  };
}

/** Checks now and every hour until the signal aborts. A failed check is repeated with the next. */
export async function lookHourly(
  { clock, log, signal }: Pick<DepartureOptions, 'clock' | 'log' | 'signal'>,
  look: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await look();
    } catch (error) {
      log.warn('Workspaces could not be checked', { cause: describe(error) });
    }
    await clock.sleep(LOOK_MS, { signal }).catch(() => undefined);
  }
}
