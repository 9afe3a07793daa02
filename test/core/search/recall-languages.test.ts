import { expect, it } from 'vitest';
import type { Language } from '../../fixtures/language.ts';
import { AS_TYPED } from '../../fixtures/languages-as-typed.ts';
import { OF_ASIA } from '../../fixtures/languages-of-asia.ts';
import { OF_EUROPE } from '../../fixtures/languages-of-europe.ts';
import { quotedFor, remembering } from './recall.world.ts';

const TONGUES = [...OF_ASIA, ...OF_EUROPE, ...AS_TYPED];
const SMALL_TALK = TONGUES.flatMap(({ fillers }) => fillers);
const FILLERS = 3;
/** One in this many lines of the small talk of other languages. */
const STEP = 9;

/** Each fact, followed by three lines of small talk. */
function talkOf({ facts, fillers }: Language): readonly string[] {
  return facts.flatMap(([fact], at) => [
    fact,
    ...Array.from({ length: FILLERS }, (_, more) => fillers[(FILLERS * at + more) % fillers.length] ?? ''),
  ]);
}

it('quotes facts in thirty languages, and nothing for small talk', async () => {
  const asked: { readonly name: string; readonly question: string; readonly isFound: boolean }[] = [];
  let [messages, loud] = [0, 0];
  for (const language of TONGUES) {
    await using world = await remembering(talkOf(language));
    for (const [fact, question] of language.facts) {
      const first = (await quotedFor(world, question)).slice(0, 3);
      asked.push({ name: language.name, question, isFound: first.some((text) => text.includes(fact)) });
    }
    const sample = [...language.fillers, ...SMALL_TALK.filter((_, at) => at % STEP === 0)];
    for (const text of sample) if ((await quotedFor(world, text)).length > 0) loud += 1;
    messages += sample.length;
  }
  const missed = asked.filter(({ isFound }) => !isFound);
  const inEach = [...Map.groupBy(missed, ({ name }) => name).values()].map((same) => same.length);
  const most = Math.max(0, ...inEach);
  expect(missed.length / asked.length, missed.map(({ question }) => question).join('\n')).toBeLessThanOrEqual(0.02);
  expect(most).toBeLessThanOrEqual(1);
  expect(messages).toBeGreaterThanOrEqual(500);
  expect(loud / messages).toBeLessThanOrEqual(0.05);
});

it('finds words with accents by words without, in English too', async () => {
  const fact = 'We met José at the Café Zürich';
  await using world = await remembering([fact, 'The weather was nice', 'See you tomorrow']);
  expect(await quotedFor(world, 'Where did we meet Jose?')).toContainEqual(expect.stringContaining(fact));
});

it('finds what is far down in a long message', async () => {
  const fact = 'FATAL disk nvme1n1 is full';
  const log = Array.from({ length: 130 }, (_, at) => `10:${at} INFO worker ${at % 7} finished job ${at}`);
  await using world = await remembering([[...log, fact].join('\n'), 'The weather was nice', 'See you tomorrow']);
  expect(await quotedFor(world, 'Which disk was full?')).toContainEqual(expect.stringContaining(fact));
});

it('finds a first letter with an umlaut as two letters', async () => {
  const fact = 'Der Oelwechsel ist am Freitag um zehn';
  await using world = await remembering([fact, 'Heute war schoenes Wetter', 'Dann bis morgen']);
  expect(await quotedFor(world, 'Wann ist der Ölwechsel?')).toContainEqual(expect.stringContaining(fact));
});
