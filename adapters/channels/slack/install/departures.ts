import { z } from 'zod';
import { type ChannelSink, type Clock, describe, type Log, type StateStore } from '../../../../src/adapter-kit.ts';
import { forgetWorkspace } from '../inbound/leaving.ts';

const NAMESPACE = 'slack.departures';

/** How long the data of a workspace is kept after the app was removed. */
const GRACE_MS = 7 * 86_400_000;
const LOOK_MS = 3_600_000;

const markSchema = z.object({ at: z.number() });

export interface DepartureOptions {
  readonly sink: ChannelSink;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Workspaces that removed the app. Their data is deleted after a grace period, unless they install it again. */
export interface Departures {
  /** The app was removed now: starts the period. Durable when it resolves. */
  mark(teamId: string): Promise<void>;
  /** The same, unless the period has already started. */
  markOnce(teamId: string): Promise<void>;
  /**
   * Deletes what is due. `isBack` returns whether the app is installed again; `deleted` runs after the data is gone.
   */
  settle(workspaces: {
    isBack(teamId: string): Promise<boolean>;
    deleted(teamId: string): Promise<void>;
  }): Promise<void>;
}

export function createDepartures(options: DepartureOptions): Departures {
  const { state, clock, log, signal } = options;
  const mark = async (teamId: string): Promise<void> => {
    await state.set(NAMESPACE, teamId, { at: clock.now() });
    const deletedAt = new Date(clock.now() + GRACE_MS).toISOString();
    log.warn('The app was removed from a workspace; its data will be deleted later', { team: teamId, deletedAt });
  };
  return {
    mark,
    async markOnce(teamId) {
      if ((await state.get(NAMESPACE, teamId)) === undefined) await mark(teamId);
    },
    async settle({ isBack, deleted }) {
      for (const { key: teamId, value } of await state.list(NAMESPACE)) {
        if (signal.aborted) return;
        const { at } = markSchema.parse(value);
        const isDue = clock.now() - at >= GRACE_MS;
        const isHere = await isBack(teamId);
        if (!isDue && !isHere) continue;
        if (isDue && !isHere) {
          await forgetWorkspace(options, teamId);
          await deleted(teamId);
        }
        await state.delete(NAMESPACE, teamId);
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
