import { expect, it } from 'vitest';
import { CABIN_ELSEWHERE } from '../../fixtures/cabin-elsewhere.ts';
import { CABIN_IN_ASIA } from '../../fixtures/cabin-in-asia.ts';
import type { Language } from '../../fixtures/language.ts';
import { LANGUAGES } from '../../fixtures/languages.ts';
import { OF_ASIA } from '../../fixtures/languages-of-asia.ts';
import { OF_EUROPE } from '../../fixtures/languages-of-europe.ts';
import { quotedFor, remembering } from './recall.world.ts';

/** Never used to choose a weight or a threshold: what is found in other languages than those of `recall-languages`. */
const CABIN = [...CABIN_IN_ASIA, ...CABIN_ELSEWHERE];
const KNOWN = [...LANGUAGES, ...OF_ASIA, ...OF_EUROPE];
const ANY = LANGUAGES.flatMap(({ fillers }) => fillers.slice(0, 2));

/** Each fact, followed by two lines of small talk, in the same language if there are any. */
function talkOf({ name, facts }: Language): readonly string[] {
  const fillers = KNOWN.find((language) => language.name === name)?.fillers ?? ANY;
  return facts.flatMap(([fact], at) => [
    fact,
    ...[0, 1].map((more) => fillers[(2 * at + more) % fillers.length] ?? ''),
  ]);
}

it('quotes what is asked in other words, in thirty languages', async () => {
  const missed: string[] = [];
  const loud: string[] = [];
  const worst: number[] = [];
  for (const language of CABIN) {
    await using world = await remembering(talkOf(language));
    const before = missed.length;
    for (const [fact, question] of language.facts) {
      const first = (await quotedFor(world, question)).slice(0, 3);
      if (!first.some((text) => text.includes(fact))) missed.push(question);
    }
    worst.push((missed.length - before) / language.facts.length);
    for (const text of language.fillers) if ((await quotedFor(world, text)).length > 0) loud.push(text);
  }
  const [facts, general] = [CABIN.flatMap((language) => language.facts), CABIN.flatMap(({ fillers }) => fillers)];
  expect(CABIN.length).toBeGreaterThanOrEqual(30);
  expect(missed.length / facts.length, missed.join('\n')).toBeLessThanOrEqual(0.07);
  expect(Math.max(...worst)).toBeLessThanOrEqual(0.25);
  expect(loud.length / general.length, loud.join('\n')).toBeLessThanOrEqual(0.25);
});
