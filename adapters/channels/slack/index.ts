import type { z } from 'zod';
import {
  type Channel,
  type ChannelAdapter,
  type Clock,
  createSystemClock,
  type Log,
  loadOptional,
  requireObject,
  type StateStore,
  type StrataError,
  silentLog,
} from '../../../src/adapter-kit.ts';
import type { SlackBots } from './bots.ts';
import type { SlackOptions } from './options.ts';
import { split } from './outbound/split.ts';
import { PLATFORM } from './places/place.ts';
import { prefixOf, readSettings, settingsSchema } from './settings.ts';

/** Opens the channel for an app, with the settings of `[channels.slack]`. */
export const slackAdapter: ChannelAdapter = {
  settings: settingsSchema,
  create: async (table, { log, state, clock, onRefused }) =>
    openChannel({
      settings: readSettings(table),
      log,
      state,
      clock,
      fetch: globalThis.fetch,
      onRefused,
    }),
  async check(table, { log, state }) {
    const { checkSlack } = await load(() => import('./check.ts'));
    return await checkSlack({ settings: readSettings(table), log, state });
  },
  tasks: [
    {
      name: 'manifest',
      description: 'Print the manifest that creates the app in Slack with the scopes it needs.',
      needsSecrets: false,
      async run(table, { commandSpecs }) {
        const { manifestText } = await load(() => import('./manifest.ts'));
        return manifestText(readSettings(table), commandSpecs);
      },
    },
  ],
};

const load = <Module>(module: () => Promise<Module>) => loadOptional(['@slack/bolt'], module);

/** The options of `createSlackChannel`. Only the settings and the state are required. */
export interface SlackChannelOptions {
  /** `[channels.slack]`: the tokens, and any settings that differ from the defaults. */
  readonly settings: z.input<typeof settingsSchema>;
  /** Stores installations, drafts, greetings, and where threads began. Use the one of the bot's storage. */
  readonly state: StateStore;
  /** Default: logs nothing. */
  readonly log?: Log;
  readonly clock?: Clock;
  /** Fetches files, and answers commands. */
  readonly fetch?: typeof globalThis.fetch;
  /** Called when Slack has permanently refused the running app. Default: only logged. */
  readonly onRefused?: (error: StrataError) => void;
}

/**
 * The Slack channel. Loads its library at startup. Throws `USAGE` for settings that it cannot use.
 *
 * @example
 * const storage = await createSqliteStorage({ directory: 'data' });
 * const { SLACK_BOT_TOKEN: bot_token = '', SLACK_APP_TOKEN: app_token = '' } = process.env;
 * const slack = createSlackChannel({ settings: { bot_token, app_token }, state: storage.state });
 */
export function createSlackChannel(options: SlackChannelOptions): Channel {
  requireObject(options, 'createSlackChannel', '{ settings: { bot_token, app_token }, state: storage.state }');
  const { log = silentLog, clock = createSystemClock(), fetch = globalThis.fetch } = options;
  return openChannel({ ...options, settings: readSettings(options.settings), log, clock, fetch });
}

function openChannel(options: SlackOptions): Channel {
  let bots: SlackBots | null = null;
  let over = new AbortController();
  return {
    platform: PLATFORM,
    // Slack has no idempotency keys: a repeated post is recognised by the nonce in its metadata.
    traits: {
      idempotentPosts: true,
      ephemeral: true,
      commandPrefix: prefixOf(options.settings),
      personIds: 'workspace',
      loadImage: async (image, how) => (await bots?.loadImage(image, how)) ?? null,
    },
    async start(sink) {
      over = new AbortController();
      const { signal } = over;
      const { openSlackBots } = await load(() => import('./bots.ts'));
      const opened = await openSlackBots({ ...options, sink, over }).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (opened === null) return;
      bots = opened;
      try {
        await opened.start();
      } catch (error) {
        await opened.stop().catch(() => undefined);
        throw error;
      }
    },
    split: (text) => split(text),
    async post(post, signal) {
      if (bots === null) throw new Error('Slack is not connected.');
      return await bots.post(post, signal);
    },
    show: (conversation, activity) => bots?.show(conversation, activity),
    linkTo: async (message) => (await bots?.linkTo(message)) ?? null,
    async stop() {
      over.abort();
      await bots?.stop();
    },
  };
}
