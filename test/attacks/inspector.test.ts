import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conversationPath } from '../../src/adapter-kit.ts';
import { faithful, scriptedModel } from '../core/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../support/inspector-world.ts';

let inspected: InspectorWorld;

beforeAll(async () => {
  inspected = await createInspectorWorld({ models: [scriptedModel(faithful)] });
  await inspected.world.say('The lantern hangs in the hall.');
  await inspected.world.settled();
  await inspected.world.command('memory remember', { text: 'The lantern hangs in the hall.' });
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

describe('the page of changes', () => {
  it.each([
    ['a long key', `${conversationPath('é€'.repeat(60))}/s/x`],
    ['an id that looks like a page', `${conversationPath('a')}/m/${encodeURIComponent('/c/%')}`],
  ])('survives a change of something that does not exist: %s', async (_, path) => {
    const memories = await inspected.page(`/memories?place=${encodeURIComponent(inspected.world.key)}`);
    const [memory = ''] = /\/c\/[^/"]+\/m\/[^/"]+/u.exec(memories) ?? [];
    const response = await inspected.send(path, { action: 'pin', wish: '' }, memory);
    expect(response.status).toBe(404);
    expect(await inspected.page('/audit')).toContain('refused');
  });
});
