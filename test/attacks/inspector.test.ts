import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInspector } from '../../adapters/inspector/web/index.ts';
import { conversationPath } from '../../src/adapter-kit.ts';
import { generalDefaults } from '../../src/config/defaults.ts';
import { keepFailure } from '../../src/conversation/last-failure.ts';
import { createInspection } from '../../src/inspection/inspection.ts';
import { silentLog } from '../../src/util/silent-log.ts';
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

const inspectionOf = () => createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });

/** The address of some memory, whose page has a form. */
async function pageOfMemory(): Promise<string> {
  const memories = await inspected.page(`/memories?place=${encodeURIComponent(inspected.world.key)}`);
  return /\/c\/[^/"]+\/m\/[^/"]+/u.exec(memories)?.[0] ?? '';
}

describe('a viewer', () => {
  it('does not read what a failure quotes', async () => {
    const { bot, key } = inspected.world;
    const conversation = await inspected.world.conversation();
    const failure = {
      readUpto: conversation.answeredUpto,
      at: Date.now(),
      message: 'The hook stumbled over "lantern"',
    };
    await keepFailure(bot.services.state, conversation, failure);
    const seenBy = async (role: 'viewer' | 'moderator') =>
      JSON.stringify(await inspectionOf().conversations.one({ viewer: { name: 'x', role }, key, atSeq: null }));
    expect(await seenBy('moderator')).toContain('stumbled over');
    expect(await seenBy('viewer')).not.toContain('stumbled over');
    expect(await inspected.page(conversationPath(key))).toContain('stumbled over');
  });
});

describe('the page of changes', () => {
  it.each([
    ['a long key', `${conversationPath('é€'.repeat(60))}/s/x`],
    ['an id that looks like a page', `${conversationPath('a')}/m/${encodeURIComponent('/c/%')}`],
  ])('survives a change of something that does not exist: %s', async (_, path) => {
    const response = await inspected.send(path, { action: 'pin', wish: '' }, await pageOfMemory());
    expect(response.status).toBe(404);
    expect(await inspected.page('/audit')).toContain('refused');
  });
});

const PROXIED = {
  ...generalDefaults.inspector,
  ...{ listen: '127.0.0.1:0', identity_header: 'x-user', proxies: ['127.0.0.1'], operators: ['ada'] },
};

describe('a page that fails', () => {
  it('tells its cause to operators only', async () => {
    const { clock } = inspected.world;
    const audit = async () => JSON.parse('the key is below the mat');
    const failing = await startInspector({
      settings: PROXIED,
      open: async () => ({ ...inspectionOf(), audit }),
      ...{ clock, log: silentLog },
    });
    const seenBy = async (name: string) => {
      const headers = { 'x-user': name };
      const response = await fetch(new URL('/audit', failing.url), { headers });
      return { status: response.status, text: await response.text() };
    };
    const [operator, viewer] = [await seenBy('ada'), await seenBy('eve')];
    await failing.close();
    expect([operator.status, viewer.status]).toEqual([500, 500]);
    expect(operator.text).toContain('the key');
    expect(viewer.text).not.toContain('the key');
    expect(viewer.text).toContain('The log says why');
  });
});
