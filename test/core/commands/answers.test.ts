import { describe, expect, test } from 'vitest';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { BO, cells, field, openWorld } from './commands.world.ts';

const MODERATOR = { rights: 'moderator' } as const;

describe('what people read', () => {
  test.each(['\u200d', '\u3164', '\u200b\ufe0f'])(
    'no text without visible characters is remembered: %j',
    async (text) => {
      await using world = await openWorld();
      expect((await world.type(`/memory remember ${text}`)).text).toBe('There is no text to remember.');
      await world.type('/memory remember I drink tea');
      const [[id = ''] = []] = cells(await world.type('/memory list'));
      expect((await world.type(`/memory edit ${id} ${text}`)).text).toBe('There is no text to remember.');
      expect((await world.type(`/memory show ${id}`)).text).toBe('I drink tea');
    },
  );

  test('/why says that nothing was answered', async () => {
    await using world = await openWorld({ audience: 'public', parts: { agents: [{ id: 'main', mode: 'observe' }] } });
    expect((await world.type('/why')).text).toBe('There are no messages here yet.');
    await world.say('Hello.');
    expect((await world.type('/why')).text).toBe('The bot has answered nothing here yet.');
    expect((await world.type('/why changes')).text).toBe('The bot has answered nothing here yet.');
  });

  test('a page that does not exist is named', async () => {
    await using world = await openWorld();
    expect((await world.type('/memory list page=9')).text).toBe('There is no page 9: there is only one page.');
    for (let count = 0; count < 9; count += 1) await world.type(`/memory remember I own bicycle number ${count}`);
    expect((await world.type('/memory list page=3')).text).toBe('There is no page 3: there are 2 pages.');
  });

  test('what was forgotten is counted as it is', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('Hello there.', BO);
    const forgotten = await world.type('/memory forget #1 confirm=yes', { author: BO });
    expect(forgotten.text).toBe('2 messages deleted.');
    await world.type('/memory remember I drink tea');
    const [[id = ''] = []] = cells(await world.type('/memory list'));
    expect((await world.type(`/memory forget ${id} confirm=yes`)).text).toBe('1 memory deleted.');
  });

  test('a sentence that is deleted is not called hidden', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list', MODERATOR);
    const id = cells(await world.type('/memory list')).find((row) => row[2]?.includes('tea'))?.[0] ?? '';
    await world.say('Ada prefers tea. I bring the cups for the meeting on Monday.', BO);
    const asked = await world.type(`/memory forget ${id}`, MODERATOR);
    expect(field(asked, 'Sentences')).toBe('1 (Bo 1)');
    const forgotten = await world.type(`/memory forget ${id} confirm=yes`, MODERATOR);
    expect(forgotten.text).toMatch(/^1 memory, \d messages and 1 sentence deleted\.$/);
  });

  test('the history of a memory names people, not ids', async () => {
    await using world = await openWorld({ audience: 'public' });
    await world.say('My name is Ada and I prefer tea.');
    await world.type('/memory list', MODERATOR);
    const id = cells(await world.type('/memory list')).find((row) => row[2]?.includes('tea'))?.[0] ?? '';
    await world.type(`/memory pin ${id}`);
    await world.type(`/memory unpin ${id}`, { ...MODERATOR, author: BO });
    const historyFor = async (as: Parameters<typeof world.type>[1]) =>
      (await world.type(`/memory why ${id}`, as)).fields.map(({ value }) => value);
    expect(await historyFor({})).toEqual(['added by the bot', 'pinned by you', 'unpinned by somebody else']);
    expect(await historyFor({ author: BO })).toEqual(['added by the bot', 'pinned by Ada', 'unpinned by you']);
    expect(field(await world.type(`/memory show ${id}`), 'Readable')).toBe('here (public)');
  });

  test('the history names the bot that saved a memory', async () => {
    const input = { kind: 'preference', text: 'I prefer green tents', sources: [1] };
    const saving = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'ok' } : { calls: [{ tool: 'memory_save', input }] },
    );
    await using world = await createBotWorld({ models: [saving], agent: { tools: ['memory_save'] } });
    await world.say('I prefer green tents');
    await world.settled();
    const [[id = ''] = []] = cells(await world.command('memory list'));
    expect((await world.command('memory why', { id })).fields.map(({ value }) => value)).toEqual(['added by the bot']);
  });

  test('a word to type is in the usage', async () => {
    await using world = await openWorld();
    expect((await world.type('/privacy erase')).text).toBe(
      '/privacy erase: confirm is missing. Usage: /privacy erase yes',
    );
    expect(JSON.stringify(await world.type('/help privacy'))).toContain('"/privacy erase yes"');
  });
});
