import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Channel, defineTool, makeKey } from '../../../src/adapter-kit.ts';
import { watchLoop } from '../../../src/bot/loop-watchdog.ts';
import { createEvents, type StrataEvent } from '../../../src/ports/events.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const isStall = (event: StrataEvent) => event.kind === 'loop.stalled';

it('names the tool that held the loop', { timeout: 120_000 }, async () => {
  const heavy = defineTool({
    name: 'heavy',
    description: 'Counts for long',
    input: z.object({}),
    run: async () => {
      block(700);
      return 'done';
    },
  });
  let calls = 0;
  const model = scriptedModel(
    () => {
      calls += 1;
      return calls === 1 ? { calls: [{ callId: 'c', tool: 'heavy', input: {} }] } : { text: 'It is done.' };
    },
    { id: 'test:chat' },
  );
  await using world = await createBotWorld({ models: [model], tools: [heavy], agent: { tools: ['heavy'] } });
  const stalls: StrataEvent[] = [];
  world.bot.events.on((event) => isStall(event) && stalls.push(event));
  await delay(250);
  await world.say('Count, please.');
  await world.settled();
  await expect.poll(() => stalls.length, { timeout: 5_000 }).toBeGreaterThan(0);
  const found = stalls.find((event) => event.kind === 'loop.stalled' && event.before === 'tool.called');
  expect(found).toMatchObject({ after: 'model.called', before: 'tool.called', conversation: world.key });
});

it('reports nothing that a channel loads while it starts', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }), { id: 'test:chat' });
  const slow = (channel: Channel): Channel => ({
    ...channel,
    async start(sink) {
      block(700);
      await delay(250);
      await channel.start(sink);
    },
  });
  await using world = await createBotWorld({ models: [model], channel: slow });
  expect(world.events.filter(isStall)).toEqual([]);
});

it('names the event after which the loop was held', async () => {
  const seen: StrataEvent[] = [];
  const events = createEvents({ now: () => 0, onListenerError: () => undefined });
  events.on((event) => seen.push(event));
  const end = watchLoop(events);
  const conversation = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });
  await delay(150);
  events.emit({ kind: 'turn.started', conversation, readUpto: 1 });
  block(600);
  await expect.poll(() => seen.filter(isStall).length, { timeout: 5_000 }).toBeGreaterThan(0);
  expect(seen.findLast(isStall)).toMatchObject({ after: 'turn.started', before: null, conversation });
  end();
  const count = seen.length;
  block(400);
  await delay(250);
  expect(seen).toHaveLength(count);
});
