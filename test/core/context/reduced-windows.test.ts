import { expect, it } from 'vitest';
import { createReducedWindows } from '../../../src/context/engines/reduced-windows.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

it('forgets the turns of conversations that never return', async () => {
  await using world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })] });
  await world.say('Hello?');
  await world.settled();
  const snapshot = await world.snapshot();
  const turnOf = (id: number) => ({
    snapshot: { ...snapshot, conversation: { ...snapshot.conversation, id } },
    readUpto: 1,
  });
  const windows = createReducedWindows();
  for (let id = 1; id <= 20_000; id += 1) windows.reduce(turnOf(id));
  expect(windows.shareOf(turnOf(20_000))).toBe(0.5);
  expect(windows.shareOf(turnOf(1))).toBe(1);
});
