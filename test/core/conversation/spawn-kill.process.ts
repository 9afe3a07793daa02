import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { defineEngine, defineTool, type ModelRequest, makeKey, silentLog } from '../../../src/adapter-kit.ts';
import { createBot } from '../../../src/bot/bot.ts';
import { createSlidingEngine } from '../../../src/context/engines/sliding.ts';
import { createPlace } from '../../fixtures/place.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

/**
 * A bot whose tool opens a child. It kills itself without warning at one moment of the child. Whatever happens to the
 * child is written to a file, which survives.
 */
const [directory = '', killAt = ''] = process.argv.slice(2);
const note = (line: string): void => {
  appendFileSync(join(directory, 'notes.txt'), `${line}\n`);
  if (line === killAt) process.kill(process.pid, 'SIGKILL');
};
const place = await createPlace();
const { assemble } = createSlidingEngine({ services: place.services });
const noting = defineEngine({
  id: 'noting',
  assemble,
  async prepareChild() {
    note('prepared');
    return null;
  },
  endChild: async ({ reason }) => note(reason),
});
const research = defineTool({
  name: 'research',
  description: 'Finds something out',
  input: z.object({}),
  run: async (_, { spawn }) => (await spawn({ task: 'count the boats' })).text,
});
const hasResult = ({ messages }: ModelRequest) => messages.at(-1)?.role === 'tool';
const model = scriptedModel(
  (request) => {
    if (request.purpose !== 'child') {
      return hasResult(request) ? { text: 'Seven.' } : { calls: [{ tool: 'research', input: {} }] };
    }
    note('asked');
    return { text: 'seven' };
  },
  { id: 'test:chat' },
);
const storage = await createSqliteStorage({ directory });
const bot = createBot({
  storage,
  queue: createLocalQueue({ log: silentLog }),
  models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
  agents: [{ id: 'main', model: model.id, engine: 'noting', tools: ['research'], persona: 'You are a bot.' }],
  engines: { noting },
  tools: [research],
  log: silentLog,
});
await bot.start();
await bot.sink.message({
  conversation: makeKey({ platform: 'test', workspace: 'here', channel: 'talk' }),
  author: { id: 'u-ada', name: 'Ada', kind: 'person' },
  externalId: 'm1',
  text: 'How many boats are there?',
  attachments: [],
  replyTo: null,
  mentions: [],
  addressesBot: true,
  audience: 'dm',
  at: Date.now(),
});
await bot.settled();
const page = { order: 'key', scope: { within: null }, withChildren: true, limit: 99, after: null } as const;
const conversations = await storage.store.conversations.list(page);
const entries = await storage.store.transcript.read(conversations[0]?.id ?? 0, { fromSeq: 1, toSeq: 99, limit: 99 });
const left = { conversations: conversations.length, roles: entries.map(({ role }) => role) };
// The child of this process is deleted after the reply.
const endsAt = performance.now() + 10_000;
let children = 1;
while (children > 0 && performance.now() < endsAt) children = (await storage.state.list('child')).length;
await bot.stop();
await place[Symbol.asyncDispose]();
process.stdout.write(JSON.stringify({ ...left, children }));
