import type { Driver } from './driver.ts';
import { createPostgresDriver } from './postgres.ts';
import { createRedisDriver } from './redis.ts';

export interface DriverChoice {
  readonly url: string;
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
export function createDriver({ url, prefix = PREFIX, retryDelayMs = RETRY_DELAY_MS }: DriverChoice): Driver {
  const create = isRedis(url) ? createRedisDriver : createPostgresDriver;
  return create({ url, prefix, retryDelayMs });
}
