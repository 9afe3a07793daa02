import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { SIZED, sized, spread } from '../support/size.ts';
import { look } from './look.ts';
import { createModelServer, type Mode, type ModelServer } from './model-server.ts';
import { type BotProcess, createTown, type Town } from './town.ts';

interface Death {
  readonly at: string;
  readonly mode?: Mode;
  /** How often it is passed first. */
  readonly spare?: number;
  readonly idleMinutes?: number;
}

/** Every step of a reply and of a compaction, in which the process is killed with -9. */
const DEATHS: readonly Death[] = [
  { at: 'before a message is stored', spare: 2 },
  { at: 'after a message is stored', spare: 2 },
  { at: 'a reply is asked for' },
  { at: 'a reply is half sent' },
  { at: 'a reply is sent' },
  { at: 'before a reply is stored' },
  { at: 'after a reply is stored' },
  { at: 'a post arrives' },
  { at: 'a post is taken' },
  { at: 'before a post is known to be sent' },
  { at: 'after a post is known to be sent' },
  { at: 'after the claim to maintain' },
  { at: 'a summary is asked for' },
  { at: 'a summary is half sent' },
  { at: 'a summary is sent' },
  { at: 'before a summary is stored' },
  { at: 'after a summary is stored' },
  { at: 'before the end of a job' },
  { at: 'after the end of a job' },
  { at: 'before a condensed summary is stored' },
  { at: 'after a condensed summary is stored' },
  { at: 'before memories of a silent tail are stored', idleMinutes: 0.005 },
  { at: 'after memories of a silent tail are stored', idleMinutes: 0.005 },
  { at: 'before a gap is opened', mode: 'hangs' },
  { at: 'after a gap is opened', mode: 'fails' },
];

/** At moments of the model and the platform, the parent kills the process; at steps of the store, it kills itself. */
const MOMENTS = /^a (?:reply|summary) is (?:asked for|half sent|sent)$|^a post/u;
/** After these a job was running, which the next process continues without a new message. */
const UNFINISHED = /^after the claim to maintain$|^a summary is|^before (?:a summary|a condensed|memories)/u;
/** For a hang: a reply may wait for all the other tests of a soak. */
const REPLY_LIMIT_MS = 30_000;
/** On a busy machine, jobs go on while much is said. */
const DEATH_LIMIT_MS = 120_000;
const SLOWEST_REPLY_MS = 10_000;
/** Number of replies while the summariser works, fails or hangs. */
const BESIDE = sized({ small: 12, full: 25 });
const RESUME_LIMIT_MS = 30_000;
/** Of a maintenance job. */
const LEASE_MS = 6000;

interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly server: ModelServer;
  readonly town: Town;
  /** Called at the moments of the model and of the platform. */
  onMoment: (moment: string) => void;
}

async function createPlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'strata-kill-'));
  const server = await createModelServer();
  const place: Place = {
    directory,
    server,
    town: createTown({ directory, server, onPost: (moment) => place.onMoment(moment) }),
    onMoment: () => undefined,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
  server.onMoment = (moment) => place.onMoment(moment);
  return place;
}

describe('a bot that is killed with -9', () => {
  // Shows: I1, I11, R4
  it('loses no message and doubles no post, at any step', { ...SIZED, timeout: 900_000 }, async () => {
    await using place = await createPlace();
    const { server, town, directory } = place;
    let before: Death | null = null;
    for (const death of spread(DEATHS, 5)) {
      server.mode = death.mode ?? 'well';
      const isMoment = MOMENTS.test(death.at);
      const bot = await town.start({ ...death, killAt: isMoment ? '' : death.at });
      place.onMoment = (moment) => {
        if (isMoment && moment === death.at) bot.kill();
      };
      // A tail counts as silent only for a process that waits as briefly as the last one.
      const isSilent = before?.idleMinutes === undefined || death.idleMinutes !== undefined;
      await comeBack(town, bot, isSilent ? before : null);
      await talkUntilDeath(town, bot, death);
      place.onMoment = () => undefined;
      look(directory).expectWhole(town);
      before = death;
    }
    server.mode = 'well';
    const bot = await town.start({ idleMinutes: 0.01 });
    await comeBack(town, bot, before);
    await talkUntilCondensed(town, bot, directory);
    await finished(town, directory);
    await quiet(bot);
    await bot.stop();
    expect(town.troubles).toEqual([]);
    look(directory).expectDone(town);
  });
});

