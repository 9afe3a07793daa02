import {
  type Channel,
  type ChannelAdapter,
  type Clock,
  createSystemClock,
  createSystemRandom,
  type Log,
  loadOptional,
  type Random,
  requireObject,
  type StateStore,
  type StrataError,
  silentLog,
} from '../../../src/adapter-kit.ts';
import type { BotContext, DiscordBot } from './bot.ts';
import type { Fetch } from './inbound/files.ts';
import { MESSAGE_LENGTH, split } from './outbound/split.ts';
import { linkTo, PLATFORM, placeOfKey } from './places/place.ts';
import { botsOf, type DiscordSettings, type NamedBot, settingsSchema, siteOf } from './settings.ts';

/** The options of `createDiscordChannel`. Only the settings and the state are required. */
export interface DiscordOptions {
  /** `[channels.discord]`: a token, and any settings that differ from the defaults. */
  readonly settings: DiscordSettings;
  /** Stores registrations, drafts and the commands of long buttons. Use the one of the bot's storage. */
  readonly state: StateStore;
  /** Default: logs nothing. */
  readonly log?: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Fetches text files that people attach. */
  readonly fetch?: Fetch;
  /** Called when Discord has permanently refused the last of the bots. Default: only logged. */
  readonly onRefused?: (error: StrataError) => void;
}

/** Opens the channel for an app, with the settings of `[channels.discord]`. */
export const discordAdapter: ChannelAdapter = {
  settings: settingsSchema,
  create: async (table, { log, state, clock, random, onRefused }) =>
    openChannel(botsOf(table), { log, state, clock, random, fetch: globalThis.fetch, onRefused }),
  async check(table, context) {
    const { checkBot } = await load(() => import('./check.ts'));
    return (await Promise.all(botsOf(table).map((bot) => checkBot(bot, context)))).flat();
  },
  tasks: [
    {
      name: 'invite',
      description: 'Print the link that adds the bot to a server with the permissions it needs.',
      async run(table) {
        const { inviteTo } = await load(() => import('./check.ts'));
        return (await Promise.all(botsOf(table).map((bot) => inviteTo(bot, silentLog)))).join('\n');
      },
    },
  ],
};

/**
 * The Discord channel. Loads its library at startup.
 *
 * @example
 * const storage = await createSqliteStorage({ directory: 'data' });
 * const settings = { token: process.env['DISCORD_BOT_TOKEN'] ?? '' };
 * const discord = createDiscordChannel({ settings, state: storage.state });
 */
export function createDiscordChannel(options: DiscordOptions): Channel {
  requireObject(options, 'createDiscordChannel', '{ settings: { token }, state: storage.state }');
  const { settings, state, log = silentLog, clock = createSystemClock(), fetch = globalThis.fetch } = options;
  const random = options.random ?? createSystemRandom(clock);
  const { onRefused = () => undefined } = options;
  return openChannel(botsOf(settings), { log, state, clock, random, fetch, onRefused });
}

const load = <Module>(module: () => Promise<Module>) => loadOptional(['discord.js'], module);

function openChannel(bots: readonly NamedBot[], context: BotContext): Channel {
  const running = new Map<string, DiscordBot>();
  let over = new AbortController();
  const refused = new Set<string>();
  const onRefused = (name: string) => (error: StrataError) => {
    refused.add(name);
    // The others continue.
    if (refused.size === bots.length) context.onRefused(error);
  };
  const botOf = (name: string): DiscordBot => {
    const bot = running.get(name);
    if (bot === undefined) throw new Error(`There is no Discord bot named "${name}" in [channels.discord].`);
    return bot;
  };
  const settingsOf = (name: string) => bots.find((bot) => bot.name === name)?.settings ?? { rest_url: '' };
  const fileAbove = Math.min(...bots.map(({ settings }) => settings.file_above_parts));
  return {
    platform: PLATFORM,
    traits: { idempotentPosts: true, ephemeral: true, commandPrefix: '/', personIds: 'platform' },
    async start(sink) {
      over = new AbortController();
      const { signal } = over;
      try {
        const { createDiscordBot } = await load(() => import('./bot.ts'));
        if (signal.aborted) return;
        for (const bot of bots)
          running.set(bot.name, createDiscordBot({ ...context, bot, sink, onRefused: onRefused(bot.name) }));
        await Promise.all([...running.values()].map((bot) => bot.start()));
      } catch (error) {
        await stopAll(running);
        throw error;
      }
    },
    split: (text) => split(text, { limit: MESSAGE_LENGTH, fileAbove }),
    post: async (post, signal) => await botOf(placeOfKey(post.conversation).bot).post(post, signal),
    show(conversation, activity) {
      running.get(placeOfKey(conversation).bot)?.show(conversation, activity);
    },
    linkTo: async (message) => linkTo(message, siteOf(settingsOf(placeOfKey(message.conversation).bot))),
    async stop() {
      over.abort();
      await stopAll(running);
    },
  };
}

/** The bots stay connected for the remaining posts. */
async function stopAll(running: ReadonlyMap<string, DiscordBot>): Promise<void> {
  await Promise.all([...running.values()].map((bot) => bot.stop()));
}
