import { type Finding, formatNumber, networkRemedy, type QueuePlace } from '../../../src/adapter-kit.ts';
import type { Driver } from './driver.ts';
import { createDriver, isRedis, PREFIX } from './drivers.ts';
import { openInTime } from './open.ts';
import { addressOf, infoOf, tryToWait } from './redis.ts';
import { ELSEWHERE, POOLED, reasonOf } from './trouble.ts';
import { tryJob } from './try-job.ts';

/** Requirements for the queue's server, each with a remedy. Replies need none of them. */
export async function checkQueue(queue: QueuePlace): Promise<readonly Finding[]> {
  const { url } = queue;
  if (!isRedis(url)) return await checkPostgres(createDriver(queue));
  const place = addressOf(url);
  try {
    const findings = judgeRedis(place, await infoOf(url));
    return [...findings, ...(findings.some(({ severity }) => severity === 'fail') ? [] : await checkRights(queue))];
  } catch (error) {
    const reason = reasonOf(error);
    if (FORBIDDEN.test(reason)) return [forbidden(reason)];
    return [unreachable(`${place} cannot be used: ${reason}`, 'that the password is correct')];
  }
}

/** A right is missing, or the command has another name there. */
const FORBIDDEN = /^(NOPERM|ERR unknown command)/;

function forbidden(reason: string): Finding {
  const fixHint =
    'Allow the user all commands on keys that start with {strata}, and INFO; rename or disable no command that scripts and workers use.';
  return finding('fail', { id: 'rights', message: `the queue cannot be used: ${reason}`, fixHint });
}

/** A user may be allowed to connect, and not to do what the queue does. */
async function checkRights(queue: QueuePlace): Promise<readonly Finding[]> {
  try {
    const findings = await useQueue(createDriver(queue));
    await tryToWait(queue.url, PREFIX);
    await tryJob(queue.url, PREFIX);
    return findings;
  } catch (error) {
    const reason = reasonOf(error);
    if (!reason.startsWith(ELSEWHERE)) return [forbidden(reason)];
    return [finding('fail', { id: 'cluster', message: reason, fixHint: NO_CLUSTER })];
  }
}

const NO_CLUSTER = 'Use a Redis without cluster mode, because the queue follows no moves between nodes.';

/** What only an open queue tells. Rejects if it cannot be used. */
async function useQueue(driver: Driver): Promise<readonly Finding[]> {
  const { queue, close } = await openInTime(driver);
  try {
    // The first call sends the script itself, and the second one its hash.
    for (let call = 0; call < 2; call += 1) await queue.getJobCounts('waiting');
    return (await queue.isPaused()) ? [PAUSED] : [];
  } finally {
    await close();
  }
}

/** Strata never pauses it. Workers take no jobs then, and nothing fails. */
const PAUSED = finding('fail', {
  id: 'paused',
  message: 'another program has paused the queue, so no summaries are written',
  fixHint: 'Resume it in the program that paused it, such as a dashboard for BullMQ.',
});

/** One finding per requirement. Pure. */
export function judgeRedis(place: string, info: Info): readonly Finding[] {
  const findings = [checkVersion(place, info), checkWrites(info), checkMemory(info), checkPersistence(info)];
  if (info.get('cluster_enabled') !== '1') return findings;
  const message = 'it is a node of a Redis Cluster, and the queue stops when its keys move to another node';
  return [...findings, finding('warn', { id: 'cluster', message, fixHint: NO_CLUSTER })];
}

/** Connecting creates BullMQ's tables, so an open queue is a usable one. */
async function checkPostgres(driver: Driver): Promise<readonly Finding[]> {
  try {
    const findings = await useQueue(driver);
    return [finding('ok', { id: 'server', message: `${driver.where} holds the queue’s tables` }), ...findings];
  } catch (error) {
    const message = reasonOf(error);
    if (message.includes(POOLED)) return [finding('fail', { id: 'server', message, fixHint: DIRECT })];
    return [unreachable(message, 'that the user can create a schema in the database')];
  }
}

const DIRECT =
  'Set url in [queue], or STRATA_QUEUE_URL, to Postgres itself; the store may keep the pooler. Until then, summaries wait and replies continue.';

function unreachable(message: string, right: string): Finding {
  const remedy = networkRemedy(message) ?? `Check that the server is running, that the URL is correct and ${right}`;
  const fixHint = `${remedy}. Until then, summaries wait and replies continue.`;
  return finding('fail', { id: 'server', message, fixHint });
}

/** The oldest Redis that BullMQ recommends, and the oldest on which it runs. */
const GOOD_VERSION = [6, 2] as const;
const OLDEST_MAJOR = 5;

/** The server's `INFO` by name. */
type Info = ReadonlyMap<string, string>;

function checkVersion(place: string, info: Info): Finding {
  const version = info.get('redis_version') ?? 'unknown';
  const message = `${place}, version ${info.get('valkey_version') ?? version}`;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > GOOD_VERSION[0] || (major === GOOD_VERSION[0] && minor >= GOOD_VERSION[1])) {
    return finding('ok', { id: 'version', message });
  }
  const fixHint = `Use Redis ${GOOD_VERSION.join('.')} or newer, or Valkey.`;
  return finding(major < OLDEST_MAJOR ? 'fail' : 'warn', { id: 'version', message, fixHint });
}

/** A replica, or a server that could not save, rejects every job. */
function checkWrites(info: Info): Finding {
  if (info.get('role') === 'slave') {
    const message = 'it is a replica of another server and accepts no jobs';
    return finding('fail', { id: 'writes', message, fixHint: 'Set [queue] url to the primary server.' });
  }
  const failed = ['aof_last_write_status', 'rdb_last_bgsave_status'].filter((name) => info.get(name) === 'err');
  if (failed.length === 0) return finding('ok', { id: 'writes', message: 'it accepts jobs' });
  const message = `it could not write its files (${failed.join(', ')}) and may reject jobs`;
  return finding('fail', {
    id: 'writes',
    message,
    fixHint: 'Free some disk space, or fix the permissions of its folder.',
  });
}

function checkMemory(info: Info): Finding {
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  const message = `maxmemory-policy is ${policy}`;
  const limit = Number(info.get('maxmemory') ?? 0);
  if (policy === 'noeviction' && limit > 0 && Number(info.get('used_memory')) >= limit) {
    const full = `its memory is full (maxmemory is ${formatNumber(limit / 1_000_000)} MB), so it accepts no jobs`;
    return finding('fail', { id: 'memory', message: full, fixHint: 'Raise maxmemory, or delete what else it stores.' });
  }
  if (policy === 'noeviction') return finding('ok', { id: 'memory', message });
  const fixHint = 'Set maxmemory-policy to noeviction: with any other policy, a full server drops jobs silently.';
  return finding('warn', { id: 'memory', message, fixHint });
}

function checkPersistence(info: Info): Finding {
  if (info.get('aof_enabled') === '1') {
    return finding('ok', { id: 'persistence', message: 'jobs are stored in an append-only file' });
  }
  const fixHint =
    'Set appendonly to yes. Without it, a restart loses jobs, and workers need some seconds to find what is due.';
  return finding('warn', { id: 'persistence', message: 'jobs are not stored in an append-only file', fixHint });
}

function finding(
  severity: Finding['severity'],
  { id, message, fixHint = null }: { readonly id: string; readonly message: string; readonly fixHint?: string | null },
): Finding {
  return { checkId: id, severity, message, fixHint };
}
