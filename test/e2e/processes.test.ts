import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createRedisMock } from 'js-redis-server';
import { describe, expect, it, vi } from 'vitest';
import { type ScriptedServer, startScriptedModel } from '../fixtures/discord/model.ts';
import { ADA, APP_TOKEN, BOT, BOT_TOKEN, GENERAL, type SlackDouble, startSlack } from '../fixtures/slack/double.ts';
import { until } from '../fixtures/slack/kit.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { IS_FULL, SIZED } from '../support/size.ts';
import { type Ended, ended, type Folder, openFolder } from './strata.ts';

/**
 * Whole bots as people start them: two gateways and a worker, each a process, on one store and one queue. `npm test` runs
 * those on a Postgres server, if there is one.
 */

const programs = await findPostgres();
vi.setConfig({ testTimeout: 600_000 });

interface Process {
  readonly model: ScriptedServer;
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<Ended>;
  readonly folder: Folder;
  /** The operations pages. */
  page(path: string): Promise<Response>;
}

interface Town extends AsyncDisposable {
  readonly slack: SlackDouble;
  readonly speaker: Speaker;
  readonly gateways: readonly Process[];
  readonly worker: Process;
}

const TOKENS = { SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_APP_TOKEN: APP_TOKEN, STRATA_LISTEN: '127.0.0.1:0' };

