import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startInspector } from '../adapters/inspector/web/index.ts';
import { generalDefaults } from '../src/config/defaults.ts';
import { createInspection } from '../src/inspection/inspection.ts';
import { silentLog } from '../src/util/log/silent-log.ts';
import { createSystemClock } from '../src/util/time/clock.ts';
import { withDirectory } from './directory.ts';
import type { Figure } from './figure.ts';
import { providerOf, replyModel, summaryModel } from './models.ts';
import { median } from './samples.ts';
import { createWords } from './words.ts';
import { conversationKey, type World, withWorld } from './world.ts';

const VIEWERS = 50;
const CONVERSATIONS = 100;
const ROUND_MS = 3000;
const PROGRAM = new URL('./children/viewers.process.ts', import.meta.url);

/** What a bot loses to 50 people who look at it, one of whom reads nothing, compared with the same bot alone. */
export async function measureViewers({ quick }: { readonly quick: boolean }): Promise<readonly Figure[]> {
  const rounds = viewerRounds(quick);
  const alone: Talked[] = [];
  const watched: Talked[] = [];
  await withDirectory(async (directory) => {
    await withWorld({ directory, models: providerOf(replyModel(), summaryModel(0)) }, async (world) => {
      const talk = createTalk(world);
      await talk(ROUND_MS);
      for (let round = 0; round < rounds; round += 1) {
        const measureWatched = async () => watched.push(await withViewers(world, () => talk(ROUND_MS)));
        if (round % 2 === 0) await measureWatched();
        alone.push(await talk(ROUND_MS));
        if (round % 2 === 1) await measureWatched();
      }
    });
  });
  return figuresOf(alone, watched);
}

export function viewerRounds(quick: boolean): number {
  return quick ? 2 : 7;
}

function figuresOf(alone: readonly Talked[], watched: readonly Talked[]): readonly Figure[] {
  // Each is compared with its neighbouring round, because other load on the machine changes during the run.
  const taken = watched.map(({ cpuMs, turns, tookMs }, round) => {
    const beside = alone[round] ?? { cpuMs: 0, turns: 1 };
    return (cpuMs - (turns * beside.cpuMs) / beside.turns) / tookMs;
  });
  const rate = (talks: readonly Talked[]) => median(talks.map(({ turns, tookMs }) => (turns * 1000) / tookMs));
  return [
    {
      figure: `share of a core that ${VIEWERS} viewers take from a busy bot`,
      unit: 'share',
      baseline: null,
      ours: Math.max(0, median(taken)),
      // The viewers' process shares the cores, so the bot itself needs more time for each turn, too.
      bar: null,
    },
    {
      figure: `turns a second with ${VIEWERS} viewers`,
      unit: 'a second',
      baseline: { of: 'the same bot without', value: rate(alone) },
      ours: rate(watched),
      bar: { of: 'ratio', is: 'above', value: 0.95 },
    },
  ];
}

interface Talked {
  readonly turns: number;
  readonly tookMs: number;
  readonly cpuMs: number;
}

/** People talk in all conversations at once. */
function createTalk(world: World): (ms: number) => Promise<Talked> {
  const words = createWords(21);
  let said = 0;
  return async (ms) => {
    const startedAt = performance.now();
    const before = process.cpuUsage();
    let turns = 0;
    const talk = async (name: number): Promise<void> => {
      while (performance.now() - startedAt < ms) {
        said += 1;
        await world.ask(conversationKey(name), { id: `v${said}`, text: words.text(12) });
        turns += 1;
      }
    };
    await Promise.all(Array.from({ length: CONVERSATIONS }, (_, name) => talk(name)));
    const { user, system } = process.cpuUsage(before);
    return { turns, tookMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
  };
}

async function withViewers(world: World, work: () => Promise<Talked>): Promise<Talked> {
  const { bot } = world;
  const server = await startInspector({
    settings: generalDefaults.inspector,
    open: async () => createInspection({ services: bot.commandServices, configRows: () => [] }),
    clock: createSystemClock(),
    log: silentLog,
  });
  const cookie = (await fetch(server.url)).headers.get('set-cookie')?.split(';')[0] ?? '';
  const gauges = [0, 1, 2].map((name) => `/live/gauge/${encodeURIComponent(conversationKey(name))}`);
  const sources = ['/live/health', ...gauges];
  const child = fork(PROGRAM, [new URL(server.url).origin, cookie, String(VIEWERS), ...sources]);
  try {
    await once(child, 'message');
    return await work();
  } finally {
    child.kill('SIGKILL');
    await server.close();
  }
}
