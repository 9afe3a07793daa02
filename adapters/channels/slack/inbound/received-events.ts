import { z } from 'zod';
import { describe, type StateStore } from '../../../../src/adapter-kit.ts';
import { createRunning } from '../../shared/running.ts';
import { isDirect } from '../places/place.ts';
import type { BotServices } from '../services.ts';

const NAMESPACE = 'slack.seen';

/**
 * The kinds of events received so far. Slack does not tell bots which events their app subscribes to, so only received
 * events show it.
 */
export interface ReceivedEvents {
  /** Returns at once. */
  record(event: unknown): void;
  /** Resolves when everything is stored. */
  drained(): Promise<void>;
}

export function createReceivedEvents({ state, log }: Pick<BotServices, 'state' | 'log'>): ReceivedEvents {
  const known = new Set<string>();
  const running = createRunning();
  return {
    record(event) {
      const kind = kindOf(event);
      if (kind === null || known.has(kind)) return;
      known.add(kind);
      const keeping = state.set(NAMESPACE, kind, true).catch((error: unknown) => {
        known.delete(kind);
        log.debug('The kind of a received event was not recorded', { kind, cause: describe(error) });
      });
      void running.track(keeping);
    },
    drained: running.drained,
  };
}

export async function receivedKinds(state: StateStore): Promise<ReadonlySet<string>> {
  return new Set((await state.list(NAMESPACE)).map(({ key }) => key));
}

const eventSchema = z.object({
  type: z.string(),
  channel: z.unknown(),
  channel_type: z.string().nullish().catch(null),
});

const MESSAGES = new Map([
  ['channel', 'message.channels'],
  ['group', 'message.groups'],
  ['im', 'message.im'],
  ['mpim', 'message.mpim'],
]);

/** The name used in the app's subscription. Null if the event does not show it. */
function kindOf(event: unknown): string | null {
  const { type, channel, channel_type: channelType } = eventSchema.safeParse(event).data ?? {};
  if (type !== 'message') return type ?? null;
  const place = channelType ?? (isDirect(String(channel), null) ? 'im' : '');
  return MESSAGES.get(place) ?? null;
}
