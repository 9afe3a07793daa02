import { describe, type InboundMessage } from '../../../../src/adapter-kit.ts';
import { passes } from '../../shared/access-list.ts';
import { channelIn, type UserContexts } from '../inbound/user-context.ts';
import type { PostRate } from '../outbound/post-rate.ts';
import { isServed } from '../places/access.ts';
import { isDirect, placeOfKey } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import { appContextChangedSchema, assistantSchema, homeOpenedSchema } from '../wire.ts';
import type { Home } from './home.ts';

const GREETED = 'slack.greeted';
const TITLE_LENGTH = 60;

export interface SurfaceOptions extends Pick<BotServices, 'workspace' | 'settings' | 'state' | 'signal' | 'log'> {
  readonly home: Home;
  readonly userContexts: UserContexts;
  readonly rate: PostRate;
}

/**
 * What Slack's agent surface shows around a conversation. Best effort: nothing here prevents a message from being
 * stored.
 */
export interface Surface {
  /** True if the event belonged to the surface. */
  event(type: string, event: unknown): boolean;
  /** The first message of a conversation was stored. */
  began(message: InboundMessage): void;
  drained(): Promise<void>;
}

export function createSurface(options: SurfaceOptions): Surface {
  let running: Promise<unknown> = Promise.resolve();
  /** One at a time, so that two simultaneous events greet only once. */
  const later = (work: () => Promise<unknown>): void => {
    running = running.then(work).catch((error: unknown) => {
      options.log.debug('The App Home, the greeting or a title could not be shown', { cause: describe(error) });
    });
  };
  const { settings } = options;
  /** Synchronously, because the next message may already be on its way. */
  const setViewed = (userId: string, channelId: string | null): void => {
    const stored = Promise.allSettled([options.userContexts.setViewed(userId, channelId)]);
    later(() => stored);
  };
  const serves = (channelId: string, userId: string) => isServed(settings, { channelId, userId, isOutsider: false });
  const handlers: Readonly<Record<string, (event: unknown) => void>> = {
    app_home_opened(event) {
      const { user, channel, tab, context } = homeOpenedSchema.parse(event);
      if (!serves(channel, user)) return;
      if (context) setViewed(user, channelIn(context));
      if (tab === 'home') later(() => options.home.publish(user));
      else if (settings.surface === 'agent') later(() => welcome(options, { channel, user, threadTs: null }));
    },
    assistant_thread_started(event) {
      const { user_id: user, channel_id: channel, thread_ts: threadTs, context } = threadIn(event);
      if (!serves(channel, user)) return;
      setViewed(user, context?.channel_id ?? null);
      later(() => welcome(options, { channel, user, threadTs }));
    },
    assistant_thread_context_changed(event) {
      const { user_id: user, channel_id: channel, context } = threadIn(event);
      if (serves(channel, user)) setViewed(user, context?.channel_id ?? null);
    },
    app_context_changed(event) {
      const { user, context } = appContextChangedSchema.parse(event);
      if (user && settings.direct_messages && passes(settings.users, user)) setViewed(user, channelIn(context));
    },
  };
  return {
    event(type, event) {
      const handler = handlers[type];
      handler?.(event);
      return handler !== undefined;
    },
    began(message) {
      const { channelId, threadTs } = placeOfKey(message.conversation);
      if (threadTs === null || !isDirect(channelId, null)) return;
      const title = message.text.replace(/\s+/g, ' ').slice(0, TITLE_LENGTH).toWellFormed();
      const { web } = options.workspace;
      if (title !== '')
        later(() => web.assistant.threads.setTitle({ channel_id: channelId, thread_ts: threadTs, title }));
    },
    async drained() {
      await running;
    },
  };
}

function threadIn(event: unknown) {
  return assistantSchema.parse(event).assistant_thread;
}

interface Opening {
  readonly channel: string;
  readonly user: string;
  /** The assistant's thread; null on the agent surface, which has none yet. */
  readonly threadTs: string | null;
}

/** Suggestions each time; the greeting once per person, and in each of the assistant's threads. */
async function welcome(
  { workspace, settings, state, rate, signal }: SurfaceOptions,
  { channel, user, threadTs }: Opening,
): Promise<void> {
  const { web, teamId } = workspace;
  const thread = threadTs === null ? {} : { thread_ts: threadTs };
  const person = `${teamId}:${user}`;
  const isGreeted = threadTs === null && (await state.get(GREETED, person)) !== undefined;
  if (settings.greeting !== '' && !isGreeted) {
    await state.set(GREETED, person, channel);
    const greeting = { channel, text: settings.greeting, mrkdwn: false, ...thread };
    await rate({ channel, signal }, () => web.chat.postMessage(greeting));
  }
  if (settings.prompts.length === 0) return;
  await web.apiCall('assistant.threads.setSuggestedPrompts', {
    channel_id: channel,
    ...thread,
    prompts: settings.prompts,
  });
}
