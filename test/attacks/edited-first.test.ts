import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type ModelRequest, type Tool } from '../../src/adapter-kit.ts';
import type { Hooks } from '../../src/hooks/hooks.ts';
import { scriptedModel, until } from '../core/compaction/compaction.world.ts';
import { createBotWorld, HERE } from '../support/bot-world.ts';
import { filesWith } from '../support/on-disk.ts';

const SECRET = 'kingfisher';
const TOLD = `The code of my gate is ${SECRET}.`;
const EDITED = [{ kind: 'text', text: 'Good morning.' }] as const;

const look = defineTool({
  name: 'look',
  description: 'Looks something up',
  input: z.object({}),
  run: async () => `${SECRET} `.repeat(4000),
}) as Tool;

/** A plugin that repeats in each request what the newest message says. */
const repeat: Hooks = {
  model: (call, next) =>
    JSON.stringify(call.messages).includes(SECRET)
      ? next({ system: [{ text: `Never say ${SECRET}.`, cacheBreak: false }, ...call.system] })
      : next({}),
};

it('a message that was edited before its deletion leaves nothing', async () => {
  const script = ({ messages, purpose }: ModelRequest) => {
    if (purpose !== 'reply' || messages.at(-1)?.role === 'tool') return { text: `It is ${SECRET}.` };
    return { calls: [{ tool: 'look', input: {} }] };
  };
  const model = scriptedModel(script, { id: 'test:chat' });
  const agent = { tools: ['look', 'blob_read'], context_window: 8000 };
  await using world = await createBotWorld({ models: [model], tools: [look], hooks: [repeat], agent });
  await world.say(TOLD, { id: 'm1' });
  await world.settled();
  expect(filesWith(world.directory, SECRET)).not.toBe('');
  await world.bot.sink.edited({ conversation: HERE, externalId: 'm1', parts: EDITED, at: world.clock.now() });
  await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
  await until(() => filesWith(world.directory, SECRET) === '');
});
