import { Client, Events, GatewayIntentBits, Options, SimpleShardingStrategy } from 'discord.js';
import { type Clock, describe, type Log, type Random, StrataError } from '../../../src/index.ts';
import { createReconnects, pauseAfter, type Reconnects } from './reconnects.ts';
import { BAD_TOKEN, type Refusal, refusalOf } from './refusal.ts';
import { restOptionsOf } from './rest.ts';
import type { BotSettings } from './settings.ts';
import { packetSchema } from './wire.ts';

export interface ConnectionOptions {
  readonly settings: BotSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly listener: Listener;
}

/** What the gateway tells. None of these may throw or wait. */
export interface Listener {
  /** Before the first packet of a new connection: its guilds can be asked for. */
  opened(client: Client): void;
  /** Every dispatch, before the library has read it. */
  packet(type: string, data: unknown, shardId: number): void;
  /** A new session has begun: what happened before it is lost to the gateway. */
  sessionBegan(shardId: number): void;
  /** The guilds of the session are known. */
  guildsKnown(shardId: number): void;
  /** The gateway refused for good; the connection is closed. */
  refused(refusal: Refusal): void;
}

export interface Connection {
  /** Resolves when all shards are ready. Tries until it is or `stop` is called; rejects when Discord refuses for good. */
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly client: Client | null;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { clock, random, log } = options;
  const reconnects = createReconnects({ clock, random });
  const over = new AbortController();
  let client: Client | null = null;

  const attempt = async (): Promise<void> => {
    const opened = openClient(options, reconnects);
    client = opened.client;
    options.listener.opened(client);
    const stopped = new Promise<void>((resolve) =>
      over.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    await Promise.race([opened.ready, stopped]);
  };

  return {
    async start() {
      for (let failures = 1; !over.signal.aborted; failures += 1) {
        try {
          return await attempt();
        } catch (error) {
          await client?.destroy();
          if (error instanceof StrataError) throw error;
          const pauseMs = pauseAfter(failures + 2, random.next());
          log.warn('Discord cannot be reached; trying again', { cause: describe(error), inMs: pauseMs });
          await clock.sleep(pauseMs, { signal: over.signal }).catch(() => undefined);
        }
      }
    },
    async stop() {
      over.abort();
      await reconnects.close();
      await client?.destroy();
    },
    get client() {
      return client;
    },
  };
}

interface Opened {
  readonly client: Client;
  /** Rejects with a `StrataError` when Discord refuses for good. */
  readonly ready: Promise<void>;
}

function openClient(options: ConnectionOptions, reconnects: Reconnects): Opened {
  const client = new Client(clientOptions(options.settings, reconnects));
  const refused = Promise.withResolvers<never>();
  const refuse = (refusal: Refusal): void => {
    options.listener.refused(refusal);
    refused.reject(refusalError(refusal));
    client.destroy().catch(() => undefined);
  };
  // Read only while connecting: later refusals are told to the listener.
  refused.promise.catch(() => undefined);
  listen(client, { ...options, reconnects, refuse });
  return { client, ready: Promise.race([connect(client, options.settings.token), refused.promise]) };
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
  return error instanceof Error && 'code' in error && error.code === 'TokenInvalid';
}

interface Listening extends ConnectionOptions {
  readonly reconnects: Reconnects;
  readonly refuse: (refusal: Refusal) => void;
}

function listen(client: Client, { listener, log, reconnects, refuse }: Listening): void {
  const report = (error: unknown) => log.warn('Trouble with the connection to Discord', { cause: describe(error) });
  client.on(Events.Raw, (packet: unknown, shardId: unknown) => {
    const parsed = packetSchema.safeParse(packet);
    if (!parsed.success || typeof shardId !== 'number') return;
    if (parsed.data.t === 'READY' || parsed.data.t === 'RESUMED') reconnects.connected(shardId);
    if (parsed.data.t === 'READY') listener.sessionBegan(shardId);
    listener.packet(parsed.data.t, parsed.data.d, shardId);
    if (OWN_PACKETS.includes(parsed.data.t)) hide(packet);
  });
  client.on(Events.ShardReady, (shardId) => listener.guildsKnown(shardId));
  client.on(Events.ShardReconnecting, (shardId) => {
    const pauseMs = reconnects.lost(shardId);
    if (pauseMs > 0) log.warn('The connection to Discord keeps failing', { shardId, nextTryInMs: pauseMs });
    else log.debug('The connection to Discord is made anew', { shardId });
  });
  client.on(Events.ShardDisconnect, ({ code }, shardId) => {
    reconnects.lost(shardId);
    const refusal = refusalOf(code);
    if (refusal !== null) refuse(refusal);
  });
  client.on(Events.ShardError, report);
  client.on(Events.Error, report);
}

/** Read from the wire here; the library would build its objects of them for nobody. */
const OWN_PACKETS = ['MESSAGE_CREATE', 'MESSAGE_UPDATE', 'MESSAGE_DELETE', 'MESSAGE_DELETE_BULK', 'INTERACTION_CREATE'];

/** The library passes over packets without a known type. What it cannot build would end the process. */
function hide(packet: unknown): void {
  if (typeof packet === 'object' && packet !== null && 't' in packet) packet.t = null;
}

function clientOptions(settings: BotSettings, reconnects: Reconnects): ConstructorParameters<typeof Client>[0] {
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
    ws: { buildStrategy: (manager) => buildStrategy(manager, { reconnects, gatewayUrl: settings.gateway_url }) },
  };
}

/** Guilds that Discord cannot serve at the moment hold up the others no longer than this. */
const GUILDS_WITHIN_MS = 5_000;

function shardsOf({ shards, shard_ids: ids }: BotSettings) {
  if (shards === 'auto') return { shards: 'auto' } as const;
  const all = Array.from({ length: shards }, (_, index) => index);
  return { shardCount: shards, shards: ids.length === 0 ? all : [...ids] };
}

/** The library's own way to run shards, with a brake: it asks for the session before every connection. */
function buildStrategy(
  manager: ConstructorParameters<typeof SimpleShardingStrategy>[0],
  { reconnects, gatewayUrl }: { readonly reconnects: Reconnects; readonly gatewayUrl: string },
): SimpleShardingStrategy {
  const { options } = manager;
  const retrieve = options.retrieveSessionInfo;
  options.retrieveSessionInfo = async (shardId) => {
    await reconnects.mayConnect(shardId);
    const session = await retrieve(shardId);
    return session === null || gatewayUrl === '' ? session : { ...session, resumeURL: gatewayUrl };
  };
  if (gatewayUrl !== '') {
    const fetchInformation = manager.fetchGatewayInformation.bind(manager);
    manager.fetchGatewayInformation = async (force) => ({ ...(await fetchInformation(force)), url: gatewayUrl });
  }
  return new SimpleShardingStrategy(manager);
}