async function openTown(environment: (home: Folder) => Readonly<Record<string, string>>): Promise<Town> {
  const slack = await startSlack();
  const home = openFolder();
  const folders: Folder[] = [home];
  const processes: Process[] = [];
  const begin = async (role: string): Promise<Process> => {
    const model = await startScriptedModel();
    const folder = openFolder({ ...TOKENS, ...environment(home) });
    folders.push(folder);
    writeFileSync(folder.file('config.toml'), configOf(slack, model));
    writeFileSync(folder.file('seal.ts'), SEAL);
    const child = folder.start(['start', '--role', role]);
    const said = { text: '' };
    child.stderr.on('data', (chunk: Buffer) => (said.text += chunk.toString()));
    const base = () => /^State: (\S+)\/metrics$/mu.exec(said.text)?.[1];
    const started = { model, child, folder, end: ended(child), page: (path: string) => fetch(`${base()}${path}`) };
    processes.push(started);
    await until(`the start of a ${role}`, base, 90_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${said.text}`);
    });
    return started;
  };
  const connected = async (): Promise<Process> => {
    const before = slack.sockets();
    const gateway = await begin('gateway');
    await until('it is connected', () => slack.sockets() > before, 90_000);
    return gateway;
  };
  const close = async () => {
    for (const { child, end, model } of processes) {
      child.kill('SIGKILL');
      await end;
      await model.close();
    }
    await slack.close();
    for (const folder of folders) folder[Symbol.dispose]();
  };
  try {
    const [one, other, worker] = [await connected(), await connected(), await begin('worker')];
    return { slack, speaker: createSpeaker(slack), gateways: [one, other], worker, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function configOf(slack: SlackDouble, model: ScriptedServer): string {
  return [
    'plugins = ["./seal.ts"]',
    ...['[defaults]', 'model = "scripted:m"', 'context_window = 4000', 'max_output_tokens = 300'],
    ...['[providers.scripted]', `base_url = "${model.url}"`],
    ...['[channels.slack]', 'bot_token = "env:SLACK_BOT_TOKEN"', 'app_token = "env:SLACK_APP_TOKEN"'],
    `api_url = "${slack.apiUrl}"`,
  ].join('\n');
}

/** Leaves a trace in the folder of the process where a summary is written. */
const SEAL = `import { writeFileSync } from 'node:fs';
import { definePlugin } from 'stratabot';

export default definePlugin({
  name: 'seal',
  hooks: {
    compaction: async ({ purpose }, next) => {
      const result = await next();
      writeFileSync('sealed', purpose);
      return result;
    },
  },
});
`;

const answersTo = ({ slack }: Town, name: string) =>
  slack.posted(GENERAL).filter(({ text }) => String(text).startsWith(`Answer to ${name}.`));

async function answered(town: Town, name: string): Promise<void> {
  await until(`an answer to ${name}`, () => answersTo(town, name).length > 0, 90_000);
}

type Speaker = ReturnType<typeof createSpeaker>;

/** Gives each message a name, which the model's answer repeats. */
function createSpeaker(slack: SlackDouble) {
  const said: string[] = [];
  const word = (text: string) => {
    said.push(`x${said.length + 1}`);
    return `<@${BOT}> ${said.at(-1)} ${text}`;
  };
  const last = () => said.at(-1) ?? '';
  return {
    said,
    /** In a thread, or as the beginning of one. */
    say(text: string, thread: string | null = null) {
      const message = slack.say(GENERAL, ADA, word(text), thread === null ? {} : { thread_ts: thread });
      return { name: last(), ts: message.ts };
    },
    /** Somebody sends a message, and Slack delivers it until the bot acknowledges it. */
    insist(text: string) {
      const message = slack.store(GENERAL, ADA, word(text));
      const tell = () => slack.emit({ ...message, channel_type: 'channel', event_ts: message.ts });
      const told = [tell()];
      const isAcknowledged = () => told.some((id) => slack.acks.includes(id));
      const again = () => {
        if (!isAcknowledged()) told.push(tell());
      };
      return { name: last(), isAcknowledged, again };
    },
  };
}

const FILLER = 'We talked about the garden, the tables, the wood, the music and the weather. '.repeat(10);

/** Both answer, only the worker summarises, and if one is killed during a turn, the other takes over. */
async function live(town: Town): Promise<void> {
  const { gateways, worker } = town;
  const { say, said } = town.speaker;
  const threads = [0, 1, 2, 3].map(() => say('Hello.'));
  for (const { name } of threads) await answered(town, name);
  const [thread] = threads;
  for (let count = 0; worker.model.asked.summaries === 0; count += 1) {
    expect(count).toBeLessThan(30);
    await answered(town, say(FILLER, thread?.ts).name);
  }
  for (const { model } of gateways) expect(model.asked.replies).toBeGreaterThan(1);
  expect(gateways.map(({ model }) => model.asked.summaries)).toEqual([0, 0]);
  await until('the hook of the summary', () => existsSync(worker.folder.file('sealed')), 60_000);
  expect(gateways.filter(({ folder }) => existsSync(folder.file('sealed')))).toEqual([]);

  const question = `x${said.length + 1}`;
  for (const { model } of gateways) model.hold.add(question);
  say('Who is there?', threads[1]?.ts);
  const holder = await until('a turn', () => gateways.find(({ model }) => model.held.length > 0), 60_000);
  holder.child.kill('SIGKILL');
  for (const { model } of gateways) if (model !== holder.model) model.hold.clear();
  await answered(town, question);
  await answered(town, say('And now?', threads[1]?.ts).name);
  for (const name of said) expect([name, answersTo(town, name).length]).toEqual([name, 1]);
}

/** After one signal it finishes and exits. */
async function leave({ child, end }: Process): Promise<void> {
  child.kill('SIGTERM');
  expect((await end).code).toBe(0);
}

/** After one signal it finishes the turn; after two it exits at once. */
async function breakOff({ gateways, speaker }: Town): Promise<void> {
  const gateway = gateways.find(({ child }) => child.signalCode === null);
  gateway?.model.hold.add(`x${speaker.said.length + 1}`);
  speaker.say('One more thing.');
  await until('a turn', () => gateway?.model.held.length === 1, 60_000);
  gateway?.child.kill('SIGTERM');
  await delay(500);
  expect(gateway?.child.exitCode).toBeNull();
  gateway?.child.kill('SIGTERM');
  expect((await gateway?.end)?.code).toBe(143);
}

describe.concurrent('two gateways and a worker', SIZED, () => {
  describe.concurrent('on a Postgres server', () => {
    if (programs.kind === 'missing') return it.skip(`skipped: ${programs.reason}`);

    // Shows: W3
    it('share it as store and queue, and survive an outage', async () => {
      await using server = await startPostgres(programs);
      await using town = await openTown(() => ({ STRATA_STORAGE_URL: server.url, STRATA_QUEUE_URL: server.url }));
      await restart(town, server);
      await live(town);
      await leave(town.worker);
    });
  });

  if (!IS_FULL && programs.kind === 'found') return;

  // Shows: W2
  it('share an SQLite file and a Redis on one machine', async () => {
    const mock = await createRedisMock();
    try {
      await using town = await openTown((home) => ({ STRATA_DATA: home.file('data'), STRATA_QUEUE_URL: mock.url }));
      await live(town);
      expect((await town.worker.page('/queues')).status).toBe(200);
      await leave(town.worker);
      await breakOff(town);
    } finally {
      await mock.close();
    }
  });
});

/** What cannot be stored is not acknowledged, so the platform delivers it again. */
async function restart(town: Town, server: PostgresServer): Promise<void> {
  const { insist, said } = town.speaker;
  const before = [insist('Hello.'), insist('Good morning.')];
  for (const { name } of before) await answered(town, name);
  await server.kill();
  const meanwhile = [insist('Is anybody there?'), insist('Nobody?'), insist('Well.')];
  await delay(1500);
  expect(meanwhile.some(({ isAcknowledged }) => isAcknowledged())).toBe(false);
  for (const { page } of town.gateways) expect((await page('/readyz')).status).toBe(503);
  await server.start();
  while (!meanwhile.every(({ isAcknowledged }) => isAcknowledged())) {
    for (const { again } of meanwhile) again();
    await delay(1000);
  }
  for (const { name } of meanwhile) await answered(town, name);
  for (const name of said) expect([name, answersTo(town, name).length]).toEqual([name, 1]);
  for (const { page } of town.gateways) expect((await page('/readyz')).status).toBe(200);
  await expect.poll(async () => (await town.worker.page('/readyz')).status, { timeout: 120_000 }).toBe(200);
}
