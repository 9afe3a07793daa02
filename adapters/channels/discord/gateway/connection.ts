import { Client, Events, GatewayIntentBits, Options } from 'discord.js';
import { type Clock, describe, errorCode, type Log, type Random, StrataError } from '../../../../src/adapter-kit.ts';
import { unlessAborted } from '../../shared/within.ts';
import type { BotSettings } from '../settings.ts';
import { restOptionsOf, withLastingToken } from '../web/rest.ts';
import { packetSchema } from '../wire.ts';
import { pauseAfter } from './pauses.ts';
import { BAD_TOKEN, type Refusal } from './refusal.ts';
import { createStrategy, type StrategyOptions, UNREADABLE } from './strategy.ts';

export interface ConnectionOptions {
  readonly settings: BotSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly listener: Listener;
}

/** Events of the gateway. None of these may throw or wait. */
export interface Listener {
  /** Called before the first packet of a new connection: its guilds can be queried. */
  opened(client: Client): void;
  /** Every dispatch, before the library reads it. */
  packet(type: string, data: unknown, shardId: number): void;
  /** A new session has begun; earlier events are lost to the gateway. */
  sessionBegan(shardId: number): void;
  /** The guilds of the session are known. */
  guildsKnown(shardId: number): void;
  /** A server became available, or the bot joined it. */
  guildKnown(guildId: string, shardId: number): void;
  /** Discord sent something unreadable. */
  odd(problem: string): void;
  /** The gateway refused permanently; the connection is closed. */
  refused(refusal: Refusal): void;
}

export interface Connection {
  /**
   * Resolves when all shards are ready. Retries until then, or until `stop` is called; rejects when Discord refuses
   * permanently.
   */
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly client: Client | null;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { clock, random, log } = options;
  const over = new AbortController();
  let opened: Opened | null = null;

  const attempt = async (): Promise<void> => {
    opened = openClient(options);
    options.listener.opened(opened.client);
    await unlessAborted(over.signal, opened.ready);
  };

  return {
    async start() {
      for (let failures = 1; !over.signal.aborted; failures += 1) {
        try {
          return await attempt();
        } catch (error) {
          // `stop` closes the client.
          if (over.signal.aborted) return;
          await opened?.close();
          if (error instanceof StrataError) throw error;
          const pauseMs = pauseAfter(failures + 2, { chance: random.next(), maxMs: MAX_START_PAUSE_MS });
          log.warn('Discord cannot be reached; trying again', { cause: describe(error), inMs: pauseMs });
          await clock.sleep(pauseMs, { signal: over.signal }).catch(() => undefined);
        }
      }
    },
    async stop() {
      over.abort();
      await opened?.close();
    },
    get client() {
      return opened?.client ?? null;
    },
  };
}

const MAX_START_PAUSE_MS = 30_000;

interface Opened {
  readonly client: Client;
  /** Rejects with a `StrataError` when Discord refuses permanently. */
  readonly ready: Promise<void>;
  /** Steps that are still running must open nothing any more. */
  close(): Promise<void>;
}

function openClient(options: ConnectionOptions): Opened {
  const { settings, listener } = options;
  const over = new AbortController();
  const refused = Promise.withResolvers<never>();
  const refuse = (refusal: Refusal): void => {
    listener.refused(refusal);
    refused.reject(refusalError(refusal));
    close().catch(() => undefined);
  };
  // Read only while connecting: the listener reports later refusals.
  refused.promise.catch(() => undefined);
  const client = new Client(clientOptions({ ...options, signal: over.signal, refuse }));
  const close = async () => {
    over.abort();
    await client.destroy();
  };
  withLastingToken(client.rest);
  surviveOddPackets(client, options.log);
  listen(client, options);
  return {
    client,
    ready: Promise.race([connect(client, settings.token), refused.promise]),
    close,
  };
}

export function refusalError({ reason, remedy }: Refusal): StrataError {
  return new StrataError('PLATFORM_REFUSED', { platform: 'Discord', reason, remedy });
}

async function connect(client: Client, token: string): Promise<void> {
  const ready = Promise.withResolvers<void>();
  client.once(Events.ClientReady, () => ready.resolve());
  try {
    await client.login(token);
  } catch (error) {
    if (isBadToken(error)) throw refusalError(BAD_TOKEN);
    throw error;
  }
  await ready.promise;
}

function isBadToken(error: unknown): boolean {
  return errorCode(error) === 'TokenInvalid';
}

function listen(client: Client, { listener, log }: ConnectionOptions): void {
  const report = (error: unknown) => log.warn('Problem with the connection to Discord', { cause: describe(error) });
  client.on(Events.ShardReady, (shardId) => listener.guildsKnown(shardId));
  client.on(Events.GuildAvailable, ({ id, shardId }) => listener.guildKnown(id, shardId));
  client.on(Events.GuildCreate, ({ id, shardId }) => listener.guildKnown(id, shardId));
  client.on(Events.ShardError, report);
  client.on(Events.Error, report);
}

/** The library reads early packets later, from its own timer, where an exception would end the process. */
function surviveOddPackets({ ws }: Client, log: Log): void {
  const read = ws['handlePacket'].bind(ws);
  ws['handlePacket'] = (packet, shard) => {
    try {
      return read(packet, shard);
    } catch (error) {
      log.warn(UNREADABLE, { type: packetSchema.safeParse(packet).data?.t, cause: describe(error) });
      return false;
    }
  };
}

interface Opening extends ConnectionOptions {
  readonly signal: AbortSignal;
  readonly refuse: (refusal: Refusal) => void;
}

function clientOptions({ settings, ...opening }: Opening): ConstructorParameters<typeof Client>[0] {
  const { Guilds, GuildMessages, DirectMessages, MessageContent } = GatewayIntentBits;
  const intents = [Guilds, GuildMessages, DirectMessages];
  return {
    intents: settings.message_content ? [...intents, MessageContent] : intents,
    ...shardsOf(settings),
    rest: restOptionsOf(settings),
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      GuildMemberManager: { maxSize: 0, keepOverLimit: (member) => member.id === member.client.user.id },
      UserManager: { maxSize: 0, keepOverLimit: (user) => user.id === user.client.user?.id },
      ThreadMemberManager: 0,
      GuildEmojiManager: 0,
      GuildStickerManager: 0,
      PresenceManager: 0,
      VoiceStateManager: 0,
    }),
    waitGuildTimeout: GUILDS_WITHIN_MS,
    ws: { buildStrategy: (manager) => createStrategy(manager, strategyParts({ settings, ...opening })) },
  };
}

function strategyParts({ settings, listener, random, refuse: refused, ...parts }: Opening): StrategyOptions {
  const { sessionBegan, packet, odd } = listener;
  return {
    ...parts,
    chance: () => random.next(),
    gatewayUrl: settings.gateway_url,
    listener: { sessionBegan, packet, odd, refused },
  };
}

/** Guilds that are currently unavailable delay the others no longer than this. */
const GUILDS_WITHIN_MS = 5_000;

function shardsOf({ shards, shard_ids: ids }: BotSettings) {
  if (shards === 'auto') return { shards: 'auto' } as const;
  const all = Array.from({ length: shards }, (_, index) => index);
  return { shardCount: shards, shards: ids.length === 0 ? all : [...ids] };
}
