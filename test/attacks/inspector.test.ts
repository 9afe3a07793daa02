import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccess } from '../../adapters/inspector/web/access.ts';
import { startInspector } from '../../adapters/inspector/web/index.ts';
import { conversationPath, type MemoryId } from '../../src/adapter-kit.ts';
import { generalDefaults } from '../../src/config/defaults.ts';
import { keepFailure } from '../../src/conversation/last-failure.ts';
import { createInspection } from '../../src/inspection/inspection.ts';
import { silentLog } from '../../src/util/silent-log.ts';
import { faithful, scriptedModel } from '../core/compaction.world.ts';
import { memoryOf } from '../core/memory.world.ts';
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

describe('a page of another site', () => {
  it.each(['/', '/login', '/assets/style.css', '/live/health'])(
    'gets nothing of %s under its own name',
    async (path) => {
      const { port } = new URL(inspected.base);
      const statusFor = (host: string) =>
        new Promise((resolve, reject) => {
          request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (response) =>
            resolve(response.resume().statusCode),
          )
            .on('error', reject)
            .end();
        });
      for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, 'localhost.:80'])
        expect([host, await statusFor(host)]).toEqual([host, 421]);
      expect(await statusFor(`127.0.0.1:${port}`)).not.toBe(421);
    },
  );
});

describe('a form', () => {
  const tokenIn = (page: string) => /name="token" value="([^"]+)"/u.exec(page)?.[1] ?? '';

  it('needs the origin of its page beside its token', async () => {
    const path = await pageOfMemory();
    const token = tokenIn(await inspected.page(path));
    const { port } = new URL(inspected.base);
    const post = async (headers: Record<string, string>) => {
      const body = new URLSearchParams({ token, action: 'pin' });
      return (await inspected.fetch(path, { method: 'POST', body, headers })).status;
    };
    const others = ['null', 'https://evil.example', 'http://127.0.0.1:1', `http://localhost:${port}`, 'file://'];
    for (const origin of others) expect([origin, await post({ origin })]).toEqual([origin, 403]);
    expect(await post({})).toBe(403);
    expect(await post({ origin: inspected.base })).toBe(303);
  });

  it('takes no token of another session', async () => {
    const path = await pageOfMemory();
    const opened = await fetch(inspected.inspector.url);
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    const token = tokenIn(await (await inspected.fetch(path, { headers: { cookie } })).text());
    const post = async (headers: Record<string, string>) => {
      const body = new URLSearchParams({ token, action: 'pin' });
      return (await inspected.fetch(path, { method: 'POST', body, headers })).status;
    };
    expect(await post({ origin: inspected.base })).toBe(403);
    expect(await post({ origin: inspected.base, cookie })).toBe(303);
  });
});

describe('a moderator', () => {
  it('changes no memory that is for everywhere', async () => {
    const { key, bot } = inspected.world;
    const id = '01k0aaaaaaaaaaaaaaaaaaaaaa' as MemoryId;
    const memory = memoryOf('The house closes at ten.', { id, scope: 'global', place: '', workspace: '' });
    const writes = [{ kind: 'insert', memory, sources: [] }] as const;
    await bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: Date.now() });
    const query = { viewer: { name: 'bob', role: 'moderator' }, key, id } as const;
    const { memories } = inspectionOf();
    expect(await memories.one(query)).toMatchObject({ mayChange: false });
    for (const action of ['edit', 'pin', 'unpin', 'reject', 'demote'])
      await expect(memories.change({ ...query, action, text: 'It closes at two.' }), action).rejects.toThrow(/is for/u);
    await expect(memories.previewForget(query)).rejects.toThrow(/is for/u);
    expect(await memories.one({ ...query, viewer: { name: 'ada', role: 'operator' } })).toMatchObject({
      ...{ mayChange: true, memory: { text: memory.text, state: memory.state, pinned: memory.pinned } },
    });
  });
});

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

describe('a name of a proxy', () => {
  it('that begins like an operator gives no rights', () => {
    const operator = 'a'.repeat(100);
    const settings = { ...PROXIED, operators: [operator] };
    const access = createAccess({ settings, clock: inspected.world.clock }, 'key');
    const roleOf = (identity: string) => {
      const request = { host: '127.0.0.1', origin: null, cookie: null, identity, peer: '127.0.0.1' };
      return access.visit(request)?.viewer.role;
    };
    expect([operator, `${operator}b`, 'a'.repeat(321)].map(roleOf)).toEqual(['operator', 'viewer', undefined]);
  });
});
