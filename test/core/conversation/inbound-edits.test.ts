import { expect, it } from 'vitest';
import { textOf } from '../../../src/domain/message.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

const world = (...hooks: readonly Hooks[]) =>
  createBotWorld({ models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })], hooks });

function edit({ bot, clock }: BotWorld, text: string): Promise<void> {
  const parts = [{ kind: 'text', text }] as const;
  return bot.sink.edited({ conversation: HERE, externalId: 'm1', parts, at: clock.now() });
}

const first = async (here: BotWorld) => textOf((await here.entries())[0]?.parts ?? []);

it('the later of two edits at the same time counts', async () => {
  await using here = await world();
  await here.say('one', { asks: false });
  await edit(here, 'two');
  await edit(here, 'three');
  expect(await first(here)).toBe('three');
});

it('an edit overtakes its message through a hook, too', async () => {
  await using here = await world({ inbound: (_context, next) => next() });
  await here.say('hello', { id: 'm0', asks: false });
  await edit(here, 'two');
  await here.say('one', { id: 'm1', asks: false });
  expect((await here.entries()).map(({ parts }) => textOf(parts))).toEqual(['hello', 'two']);
});

it('a hook’s answer stores the message as it received it', async () => {
  const hide: Hooks = { inbound: ({ text }, next) => next({ text: text.replaceAll('swordfish', '***') }) };
  await using here = await world(hide, { inbound: () => ({ kind: 'answer', text: 'Well.' }) });
  await here.say('The code is swordfish.');
  expect(await first(here)).toBe('The code is ***.');
});