describe('a summariser that hangs, then fails, then dies', () => {
  // Shows: R1
  it('delays no reply, and the next process does its work', { ...SIZED, timeout: 600_000 }, async () => {
    await using place = await createPlace();
    const { server, town, directory } = place;
    const bot = await town.start({});
    await talk(town, bot, 8);
    const well = await talk(town, bot, BESIDE);
    server.mode = 'hangs';
    const hung = await talk(town, bot, BESIDE);
    server.mode = 'fails';
    server.breakOff();
    const failing = await talk(town, bot, BESIDE);
    expect(bot.events.some(({ event }) => event === 'gap.opened')).toBe(true);
    expect(bot.events.some(({ event }) => event === 'maintenance.delayed')).toBe(true);
    bot.kill();
    await bot.ended;
    look(directory).expectWhole(town);
    expect(median(hung), 'replies beside a hanging summariser').toBeLessThan(3 * median(well) + 20);
    expect(median(failing), 'replies beside a failing summariser').toBeLessThan(3 * median(well) + 20);
    expect(Math.max(...hung, ...failing)).toBeLessThan(SLOWEST_REPLY_MS);

    server.mode = 'well';
    const next = await town.start({ idleMinutes: 0.01 });
    await until(() => look(directory).stack.every(({ kind }) => kind === 'summary'), 60_000);
    await talkUntilCondensed(town, next, directory);
    await finished(town, directory);
    await quiet(next);
    await next.stop();
    expect(town.troubles).toEqual([]);
    look(directory).expectDone(town);
  });
});

/** How long each reply took. All of them came. */
async function talk(town: Town, bot: BotProcess, count: number): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const message = await town.say(bot, REPLY_LIMIT_MS);
    expect(message.answeredAt, `no reply to ${message.id}`).not.toBeNull();
    taken.push((message.answeredAt ?? Infinity) - message.sentAt);
  }
  return taken;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity;
}

/** What was owed when the last process died is answered soon, and a running job is continued. */
async function comeBack(town: Town, bot: BotProcess, before: Death | null): Promise<void> {
  const owed = () => town.messages.filter((message) => message.answeredAt === null);
  await until(() => bot.isOver || owed().length === 0, REPLY_LIMIT_MS);
  if (!bot.isOver) expect(owed(), `owed since "${before?.at}"`).toEqual([]);
  if (before === null || before.mode === 'hangs' || !UNFINISHED.test(before.at)) return;
  const hasResumed = () => bot.events.some(({ event }) => event === 'maintenance.started');
  await until(() => bot.isOver || hasResumed(), RESUME_LIMIT_MS);
  expect(hasResumed(), `the job that "${before.at}" interrupted was not continued`).toBe(true);
}

async function talkUntilDeath(town: Town, bot: BotProcess, death: Death): Promise<void> {
  const startedAt = performance.now();
  const isEarly = (count: number) => count < 60 || performance.now() - startedAt < DEATH_LIMIT_MS;
  for (let count = 0; isEarly(count) && !bot.isOver; count += 1) {
    const message = await town.say(bot, REPLY_LIMIT_MS);
    if (!bot.isOver) expect(message.answeredAt, `no reply to ${message.id} before "${death.at}"`).not.toBeNull();
    // A conversation that becomes idle is read for memories; a job held by the last process is free when its lease
    // expires.
    if (death.idleMinutes !== undefined) await until(() => bot.isOver, 600);
    else if (count >= 30) await until(() => bot.isOver, LEASE_MS / 20);
  }
  if (!bot.isOver) bot.kill();
  expect(bot.isOver, `the step "${death.at}" was not reached`).toBe(true);
  expect(await bot.ended).toBe('SIGKILL');
}

/** How much was said before decides how much is left to say until summaries are condensed. */
async function talkUntilCondensed(town: Town, bot: BotProcess, directory: string): Promise<void> {
  const isCondensed = () => look(directory).stack.some(({ level }) => level > 0);
  await talk(town, bot, 2);
  for (let count = 0; count < 40 && !isCondensed(); count += 1) await talk(town, bot, 1);
}

/** No work is left. A slow machine pauses between two jobs for longer than a quiet bot is watched. */
async function finished(town: Town, directory: string): Promise<void> {
  await vi.waitFor(() => look(directory).expectDone(town), { timeout: 60_000, interval: 250 });
}

/** Nothing happened for a while. */
async function quiet(bot: BotProcess): Promise<void> {
  await until(() => Date.now() - Math.max(bot.events.at(-1)?.at ?? 0, bot.readyAt) > 1500, 60_000);
}

async function until(condition: () => boolean, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!condition() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
}
