import { expect, test } from 'vitest';
import type { Channel, MemoryId, ModelProvider, Post } from '../../../src/adapter-kit.ts';
import { callBudgetOf, countCalls } from '../../../src/compaction/job/call-budget.ts';
import { ModelError } from '../../../src/domain/errors.ts';
import { createBreaker } from '../../../src/models/breaker.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { cells, field, openWorld } from './commands.world.ts';

function channelWith(commandPrefix: string, posts: Post[] = []): Channel {
  return {
    platform: 'test',
    traits: { idempotentPosts: true, ephemeral: false, commandPrefix, personIds: 'workspace' },
    start: async () => undefined,
    split: (text) => [{ kind: 'text', text }],
    async post(post) {
      posts.push(post);
      return { platformMessageId: `p${posts.length}` };
    },
    show: () => undefined,
    linkTo: async () => null,
    stop: async () => undefined,
  };
}

function failingWith(reason: 'fatal' | 'quota', state: { fails: boolean }): ModelProvider {
  const model = scriptedModel(
    () => {
      if (state.fails) throw new ModelError({ model: 'test:chat', reason, detail: 'no' });
      return { text: 'fine' };
    },
    { id: 'test:chat' },
  );
  return { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) };
}

test.each(['/', '/strata '])('each channel names commands its own way: %s', async (prefix) => {
  const posts: Post[] = [];
  const parts = { channels: [channelWith(prefix, posts)], models: failingWith('fatal', { fails: true }) };
  await using world = await openWorld({ parts });
  await world.say('Hello.');
  expect(posts.map(({ body }) => (body.kind === 'text' ? body.text : ''))).toEqual([
    expect.stringContaining(`; ${prefix}status shows my operator`),
  ]);
  const help = await world.type('/help');
  expect(help.fields.map(({ name }) => name)).toContain(`${prefix}status`);
  expect(help.text).toContain(`${prefix}help <command>`);
  const memory = await world.type('/help memory');
  expect(memory.fields.map(({ name }) => name)).toContain(`${prefix}memory why <id>`);
  const wrong = await world.bot.commands.run({
    conversation: world.place,
    audience: 'dm',
    author: { id: 'u', name: 'U', kind: 'person' },
    rights: 'member',
    path: ['memroy'],
    options: {},
  });
  expect(wrong.text).toBe(
    `There is no command ${prefix}memroy. Did you mean ${prefix}memory? ${prefix}help lists them.`,
  );
  const all = [help, memory, wrong, await world.type('/reset'), await world.type('/privacy pause')];
  const names = JSON.stringify(all).match(/\/(?:strata )?[a-z]+/g) ?? [];
  expect(names.filter((name) => !name.startsWith(prefix))).toEqual([]);
});

test('status explains the last failed reply until one succeeds', async () => {
  const state = { fails: true };
  await using world = await openWorld({ parts: { models: failingWith('quota', state) } });
  await world.say('Hello.');
  expect(field(await world.type('/status'), 'Reply')).toMatch(
    /^failed at .*: The model test:chat failed \(quota\): no\. Add credit at the provider/,
  );
  state.fails = false;
  await world.say('Hello again.');
  expect(field(await world.type('/status'), 'Reply')).toBe('');
});

test('a transcript search counts matches and marks their neighbours', async () => {
  await using world = await openWorld();
  for (const text of ['We walk.', 'The xylophone is red.', 'It rains.', 'Bread is good.', 'The bus is late.']) {
    await world.say(text);
  }
  const found = await world.type('/transcript search xylophone');
  const rows = cells(found);
  const matching = rows.filter((row) => row.join(' ').includes('xylophone'));
  expect(found.text).toMatch(new RegExp(`^${matching.length} messages? match(?:es)? "xylophone"\\.`));
  expect(rows.length).toBeGreaterThan(matching.length);
  expect(rows.filter(([seq]) => seq?.startsWith('… #') === false)).toEqual(matching);
});

test('a memory is retired, and a replaced one restored', async () => {
  await using world = await openWorld();
  await world.say('My name is Ada.');
  for (const city of ['Riga', 'Tartu']) await world.type(`/memory remember I live in ${city}.`);
  const listed = cells(await world.type('/memory list'));
  const idOf = (city: string) => (listed.find((row) => row[2]?.includes(city))?.[0] ?? '') as MemoryId;
  const replaced = { state: 'superseded', supersededBy: idOf('Tartu'), validUntil: Date.now() } as const;
  const event = { kind: 'superseded', at: Date.now(), actor: 'model', detail: null } as const;
  await world.bot.services.store.memories.change(idOf('Riga'), replaced, event);
  expect(field(await world.type(`/memory show ${idOf('Riga')}`), 'Replaced by')).toBe(idOf('Tartu'));
  const restored = await world.type(`/memory restore ${idOf('Riga')}`);
  expect([restored.title, field(restored, 'State')]).toEqual(['Restored', 'active']);
  const shown = await world.type(`/memory show ${idOf('Riga')}`);
  expect(field(shown, 'Replaced by')).toBe('');
  expect(field(shown, 'Valid')).not.toContain('until');
  expect(field(await world.type(`/memory demote ${idOf('Tartu')}`), 'State')).toBe('candidate');
  expect((await world.type(`/memory demote ${idOf('Tartu')}`)).text).toMatch(/is candidate\. Only an active memory/);
  expect(field(await world.type(`/memory approve ${idOf('Tartu')}`), 'State')).toBe('active');
});

// Shows: R14
test('status shows paused models and what the hour has cost', async () => {
  await using world = await openWorld();
  await world.say('Hello.');
  const { services } = world.bot;
  await createBreaker(services).failed('test:model', { auth: true, place: null, message: 'no key' });
  const conversation = await services.store.conversations.find(world.place);
  if (conversation === null) throw new Error('Nothing was said.');
  const { calls, limit } = await callBudgetOf(services, conversation);
  await countCalls(services, conversation, 7);
  const status = await world.type('/status');
  expect(field(status, 'Paused')).toMatch(/^test:model is paused until .*: no key$/);
  expect(field(status, 'Cost')).toContain(`${calls + 7} of at most ${limit} calls for summaries in this hour`);
});
