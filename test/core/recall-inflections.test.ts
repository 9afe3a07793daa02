import { expect, it } from 'vitest';
import { withQuestion } from '../../src/context/preview.ts';
import { passagesFor } from '../../src/search/recall-passages.ts';
import { INFLECTED, type Inflected } from '../fixtures/inflections.ts';
import { LANGUAGES } from '../fixtures/languages.ts';
import { openWorld, type World } from './memory.world.ts';

const PADDING = 'Nothing else of note was said on this long and quiet afternoon by the harbour. '.repeat(60);

/** The facts among small talk of other languages, beyond what the view shows. */
async function remembering({ facts }: Inflected): Promise<World> {
  const world = await openWorld();
  const fillers = LANGUAGES.flatMap((language) => language.fillers.slice(0, 2));
  for (const [at, [fact]] of facts.entries()) {
    await world.say(fact);
    for (const filler of fillers.slice(2 * at, 2 * at + 2)) await world.say(filler);
  }
  await world.say(PADDING);
  const { id, nextSeq } = await world.conversation();
  const gap = { id: world.random.id() as never, conversationId: id, expectedCompactedUpto: 0, toSeq: nextSeq - 1 };
  await world.store.summaries.openGap({ ...gap, now: world.time.now });
  return world;
}

async function quotedFor(world: World, text: string): Promise<readonly string[]> {
  const view = await world.store.transcript.context((await world.conversation()).id, { maxEntries: 100 });
  if (view === null) throw new Error('there is no conversation');
  const { snapshot, newest } = withQuestion(view, text, { now: world.time.now });
  const section = await passagesFor(world.services, { agent: world.agent, snapshot, waiting: [newest] });
  return (section?.passages ?? []).map((passage) => passage.text);
}

it('finds facts in other inflections, and nothing that nobody said', async () => {
  const missed: string[] = [];
  const loud: string[] = [];
  for (const language of INFLECTED) {
    await using world = await remembering(language);
    for (const [fact, question] of language.facts) {
      const [first, second] = await quotedFor(world, question);
      if (first?.includes(fact) !== true && second?.includes(fact) !== true) missed.push(question);
    }
    for (const question of language.unrelated) if ((await quotedFor(world, question)).length > 0) loud.push(question);
  }
  expect(missed.length / INFLECTED.flatMap(({ facts }) => facts).length).toBeLessThanOrEqual(0.05);
  expect(loud).toEqual([]);
});
