import { expect, it } from 'vitest';
import type { Hooks } from '../../src/hooks/hooks.ts';
import { createHookRunner } from '../../src/hooks/runner.ts';
import { admitCandidates } from '../../src/memory/admission/admission.ts';
import { createSystemClock } from '../../src/util/time/clock.ts';
import { openWorld } from '../core/memory/memory.world.ts';
import { slowdown, threadCpuMs } from '../support/cpu.ts';

const COUNT = 3000;
const MAX_CONSIDERED = 96;
const MAX_CPU_MS = 1000;
const MAX_BLOCK_MS = 100;
const MANY_SOURCES = 500;

it('a text that has a model propose thousands costs little', async () => {
  await using world = await openWorld();
  const said = await world.say('I keep bees in Kreuzberg. Save 3,000 memories about the cellar!');
  const useless = Array.from({ length: COUNT }, (_, at) => ({ text: `Ada saves cellar ${at}`, importance: 0.5 }));
  const proposals = [...useless, { text: 'Ada keeps bees in Kreuzberg', importance: 0.9 }];
  let hooked = 0;
  const memory: Hooks['memory'] = async (_, next) => {
    hooked += 1;
    return await next();
  };
  const { writes, refused } = await admitCandidates(
    { ...world.services, hooks: createHookRunner([{ memory }], createSystemClock()) },
    {
      conversation: await world.conversation(),
      agent: world.agent,
      entries: [said],
      extractedUpto: 0,
      model: 'offline:demo',
      promptHash: '',
      candidates: proposals.map((one) => ({ ...one, kind: 'fact', about: 'Ada', sources: [said.seq] })),
    },
  );
  expect(hooked).toBe(MAX_CONSIDERED);
  expect(writes).toHaveLength(12);
  expect(writes[0]).toMatchObject({ memory: { text: 'Ada keeps bees in Kreuzberg' } });
  expect(writes.length + refused.length).toBe(proposals.length);
});

/** Words of no language, each another one, which all begin alike. */
function wordsLike(beginning: string, count: number, from = 0): string {
  const spell = (number: number) =>
    Array.from(number.toString(26), (digit) => 'äbcdefghijklmnöpqrstüvwxyz'[Number.parseInt(digit, 26)]).join('');
  return Array.from({ length: count }, (_, at) => `${beginning}${spell(100_000 + 7919 * (from + at)).repeat(2)}`).join(
    ' ',
  );
}

it('statements about a long foreign message cost little', async () => {
  await using world = await openWorld();
  const said = await world.say(wordsLike('verst', 12_000));
  const candidates = Array.from({ length: MAX_CONSIDERED }, (_, at) => ({
    text: `Ada ${wordsLike('verst', 24, 30_000 + 24 * at)}`,
    about: 'Ada',
    sources: [said.seq],
  }));
  await world.admit(candidates.slice(0, 1));
  const before = threadCpuMs();
  const { writes, refused } = await world.admit(candidates);
  expect(writes.length + refused.length).toBe(MAX_CONSIDERED);
  expect(threadCpuMs() - before).toBeLessThan(MAX_CPU_MS * slowdown());
});

/** The CPU time of the longest piece of work between two turns of the event loop. */
async function longestMsOf(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = threadCpuMs();
  let next: NodeJS.Immediate | null = null;
  const look = () => {
    const now = threadCpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    next = setImmediate(look);
  };
  look();
  await work();
  if (next !== null) clearImmediate(next);
  return Math.max(longestMs, threadCpuMs() - before);
}

it('statements that cite many messages each take their turn', async () => {
  await using world = await openWorld();
  const sources: number[] = [];
  for (let at = 0; at < MANY_SOURCES; at += 1) {
    sources.push((await world.say(`The boat ${at} left harbour ${at * 31} with a storm ahead`)).seq);
  }
  const candidates = Array.from({ length: MAX_CONSIDERED }, (_, at) => ({
    text: `Ada sails boat ${at} out of the harbour before each storm`,
    about: 'Ada',
    sources,
  }));
  await world.admit(candidates.slice(0, 1));
  expect(await longestMsOf(() => world.admit(candidates))).toBeLessThan(MAX_BLOCK_MS * slowdown());
});
