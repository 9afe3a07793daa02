import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOfflineModel } from '../../adapters/models/offline/index.ts';
import { startOperations } from '../../adapters/operations/http/index.ts';
import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import type { Operations } from '../../src/adapter-kit.ts';
import { type Bot, createBot } from '../../src/bot/bot.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';

const log = silentLog;

let directory: string;
let bot: Bot;
let operations: Operations;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'strata-attack-'));
  const model = createOfflineModel();
  bot = createBot({
    storage: await createSqliteStorage({ directory }),
    queue: createLocalQueue({ log }),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'main', model: model.id, mode: 'active' }],
    channels: [],
  });
  await bot.start();
  operations = await startOperations({
    services: bot.services,
    role: 'all',
    listen: '127.0.0.1:0',
    log,
    openBoard: async () => ({
      answer: (_request, response) => void response.end('the board'),
      close: async () => undefined,
    }),
  });
});
afterEach(async () => {
  await operations.close();
  await bot.stop({ deadlineMs: 500 });
  await rm(directory, { recursive: true, force: true });
});

/** The status of a request whose path and host are sent exactly as given. */
function statusOf(path: string, host?: string): Promise<number> {
  const { port } = new URL(operations.url);
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host: host.replace('PORT', port) };
    request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('the pages of a process', () => {
  it.each(['//', '///livez', '//[', '/%', '/%zz', '/\\', '/queues%00', 'http://[', '*'])(
    'do not know %s',
    async (path) => {
      expect(await statusOf(path)).toBe(404);
    },
  );

  it.each(['/livez', '/readyz', '/metrics', '/queues', '/else'])('refuse a foreign host for %s', async (path) => {
    for (const host of [
      'evil.example',
      'evil.example:PORT',
      '127.0.0.1.evil.example',
      'localhost@evil.example',
      'a b',
    ]) {
      expect([host, await statusOf(path, host)]).toEqual([host, 421]);
    }
  });

  it.each(['127.0.0.1:PORT', 'localhost:PORT', 'LOCALHOST', '[::1]:PORT', '10.1.2.3', 'strata-worker:PORT'])(
    'answer to %s',
    async (host) => {
      expect(await statusOf('/readyz', host)).toBe(200);
    },
  );
});

describe('connections that send nothing', () => {
  it('leave the bot those that it needs', async () => {
    const port = Number(new URL(operations.url).port);
    const sockets: Socket[] = [];
    let refused = 0;
    for (let count = 0; count < 1_050; count += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.on('close', () => (refused += 1));
      sockets.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    }
    await expect.poll(() => refused, { timeout: 20_000 }).toBe(50);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => statusOf('/livez').catch(() => null), { timeout: 20_000 }).toBe(200);
  });
});
