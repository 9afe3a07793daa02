import { type AnyThreadChannel, Events, Routes } from 'discord.js';
import {
  type Activity,
  type ChannelSink,
  type Clock,
  type ConversationKey,
  describe,
  type Log,
  type Post,
  type Random,
  type StateStore,
  type StrataError,
} from '../../../src/adapter-kit.ts';
import { createAllowance } from '../shared/allowance.ts';
import { buttonSecretOf } from '../shared/hashes.ts';
import { showActivity } from '../shared/show-activity.ts';
import { within } from '../shared/within.ts';
import type { WorkingSigns } from '../shared/working-signs.ts';
import { createButtons } from './commands/buttons.ts';
import { commandsJson } from './commands/command-json.ts';
import { type CommandHandlers, createCommandHandlers } from './commands/commands.ts';
import { TYPED_PER_MINUTE } from './commands/mentions.ts';
import { registerCommands, scopesOf } from './commands/register.ts';
import { dropped } from './drops.ts';
import { createConnection, type Listener, refusalError } from './gateway/connection.ts';
import { type AudienceWatch, createAudienceWatch } from './inbound/audience.ts';
import { type CatchUp, createCatchUp } from './inbound/catch-up.ts';
import type { Fetch } from './inbound/files.ts';
import { createFirstConnections } from './inbound/first-connections.ts';
import { createFirstMessages } from './inbound/first-messages.ts';
import { createLeaving, type Leaving } from './inbound/leaving.ts';
import { createMembers } from './inbound/members.ts';
import { createReceiver, type Receiver } from './inbound/receive.ts';
import { createUnread } from './inbound/unread.ts';
import { createDrafts, type Drafts } from './outbound/drafts.ts';
import { createPoster, type Poster } from './outbound/post.ts';
import { createTyping } from './outbound/typing.ts';
import { servesPlace } from './places/access.ts';
import { createPlaces, placeFrom } from './places/places.ts';
import { createUnwritable, type Unwritable } from './places/unwritable.ts';
import type { BotServices } from './services.ts';
import { API_URL, type NamedBot } from './settings.ts';
import { createRest, type Rest, readApplication } from './web/rest.ts';

/** One bot account: its connection and everything that goes through it. */
export interface DiscordBot {
  start(): Promise<void>;
  post(post: Post, options: { readonly signal: AbortSignal }): Promise<{ readonly platformMessageId: string }>;
  show(conversation: ConversationKey, activity: Activity): void;
  stop(): Promise<void>;
}

export interface BotContext {
  readonly log: Log;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  /** Discord has refused the bot permanently, so it receives nothing any more. */
  readonly onRefused: (error: StrataError) => void;
}

export interface DiscordBotOptions extends BotContext {
  readonly bot: NamedBot;
  readonly sink: ChannelSink;
}

export function createDiscordBot(options: DiscordBotOptions): DiscordBot {
  const { log, bot } = options;
  const rest = createRest(bot.settings, log);
  const over = new AbortController();
  const drafts = createDrafts({ ...options, ...bot, bot: bot.name, rest, userId: () => intake.userId() });
  const intake = createIntake(options, { rest, drafts, signal: over.signal });
  const typing = createTyping(rest);
  const poster = createPoster({ rest, log, settings: bot.settings, userId: () => intake.userId() });
  const sender: Sender = { poster, drafts, typing };
  return {
    async start() {
      await intake.connect();
      if (over.signal.aborted) return;
      await introduce(options, { rest, own: (ids) => intake.setOwners(ids) });
      await drafts.sweep();
      await intake.sweep();
    },
    async post(post, { signal }) {
      try {
        return await send(sender, post, { signal });
      } catch (error) {
        intake.unwritable.failed(post.conversation, error);
        throw error;
      }
    },
    show: (conversation, activity) => showActivity({ typing, drafts }, conversation, activity),
    async stop() {
      over.abort();
      typing.end();
      await intake.close();
    },
  };
}

interface Sender {
  readonly poster: Poster;
  readonly drafts: Drafts;
  readonly typing: WorkingSigns;
}

async function send(
  { poster, drafts, typing }: Sender,
  post: Post,
  options: { readonly signal: AbortSignal },
): Promise<{ readonly platformMessageId: string }> {
  typing.stop(post.conversation);
  const draft = post.unaskedAt === undefined ? await drafts.take(post) : null;
  const replaced = draft === null ? null : await poster.replace(draft, post, options);
  if (replaced !== null) {
    await drafts.settled(post);
    return { platformMessageId: replaced };
  }
  // The draft is gone or cannot be changed, so the reply is posted as if there had been none.
  if (draft !== null) await drafts.discard(post, draft);
  return { platformMessageId: await poster.send(post, options) };
}

