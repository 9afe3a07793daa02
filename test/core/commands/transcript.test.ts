import { describe, expect, it } from 'vitest';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { cells } from './commands.world.ts';

const open = () => createBotWorld({ models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })] });

async function tell(world: BotWorld, texts: readonly string[]): Promise<void> {
  for (const text of texts) await world.say(text, { asks: false });
  await world.settled();
}

describe('/transcript search', () => {
  it('marks the neighbours of a match and counts matches only', async () => {
    await using world = await open();
    await tell(world, ['Good morning.', 'The walrus is asleep.', 'Let it be.', 'Another walrus woke up.']);
    const reply = await world.command('transcript search', { query: 'walrus' });
    expect(reply.text).toBe('2 messages match "walrus". Rows with … are neighbours of a match.');
    const marks = cells(reply).map(([mark = '']) => mark);
    expect(marks.toSorted()).toEqual(['#2', '#4', '… #1', '… #3'].toSorted());
    expect(marks.slice(0, 2).toSorted()).toEqual(['#2', '#4']);
  });

  it('mentions no neighbours where there are none', async () => {
    await using world = await open();
    await tell(world, ['The walrus is asleep.']);
    expect((await world.command('transcript search', { query: 'walrus' })).text).toBe('1 message matches "walrus".');
  });

  it('shows at most forty rows, and how many matched', async () => {
    await using world = await open();
    await tell(
      world,
      Array.from({ length: 45 }, (_, index) => `The walrus number ${index} is asleep.`),
    );
    const reply = await world.command('transcript search', { query: 'walrus' });
    expect(reply.text).toBe('45 messages match "walrus".');
    expect(reply.page).toMatchObject({ number: 1, of: 5 });
    const last = await world.command('transcript search', { query: 'walrus', page: '5' });
    expect(cells(last)).toHaveLength(8);
    expect(last.page?.next).toBeNull();
  });

  it('shortens long messages and questions', async () => {
    await using world = await open();
    await tell(world, [`The walrus is asleep. ${'It snores. '.repeat(30)}`]);
    const query = `walrus ${'asleep '.repeat(30)}`.trim();
    const reply = await world.command('transcript search', { query });
    const what = cells(reply)[0]?.[3] ?? '';
    expect(what).toMatch(/^The walrus is asleep\. It snores\..*…$/);
    expect(what.length).toBeLessThanOrEqual(160);
    expect(what.length).toBeGreaterThan(120);
    const shown = (text: string) => /"(.*)"/.exec(text)?.[1] ?? '';
    expect(shown(reply.text)).toMatch(/^walrus asleep .*…$/);
    expect(shown(reply.text).length).toBeLessThanOrEqual(80);
    const none = await world.command('transcript search', { query: 'xylophone '.repeat(30).trim() });
    expect(none.text).toMatch(/^No message here matches "xylophone .*…"\.$/);
    expect(shown(none.text).length).toBeLessThanOrEqual(80);
  });
});
