import {
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  type IShardingStrategy,
  type ManagerShardEventsMap,
  Routes,
  SimpleShardingStrategy,
} from 'discord.js';
import { type Clock, describe, type Log } from '../../../../src/adapter-kit.ts';
import { isRefusal } from '../web/retry.ts';
import { type Frame, OPCODES, readInformation, withOverwrites } from './frames.ts';
import { createIdentifyPace, type IdentifyPace } from './pauses.ts';
import type { Refusal } from './refusal.ts';
import { createShard, type Shard } from './shard.ts';
import type { SessionListener } from './socket.ts';

/** The library's shard manager. The package exports another class under its name. */
type ShardManager = ConstructorParameters<typeof SimpleShardingStrategy>[0];

export interface StrategyOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly chance: () => number;
  /** Empty if the REST interface provides it. */
  readonly gatewayUrl: string;
  /** Once aborted, no connection is opened any more. */
  readonly signal: AbortSignal;
  readonly listener: StrategyListener;
}

/** None of these may throw. */
export interface StrategyListener {
  /** A new session; earlier events are lost to the gateway. */
  sessionBegan(shardId: number): void;
  /** Every event, before the library sees it. */
  packet(type: string, data: unknown, shardId: number): void;
  /** Discord sent something unreadable. */
  odd(problem: string): void;
  refused(refusal: Refusal): void;
}

/**
 * Runs the library's shards. The library's own strategy leaves connections running after a failed attempt, and ends the
 * process if a packet cannot be read.
 */
export function createStrategy(manager: ShardManager, options: StrategyOptions): IShardingStrategy {
  const shards = new Map<number, Shard>();
  const identifies = createIdentifyPace(options.clock);
  const own = new SimpleShardingStrategy(manager);
  const information = createInformation(manager, options);
  manager.fetchGatewayInformation = information.read;
  return {
    async spawn(ids) {
      for (const id of ids) shards.set(id, await openShard({ ...options, manager, identifies, information }, id));
    },
    async connect() {
      if (!options.signal.aborted) await Promise.all([...shards.values()].map((shard) => shard.start()));
    },
    async destroy() {
      await Promise.all([...shards.values()].map((shard) => shard.stop()));
      shards.clear();
    },
    // Called for the library's own shards, which do not exist here.
    fetchStatus: () => own.fetchStatus(),
    send(shardId, { op }) {
      throw new Error(`The bot never sends through the gateway (shard ${shardId}, opcode ${op}).`);
    },
  };
}

type GatewayInformation = ReturnType<typeof readInformation>;

interface Information {
  /** Requested once; missing fields get default values. A server without this request needs `gateway_url`. */
  read(): Promise<GatewayInformation>;
  /** The address for the next connection. */
  url(): string;
  /** No connection could be opened: asks for the address again. Connections use the earlier one until then. */
  doubt(): void;
}

function createInformation(manager: ShardManager, { gatewayUrl, log }: StrategyOptions): Information {
  let known: GatewayInformation | null = null;
  let isAsking = false;
  const ask = async (): Promise<unknown> => {
    try {
      return await manager.options.rest.get(Routes.gatewayBot());
    } catch (error) {
      if (gatewayUrl === '' || !isRefusal(error)) throw error;
      return {};
    }
  };
  const askAgain = async (): Promise<void> => {
    known = readInformation(await ask(), gatewayUrl);
  };
  return {
    async read() {
      known ??= readInformation(await ask(), gatewayUrl);
      return known;
    },
    url: () => known?.url ?? gatewayUrl,
    doubt() {
      if (isAsking || gatewayUrl !== '') return;
      isAsking = true;
      askAgain()
        .catch((error: unknown) => log.debug('Discord did not name its gateway', { cause: describe(error) }))
        .finally(() => {
          isAsking = false;
        });
    },
  };
}