/** Loads the owners of the bot and registers its commands. A failure does not stop the bot from talking. */
async function introduce(
  { bot: { settings }, sink, state, log }: DiscordBotOptions,
  { rest, own }: { readonly rest: Rest; readonly own: (ids: readonly string[]) => void },
): Promise<void> {
  try {
    const application = await readApplication(rest);
    own(application.ownerIds);
    const commands = commandsJson(sink.commandSpecs, settings.localizations);
    await registerCommands({ rest, state, log, applicationId: application.id, commands, scopes: scopesOf(settings) });
  } catch (error) {
    log.warn('The commands could not be registered with Discord', { cause: describe(error) });
  }
}

interface Intake {
  readonly unwritable: Pick<Unwritable, 'failed'>;
  connect(): Promise<void>;
  userId(): string;
  setOwners(ids: readonly string[]): void;
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Everything that handles incoming events. */
function createIntake(
  options: DiscordBotOptions,
  { rest, drafts, signal }: { readonly rest: Rest; readonly drafts: Drafts; readonly signal: AbortSignal },
): Intake {
  const { settings, name } = options.bot;
  const { log, clock, random, state, sink } = options;
  const places = createPlaces(() => connection.client);
  const base: BotServices = { bot: name, settings, sink, rest, places, clock, log, signal };
  const unwritable = createUnwritable(base);
  const audiences = createAudienceWatch(base);
  const unread = createUnread(state, name);
  const leaving = settings.purge_on_leave ? createLeaving({ ...base, unread }) : null;
  const firstConnections = createFirstConnections(state, name);
  const catchUp = createCatchUp({
    ...base,
    firstConnections,
    unread,
    audiences,
    leaving,
    later: () => receiver,
  });
  const receiver = createReceiver({
    ...base,
    firstConnections,
    audiences,
    members: createMembers({ rest, clock }),
    firstMessages: createFirstMessages(state),
    unwritable,
    files: {
      fetch: options.fetch,
      textBytes: settings.attachments.text_kb * 1000,
      extraHost: hostOf(settings.rest_url),
    },
    caughtUp: catchUp.passed,
    onAsked: drafts.answers,
  });
  const buttons = createButtons({ secret: buttonSecretOf(settings.token), state, clock, random });
  let owners: readonly string[] = [];
  const mayLookUp = createAllowance(clock, TYPED_PER_MINUTE);
  const commandHandlers = createCommandHandlers({ ...base, buttons, ownerIds: () => owners, mayLookUp });
  const connection = createConnection({
    ...base,
    random,
    listener: listenerOf(options, { ...base, audiences, leaving, catchUp, receiver, commandHandlers }),
  });
  if (!settings.message_content) log.info(BLIND);
  return {
    unwritable,
    connect: connection.start,
    userId: () => places.self(null).userId,
    setOwners: (ids) => {
      owners = ids;
    },
    sweep: buttons.sweep,
    async close() {
      await connection.stop();
      await catchUp.drained();
      const all = [receiver, commandHandlers, audiences, ...(leaving === null ? [] : [leaving])];
      await within(clock, MAX_DRAIN_MS, Promise.all(all.map((one) => one.drained())));
    },
  };
}

/** The library waits for the end of a rate limit even if the bot stops. What is not done is read at the next start. */
const MAX_DRAIN_MS = 3_000;

interface Listening {
  readonly rest: Rest;
  readonly signal: AbortSignal;
  readonly audiences: AudienceWatch;
  readonly leaving: Leaving | null;
  readonly catchUp: CatchUp;
  readonly receiver: Receiver;
  readonly commandHandlers: CommandHandlers;
}

function listenerOf(options: DiscordBotOptions, { rest, signal, ...intake }: Listening): Listener {
  const { log, sink, onRefused } = options;
  const { audiences, leaving, catchUp, receiver, commandHandlers } = intake;
  return {
    opened(client) {
      audiences.listen(client);
      leaving?.listen(client);
      client.on(Events.ThreadCreate, (thread, isNew) => {
        if (isNew) join(options, rest, thread);
      });
    },
    packet(type, data, shardId) {
      if (signal.aborted) return;
      receiver.packet(type, data, shardId);
      commandHandlers.packet(type, data);
      leaving?.packet(type, data);
    },
    odd: (problem) => dropped(sink, { reason: 'malformed', event: 'frame', problem }),
    sessionBegan: catchUp.sessionBegan,
    guildsKnown: catchUp.guildsKnown,
    guildKnown: catchUp.guildKnown,
    refused(refusal) {
      const error = refusalError(refusal);
      log.error(error.message);
      onRefused(error);
    },
  };
}

const BLIND =
  'message_content is off: in servers the bot reads only messages that mention it, also in the modes "active" and "observe".';

/** A bot that cannot see everything receives no events of public threads that it has not joined. */
function join({ bot: { settings }, log }: DiscordBotOptions, rest: Rest, thread: AnyThreadChannel): void {
  const place = placeFrom(thread);
  if (!settings.join_threads || place === null || !servesPlace(settings, place)) return;
  rest.put(Routes.threadMembers(thread.id, '@me')).catch((error: unknown) => {
    log.debug('A thread was not joined', { thread: thread.id, cause: describe(error) });
  });
}

function hostOf(url: string): string {
  return url === '' || url === API_URL ? '' : new URL(url).host;
}
