import { type QueuePlace, StrataError } from '../../../src/adapter-kit.ts';
import type { Driver } from './driver.ts';
import { createPostgresDriver } from './postgres.ts';
import { createRedisDriver } from './redis.ts';

export interface DriverChoice extends QueuePlace {
  /** Prefix of the names on the server. Default "strata". */
  readonly prefix?: string | undefined;
  /** First pause after a rejected handler; doubles each time. Default 2000. */
  readonly retryDelayMs?: number | undefined;
}

const RETRY_DELAY_MS = 2000;
export const PREFIX = 'strata';

export function isRedis(url: string): boolean {
  return url.startsWith('redis');
}

/** The scheme of the URL determines the server. */
export function createDriver(choice: DriverChoice): Driver {
  const { url, storage, prefix = PREFIX, retryDelayMs = RETRY_DELAY_MS } = choice;
  const create = isRedis(url) ? createRedisDriver : createPostgresDriver;
  return create({ url, prefix, name: nameOf(storage), retryDelayMs });
}

/** Jobs contain only numbers of conversations, so each store has a queue of its own. */
function nameOf(storage: QueuePlace['storage'] | undefined): string {
  const id: unknown = storage?.upkeep?.id;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) throw new StrataError('USAGE', { problem: NO_STORE });
  return `maintenance-${id}`;
}

const NO_STORE =
  'A queue on a server needs the storage of its bot, whose storage.upkeep.id consists of up to 64 letters, digits, - and _.';
