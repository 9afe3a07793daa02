import type { Redis } from 'ioredis';

/** BullMQ throws these where it reads the fields of a job. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof TypeError;
}

const MAX_ACTIVE = 1000;

/**
 * BullMQ takes a job whose fields are not JSON, cannot read it, and takes it again whenever its lock expires. So such
 * fields are replaced: then it is read, found malformed, and fails.
 */
export async function markUnreadable(redis: Redis, keyOf: (name: string) => string): Promise<void> {
  const active = await redis.lrange(keyOf('active'), 0, MAX_ACTIVE);
  for (const id of active) {
    const [data, opts, ...others] = await redis.hmget(keyOf(id), 'data', 'opts', 'progress', 'parent');
    const isReadable = isJson(data) && isObject(opts) && others.every((field) => field === null || isJson(field));
    if (isReadable) continue;
    await redis.hset(keyOf(id), { data: UNREADABLE, opts: '{}', progress: '0' });
    await redis.hdel(keyOf(id), 'parent');
  }
}

const UNREADABLE = JSON.stringify('its fields were not JSON');

function isJson(text: string | null | undefined): boolean {
  try {
    JSON.parse(text ?? '{}');
    return true;
  } catch {
    return false;
  }
}

function isObject(text: string | null | undefined): boolean {
  return isJson(text) && /^\s*\{/.test(text ?? '{}');
}
