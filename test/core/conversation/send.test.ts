import { describe, expect, it } from 'vitest';
import { makeKey, textOf } from '../../../src/index.ts';
import { type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

const PIXEL = Uint8Array.of(0x89, 0x50, 0x4e, 0x47);

function world(started = true): Promise<BotWorld> {
  const chat = scriptedModel(async () => ({ text: 'Here is the answer.' }), { id: 'test:chat' });
  return createBotWorld({ models: [chat], started });
}

const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body);

describe('bot.send', () => {
  it('stores what it says and posts it', async () => {
    await using here = await world();
    const sent = await here.bot.send(HERE, 'The build is green.', { audience: 'private' });
    await here.settled();
    expect(sent).toEqual({ seq: 1, isNew: true });
    expect(posted(here)).toEqual([{ kind: 'text', text: 'The build is green.' }]);
    expect(await here.entries()).toMatchObject([
      { seq: 1, role: 'assistant', parts: [{ kind: 'text', text: 'The build is green.' }] },
    ]);
  });

  it('sends the same id once', async () => {
    await using here = await world();
    const say = () => here.bot.send(HERE, 'Once.', { audience: 'private', id: 'build-1' });
    const results = await Promise.all([say(), say(), say()]);
    await here.restart();
    results.push(await say());
    await here.settled();
    expect(results.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(results.map(({ seq }) => seq))).toEqual(new Set([1]));
    expect(posted(here)).toHaveLength(1);
  });

  it('is not confused by what the platform says', async () => {
    await using here = await world();
    await here.say('Is it green?', { id: 'build-1', asks: false, audience: 'private' });
    // Only the platform opens a place.
    const sent = await here.bot.send(HERE, 'The build is green.', { audience: 'public', id: 'build-1' });
    expect(sent.isNew).toBe(true);
    expect(await here.conversation()).toMatchObject({ audience: 'private', tightestAudience: 'private' });
  });

  it('reports nothing if the bot stops right after it', async () => {
    await using here = await world(false);
    await here.bot.send(HERE, 'The build is green.', { audience: 'private' });
    await here.bot.stop();
    expect(here.events.filter(({ kind }) => kind === 'error.internal')).toEqual([]);
  });

  it('posts the same text twice when it is said twice', async () => {
    await using here = await world();
    await here.bot.send(HERE, 'Tick.', { audience: 'private' });
    await here.bot.send(HERE, 'Tick.');
    await here.settled();
    expect(posted(here).map(({ text }) => text)).toEqual(['Tick.', 'Tick.']);
  });

  it('sends files after the text and keeps their names', async () => {
    await using here = await world();
    const files = [
      { name: '../chart.png', data: PIXEL },
      { name: 'notes.txt', data: 'héllo' },
    ];
    await here.bot.send(HERE, { text: 'Today:', files }, { audience: 'private' });
    await here.settled();
    expect(posted(here)).toEqual([
      { kind: 'text', text: 'Today:' },
      { kind: 'attachment', name: '.._chart.png', mediaType: 'image/png', base64: 'iVBORw==', text: '.._chart.png' },
      { kind: 'attachment', name: 'notes.txt', mediaType: 'text/plain', base64: 'aMOpbGxv', text: 'notes.txt' },
    ]);
    const [entry] = await here.entries();
    expect(entry?.parts.slice(1)).toMatchObject([
      { kind: 'attachment', name: '.._chart.png', sizeBytes: 4 },
      { kind: 'attachment', name: 'notes.txt', sizeBytes: 6 },
    ]);
  });

  it('is seen by the model in the next reply', async () => {
    const chat = scriptedModel(async () => ({ text: 'Yes.' }), { id: 'test:chat' });
    await using here = await createBotWorld({ models: [chat] });
    await here.bot.send(HERE, 'The oven is hot.', { audience: 'private' });
    await here.say('Is the oven hot?');
    await here.settled();
    expect(JSON.stringify(chat.requests.at(-1)?.messages)).toContain('The oven is hot.');
    expect(posted(here).map(({ text }) => text)).toEqual(['The oven is hot.', 'Yes.']);
  });

  it('waits for the start where nothing is connected', async () => {
    await using here = await world(false);
    await here.bot.send(HERE, 'Good morning.', { audience: 'private' });
    await here.settled();
    expect(posted(here)).toEqual([]);
    await here.bot.start();
    await here.settled();
    expect(posted(here).map(({ text }) => text)).toEqual(['Good morning.']);
  });

  it('cuts a long text as the platform wants', async () => {
    await using here = await world();
    await here.bot.send(HERE, 'x'.repeat(1200), { audience: 'private' });
    await here.settled();
    expect(posted(here).map(({ text }) => text.length)).toEqual([500, 500, 200]);
    expect(textOf((await here.entries())[0]?.parts ?? [])).toHaveLength(1200);
  });

  it.each([
    ['nothing', '', {}, /neither text nor files/],
    ['what prints nothing', '\u0007', { audience: 'dm' }, /neither text nor files/],
    ['a new place without an audience', 'Hi.', {}, /no messages yet, so the audience is required/],
    [
      'too many bytes',
      { files: [{ name: 'a', data: new Uint8Array(8_000_001) }] },
      { audience: 'dm' },
      /the limit is 8000000/,
    ],
    ['an empty file', { files: [{ name: 'a.txt', data: '' }] }, { audience: 'dm' }, /a\.txt is empty/],
  ] as const)('refuses %s', async (_name, content, options, problem) => {
    await using here = await world();
    await expect(here.bot.send(HERE, content, options)).rejects.toMatchObject({ code: 'SEND_INVALID' });
    await expect(here.bot.send(HERE, content, options)).rejects.toThrow(problem);
    expect(await here.bot.services.store.conversations.find(HERE)).toBeNull();
  });

  it.each<[string, readonly unknown[], RegExp]>([
    ['no content', [HERE], /: content: expected a text, or an object with text and files, got undefined\.$/],
    ['a misspelt part', [HERE, { txt: 'Hi.' }], /: content: unknown key txt, did you mean text\?/],
    [
      'a number of bytes',
      [HERE, { files: [{ name: 'a', data: 5 }] }],
      /: content\.files\[0\]\.data: expected a text, or bytes/,
    ],
    [
      'an id as the options',
      [HERE, 'Hi.', 'build-1'],
      /: options: expected an object with id and audience, got string\.$/,
    ],
    ['a long id', [HERE, 'Hi.', { id: 'x'.repeat(201) }], /: options\.id: expected at most 200 characters\.$/],
    ['one object', [{ conversation: HERE, text: 'Hi.' }], /^"object" is not a conversation key\. Expected platform:/],
    ['no conversation', [], /^"undefined" is not a conversation key\. Expected platform:/],
  ])('says what is wrong with %s', async (_name, given, problem) => {
    await using here = await world();
    const send: (...given: never) => Promise<unknown> = here.bot.send;
    const sent = send(...(given as never));
    await expect(sent).rejects.toMatchObject({ code: expect.stringMatching(/^(SEND|KEY)_INVALID$/) });
    await expect(sent).rejects.toThrow(problem);
  });

  it('refuses a platform that the bot does not serve', async () => {
    await using here = await world();
    const key = makeKey({ platform: 'elsewhere', workspace: 'w', channel: 'c' });
    for (const options of [{}, { audience: 'dm' }] as const) {
      const sent = here.bot.send(key, 'Hi.', options);
      await expect(sent).rejects.toMatchObject({ code: 'ADAPTER_MISSING', data: { known: ['test'] } });
    }
  });
});
