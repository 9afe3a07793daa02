import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/adapter-kit.ts';
import { createBotWorld, HERE } from '../../support/bot-world.ts';
import { type Script, scriptedModel, until } from '../compaction/compaction.world.ts';

const call = (tool: string) => ({ tool, input: {} });

/** A bot that dies in the middle of its first order. Its model then looks around before it orders again. */
async function createShop() {
  const keys: string[] = [];
  const order = defineTool({
    name: 'order',
    description: 'Orders.',
    input: z.object({}),
    async run(_, { callKey }) {
      keys.push(callKey);
      if (keys.length === 1) await new Promise(() => undefined);
      return 'Ordered.';
    },
  });
  const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), run: () => 'A shop.' });
  const script: Script = ({ messages }, { count }) => {
    if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
    return { calls: count === 1 ? [call('order')] : [call('look'), call('order'), call('order')] };
  };
  const models = [scriptedModel(script, { id: 'test:chat' })];
  const world = await createBotWorld({ models, tools: [look, order], agent: { tools: ['look', 'order'] } });
  return Object.assign(world, { keys });
}

it('a call has the same key after a crash', async () => {
  await using shop = await createShop();
  await shop.say('Order a boat!');
  await until(() => shop.keys.length === 1);
  await shop.say('Are you there?');
  await shop.crash();
  await shop.settled();
  await shop.say('Order two more!');
  await shop.settled();
  const [before, again, second, ...later] = shop.keys;
  expect([before, again, second]).toEqual([1, 1, 2].map((ordinal) => `${HERE}#t1.order.${ordinal}`));
  expect(later).toEqual([1, 2].map((ordinal) => `${HERE}#t6.order.${ordinal}`));
});