interface Opening extends StrategyOptions {
  readonly manager: ShardManager;
  readonly identifies: IdentifyPace;
  readonly information: Information;
}

async function openShard(opening: Opening, id: number): Promise<Shard> {
  const { manager, identifies, information, listener, gatewayUrl, clock, log, chance } = opening;
  const { token, intents, identifyProperties: properties } = manager.options;
  const { session_start_limit: limit } = await information.read();
  const count = await manager.getShardCount();
  return createShard({
    id,
    clock,
    log,
    chance,
    url: information.url,
    followsResumeUrl: gatewayUrl === '',
    identity: { token, intents, properties, compress: false, shard: [id, count] },
    mayIdentify: (signal) => identifies.wait(id % limit.max_concurrency, signal),
    isScarce: () => identifies.isScarce(limit.remaining),
    listener: sessionListener(opening, id),
    lost({ code }) {
      if (code === null) information.doubt();
      survive(log, 'close', () => emit(manager, 'closed', { code: code ?? NO_CONNECTION, shardId: id }));
    },
    refused: listener.refused,
  });
}

const NO_CONNECTION = 1006;

type ShardEvent = keyof ManagerShardEventsMap;
const SHARD_EVENTS: ReadonlySet<string> = new Set(['closed', 'dispatch', 'ready', 'resumed']);
const isShardEvent = (name: string): name is ShardEvent => SHARD_EVENTS.has(name);

function emit(
  manager: ShardManager,
  name: 'closed' | 'dispatch' | 'ready' | 'resumed',
  payload: ManagerShardEventsMap[ShardEvent][0],
): void {
  if (isShardEvent(name)) manager.emit(name, payload);
}
function sessionListener(opening: Opening, shardId: number): SessionListener {
  const { manager, listener, log } = opening;
  return {
    ready: () => survive(log, 'READY', () => listener.sessionBegan(shardId)),
    resumed: () => survive(log, 'RESUMED', () => emit(manager, 'resumed', { shardId })),
    dispatch(frame) {
      const type = frame.t ?? '';
      survive(log, type, () => listener.packet(type, frame.d, shardId));
      const read = { ...frame, d: withOverwrites(frame.d) };
      if (isForLibrary(read)) survive(log, type, () => handOver(manager, read, shardId));
    },
    odd: (problem) => survive(log, '', () => listener.odd(problem)),
  };
}

function handOver(manager: ShardManager, frame: GatewayDispatchPayload, shardId: number): void {
  if (frame.t === GatewayDispatchEvents.Ready) emit(manager, 'ready', { data: frame.d, shardId });
  emit(manager, 'dispatch', { data: frame, shardId });
}

/** An error while handling a packet, by the library or by Strata, must not end the process. */
function survive(log: Log, type: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    log.warn(UNREADABLE, { type, cause: describe(error) });
  }
}

export const UNREADABLE = 'A Discord packet could not be read and was skipped';

/** Events that maintain its cache of servers, channels and the bot's own roles. For others it would build objects that nothing uses. */
const FOR_LIBRARY: ReadonlySet<string> = new Set([
  'READY',
  'GUILD_CREATE',
  'GUILD_UPDATE',
  'GUILD_DELETE',
  'GUILD_MEMBER_UPDATE',
  'GUILD_ROLE_CREATE',
  'GUILD_ROLE_UPDATE',
  'GUILD_ROLE_DELETE',
  'CHANNEL_CREATE',
  'CHANNEL_UPDATE',
  'CHANNEL_DELETE',
  'THREAD_CREATE',
  'THREAD_UPDATE',
  'THREAD_DELETE',
  'THREAD_LIST_SYNC',
]);

function isForLibrary(frame: Frame | GatewayDispatchPayload): frame is GatewayDispatchPayload {
  const { op, t, d } = frame;
  return op === OPCODES.dispatch && FOR_LIBRARY.has(t ?? '') && typeof d === 'object' && d !== null;
}
