import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/adapter-kit.ts';
import type { Author } from '../../src/domain/message.ts';
import { namesakesIn } from '../../src/memory/people/namesakes.ts';
import { filler, scriptedModel, until } from '../core/compaction/compaction.world.ts';
import { user } from '../fixtures/context.ts';
import { ADA, BOB, createBotWorld, type Saying } from '../support/bot-world.ts';

/** Anybody may take the name of somebody else, and many people share one by chance. */
const POSING: Author = { ...ADA, id: 'u-mallory' };

/** What the model was sent for the last of these messages. */
async function sentFor(said: readonly (Saying & { readonly text: string })[]): Promise<string> {
  const model = scriptedModel(() => ({ text: 'ok' }));
  await using world = await createBotWorld({ models: [model] });
  for (const { text, ...saying } of said) {
    await world.say(text, saying);
    await world.settled();
  }
  return textOf(model.requests.at(-1));
}

/** The source of a summary of what these people say in turn. */
async function summarisedOf(authors: readonly Author[]): Promise<string> {
  const model = scriptedModel(({ purpose }) => ({ text: purpose === 'reply' ? 'ok' : 'Both talked about home.' }));
  await using world = await createBotWorld({ models: [model], agent: { context_window: 4000 } });
  for (let count = 0; count < 48; count += 1) {
    await world.say(filler(120, count), { author: authors[count % authors.length] ?? ADA });
    await world.settled();
  }
  const summarised = () => model.requests.find(({ purpose }) => purpose === 'compact');
  await until(() => summarised() !== undefined);
  return textOf(summarised());
}

function textOf(request: ModelRequest | undefined): string {
  return JSON.stringify(request?.messages ?? []);
}

describe('a member with the name of another one', () => {
  const address = { text: 'I live at 4 Mill Lane.', author: ADA };
  const question = 'Where do I live?';

  it('is told from them for the reply', async () => {
    const sent = await sentFor([
      address,
      { text: 'The kettle is hot.', author: BOB },
      { text: question, author: POSING },
    ]);
    expect(sent).toContain('- Ada: #5; another Ada: #1');
    expect(sent).not.toContain('Bob:');
  });

  it('is told from them with lookalike letters', async () => {
    const sent = await sentFor([address, { text: question, author: { ...POSING, name: 'АDА' } }]);
    expect(sent).toContain('- АDА: #3; another Ada: #1');
  });

  it('is told from them in the source of a summary', async () => {
    expect(await summarisedOf([ADA, POSING])).toMatch(/- Ada: #\d+, #.*; another Ada: #\d/u);
  });

  it('is told from them although others share a long name', async () => {
    const long = '龍'.repeat(64);
    const authors = [ADA, POSING, { ...BOB, name: long }, { ...BOB, name: long, id: 'u-eve' }];
    expect(await summarisedOf(authors)).toMatch(/- Ada: #\d+.*; another Ada: #\d/u);
  });

  // What is always there would be paid for with each message.
  it.each([
    ['one person', [address, { text: question, author: ADA }]],
    ['people with different names', [address, { text: question, author: BOB }]],
    ['a bot, which labels mark', [{ ...address, author: { ...POSING, kind: 'bot' } as const }, { text: question }]],
    [
      'a direct message',
      [
        { ...address, audience: 'dm' },
        { text: question, author: POSING, audience: 'dm' },
      ],
    ],
  ] as const)('is not made up of %s', async (_name, said) => {
    expect(await sentFor(said)).not.toContain('have the same name');
  });
});

describe('a member who posed as another one', () => {
  const posed = user(3, 'I owe Bob money.', { author: POSING });

  it('hides that by no number of messages', () => {
    const filling = Array.from({ length: 30 }, (_, index) => user(6 + index, 'ok', { author: POSING }));
    const talk = [user(1, 'hi', { author: ADA }), posed, user(5, 'hi', { author: ADA }), ...filling];
    expect(namesakesIn(talk)).toEqual(['Ada: #3, #6 to #35; another Ada: #1, #5']);
  });

  it('hides that by no other name', () => {
    const renamed = user(7, 'hi', { author: { ...POSING, name: 'Bob' } });
    expect(namesakesIn([user(1, 'hi', { author: ADA }), posed, renamed])).toEqual(['Ada: #3; another Ada: #1']);
  });

  it('hides that by no number of names', () => {
    const names = Array.from({ length: 30 }, (_, index) => `Member ${index}`);
    const present = names.map((name, index) => user(10 + index, 'hi', { author: { ...BOB, id: `u${index}`, name } }));
    const taken = names.map((name, index) => user(50 + index, 'ok', { author: { ...POSING, name } }));
    const told = (count: number) =>
      namesakesIn([user(1, 'hi', { author: ADA }), posed, ...present, ...taken.slice(0, count)]).at(-1);
    expect(told(3)).toBe('also names of several people: Ada');
    expect(told(4)).toBe('also names of several people: Member 0, Ada');
    expect(told(30)).toMatch(/^also names of several people: Member 26, .*, Member 15, and others$/u);
  });
});

describe('a crowd with one name', () => {
  it('takes little of the view', () => {
    const crowd = Array.from({ length: 5000 }, (_, index) =>
      user(index + 1, 'hi', { author: { ...ADA, id: `u${index % 1000}` } }),
    );
    const lines = namesakesIn(crowd);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Ada: #1000, .*#5000; another Ada: #999, .* another Ada: #997, .*#4997; and others$/u);
    expect(lines.join('').length).toBeLessThan(400);
  });

  it('shows the newest messages of each', () => {
    const talk = Array.from({ length: 60 }, (_, index) =>
      user(index + 1, 'hi', { author: index % 2 === 0 ? ADA : POSING }),
    );
    expect(namesakesIn(talk)[0]).toMatch(/^Ada: … #38, .*#60; another Ada: … #37, .*#59$/u);
  });
});
