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
    const model = scriptedModel(({ purpose }) => ({ text: purpose === 'reply' ? 'ok' : 'Both talked about home.' }));
    await using world = await createBotWorld({ models: [model], agent: { context_window: 4000 } });
    for (let count = 0; count < 16; count += 1) {
      await world.say(filler(400, count), { author: count % 2 === 0 ? ADA : POSING });
      await world.settled();
    }
    const summarised = () => model.requests.find(({ purpose }) => purpose === 'compact');
    await until(() => summarised() !== undefined);
    expect(textOf(summarised())).toMatch(/- Ada: #1, #5.*; another Ada: #3/u);
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

describe('a crowd with one name', () => {
  it('takes little of the view', () => {
    const crowd = Array.from({ length: 5000 }, (_, index) =>
      user(index + 1, 'hi', { author: { ...ADA, id: `u${index % 1000}` } }),
    );
    const lines = namesakesIn(crowd);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Ada: #1000, .*#5000; another Ada: #999, .* another Ada: #997, .*#4997$/u);
    expect(lines.join('').length).toBeLessThan(400);
  });

  it('shows the newest messages of each', () => {
    const talk = Array.from({ length: 60 }, (_, index) =>
      user(index + 1, 'hi', { author: index % 2 === 0 ? ADA : POSING }),
    );
    expect(namesakesIn(talk)[0]).toMatch(/^Ada: … #38, .*#60; another Ada: … #37, .*#59$/u);
  });
});
