import { expect, it } from 'vitest';
import { INFLECTED, type Inflected } from '../../fixtures/inflections.ts';
import { LANGUAGES } from '../../fixtures/languages.ts';
import { quotedFor, remembering } from './recall.world.ts';

/** The facts among small talk of other languages. */
function linesOf({ facts }: Inflected): readonly string[] {
  const fillers = LANGUAGES.flatMap((language) => language.fillers.slice(0, 2));
  return facts.flatMap(([fact], at) => [fact, ...fillers.slice(2 * at, 2 * at + 2)]);
}

it('finds facts in other inflections, and nothing that nobody said', async () => {
  const missed: string[] = [];
  const loud: string[] = [];
  for (const language of INFLECTED) {
    await using world = await remembering(linesOf(language));
    for (const [fact, question] of language.facts) {
      const [first, second] = await quotedFor(world, question);
      if (first?.includes(fact) !== true && second?.includes(fact) !== true) missed.push(question);
    }
    for (const question of language.unrelated) if ((await quotedFor(world, question)).length > 0) loud.push(question);
  }
  expect(missed.length / INFLECTED.flatMap(({ facts }) => facts).length).toBeLessThanOrEqual(0.05);
  expect(loud).toEqual([]);
});
