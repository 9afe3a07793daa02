import { expect, it } from 'vitest';
import type { Entry } from '../../src/adapter-kit.ts';
import { createNames } from '../../src/memory/forget/names.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { ADA, BOB, createBotWorld } from '../support/bot-world.ts';

/** Counts the reads of the author. */
function counted(entry: Entry, count: () => void): Entry {
  const { author } = entry;
  return Object.defineProperty({ ...entry }, 'author', {
    get: () => {
      count();
      return author;
    },
  });
}

it('looks once at a sentence that resembles many memories', async () => {
  await using world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'ok' }))] });
  await world.say('I like tea.', { asks: false });
  for (let line = 0; line < 20; line += 1) await world.say(`Ada likes tea ${line}.`, { asks: false, author: BOB });
  let asked = 0;
  const own = (await world.entries()).map((entry) => counted(entry, () => (asked += 1)));
  const area = {
    conversation: await world.conversation(),
    entries: new Map(own.map((entry) => [entry.seq, entry])),
    summaries: [],
  };
  const names = createNames(world.bot.services.store, { area, spoken: own });
  const decide = () =>
    Promise.all(own.slice(1).map((entry) => names.areOnlyAbout({ entry, text: 'Ada likes tea.', about: ADA })));
  expect(new Set(await decide())).toEqual(new Set([true]));
  const first = asked;
  for (let memory = 0; memory < 100; memory += 1) await decide();
  expect([first > 0, asked - first]).toEqual([true, 0]);
});

it('compares the messages of a place once for all threads', async () => {
  await using world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'ok' }))] });
  await world.say('I like tea.', { asks: false });
  for (let line = 0; line < 20; line += 1) await world.say(`Ada likes tea ${line}.`, { asks: false, author: BOB });
  const conversation = await world.conversation();
  let asked = 0;
  const spoken = (await world.entries()).map((entry) => counted(entry, () => (asked += 1)));
  const [, said] = await world.entries();
  const readsIn = async (threads: number) => {
    const before = asked;
    for (let thread = 0; thread < threads; thread += 1) {
      const area = { conversation: { ...conversation, id: 1000 + thread }, entries: new Map(), summaries: [] };
      const names = createNames(world.bot.services.store, { area, spoken });
      if (said !== undefined) await names.areOnlyAbout({ entry: said, text: 'Ada likes tea.', about: ADA });
    }
    return asked - before;
  };
  const first = await readsIn(1);
  // What remains is the person's own message.
  expect([first > spoken.length, (await readsIn(30)) <= 30 * 3]).toEqual([true, true]);
});
