import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInspector } from '../../adapters/inspector/web/index.ts';
import { createAccess } from '../../adapters/inspector/web/serving/access.ts';
import { conversationPath, type MemoryId, placeOf, workspaceOf } from '../../src/adapter-kit.ts';
import { generalDefaults } from '../../src/config/defaults.ts';
import { keepFailure } from '../../src/conversation/turn/last-failure.ts';
import { createInspection } from '../../src/inspection/inspection.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { faithful, scriptedModel, testClock } from '../core/compaction/compaction.world.ts';
import { memoryOf } from '../core/memory/memory.world.ts';
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

const REQUEST = { host: '127.0.0.1:7080', origin: null, cookie: null, identity: null, peer: '127.0.0.1' };

/** The address of some memory, whose page has a form. */
async function pageOfMemory(): Promise<string> {
  const memories = await inspected.page(`/memories?place=${encodeURIComponent(inspected.world.key)}`);
  return /\/c\/[^/"]+\/m\/[^/"]+/u.exec(memories)?.[0] ?? '';
}

/** Sends headers that `fetch` sets itself. */
function sendRaw(path: string, headers: Readonly<Record<string, string>>): Promise<{ status: number; text: string }> {
  const { port } = new URL(inspected.base);
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, agent: false }, async (response) => {
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() });
    })
      .on('error', reject)
      .end();
  });
}

describe('a page of another site', () => {
  it.each(['/', '/login', '/assets/style.css', '/nothing'])('gets nothing of %s under its own name', async (path) => {
    const { port } = new URL(inspected.base);
    const statusFor = async (host: string) => (await sendRaw(path, { host })).status;
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, 'localhost.:80'])
      expect([host, await statusFor(host)]).toEqual([host, 421]);
    expect(await statusFor(`127.0.0.1:${port}`)).not.toBe(421);
  });

  it('leads on by a page of this one', async () => {
    const { host } = new URL(inspected.base);
    const { status, text } = await sendRaw('/costs?days=7', { host, 'sec-fetch-site': 'cross-site' });
    expect([status, text]).toEqual([200, expect.stringContaining('content="0; url=/costs?days=7"')]);
    expect((await sendRaw('/costs', { host, 'sec-fetch-site': 'same-origin' })).status).toBe(302);
  });

  it('signs nobody in', async () => {
    const settings = { password: 'tide' };
    await using world = await createInspectorWorld({ models: [scriptedModel(faithful)], settings });
    const signIn = async (headers: Record<string, string>) => {
      const body = new URLSearchParams({ password: 'tide' });
      const response = await fetch(`${world.base}/login`, { method: 'POST', body, headers });
      return [response.status, response.headers.get('set-cookie') === null];
    };
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, {}] as Record<string, string>[])
      expect(await signIn(headers)).toEqual([403, true]);
    expect(await signIn({ origin: world.base })).toEqual([200, false]);
  });
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

  it('is limited in size', async () => {
    const path = await pageOfMemory();
    const response = await inspected.send(path, { action: 'edit', text: 'x'.repeat(300_000) });
    expect(response.status).toBe(413);
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

describe('a session', () => {
  it('ends after half a day, or for newer ones', async () => {
    const time = testClock();
    const access = createAccess({ settings: generalDefaults.inspector, clock: time }, 'key');
    const enter = () => access.enter({ key: 'key' }, '127.0.0.1') ?? '';
    const isOpen = (id: string) =>
      access.visit({ ...REQUEST, cookie: `strata_inspector_7080=${id}` })?.viewer.role === 'operator';
    const first = enter();
    expect([isOpen(first), isOpen(''), isOpen('x')]).toEqual([true, false, false]);
    for (let count = 0; count < 200; count += 1) enter();
    const last = enter();
    expect([isOpen(first), isOpen(last)]).toEqual([false, true]);
    await time.advance(12 * 60 * 60 * 1000);
    expect(isOpen(last)).toBe(false);
  });
});

describe('a moderator', () => {
  it('reads no memory that is narrower than its place', async () => {
    const { key, bot } = inspected.world;
    const id = '01k0bbbbbbbbbbbbbbbbbbbbbb' as MemoryId;
    const where = { place: placeOf(key), workspace: workspaceOf(key), audience: 'dm' } as const;
    const memory = memoryOf('The zither is hidden in the attic.', { id, ...where });
    const writes = [{ kind: 'insert', memory, sources: [] }] as const;
    await bot.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: Date.now() });
    const viewer = { name: 'bob', role: 'moderator' } as const;
    const { memories, find } = inspectionOf();
    await expect(memories.one({ viewer, key, id })).rejects.toThrow(/cannot be read|captured/u);
    await expect(memories.previewForget({ viewer, key, id })).rejects.toThrow(/cannot be read|captured/u);
    for (const text of ['', 'zither']) {
      const filter = { text, kind: null, state: null, audience: null, personId: null, maxAgeDays: null };
      for (const place of [key, null])
        expect(JSON.stringify(await memories.list({ viewer, key: place, filter }))).not.toContain('zither is');
    }
    const found = await find({ viewer, text: 'zither', start: { afterId: null, named: 0 } });
    expect(JSON.stringify(found)).not.toContain('zither is');
  });

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
  it('reads no memory beside the messages that it came from', async () => {
    const { bot, key } = inspected.world;
    const { id: conversationId } = await inspected.world.conversation();
    const id = '01k0cccccccccccccccccccccc' as MemoryId;
    const where = { place: placeOf(key), workspace: workspaceOf(key), audience: 'private' } as const;
    const memory = memoryOf('The oboe is broken.', { id, ...where });
    const writes = [{ kind: 'insert', memory, sources: [1] }] as const;
    await bot.services.store.memories.save({ conversationId, writes, actor: 'test', now: Date.now() });
    const seenBy = async (role: 'viewer' | 'moderator') =>
      (await inspectionOf().conversations.one({ viewer: { name: 'x', role }, key, atSeq: null })).memories;
    expect(await seenBy('moderator')).toMatchObject([{ id, text: 'The oboe is broken.' }]);
    expect(await seenBy('viewer')).toEqual([]);
  });

  it('does not read what the failure of a job quotes', async () => {
    const compaction = () => Promise.reject(new Error('The hook stumbled over "lantern"'));
    await using own = await createInspectorWorld({ models: [scriptedModel(faithful)], hooks: [{ compaction }] });
    for (let count = 0; count < 12; count += 1) await own.world.say(`The lantern hangs in hall ${count}. `.repeat(40));
    await own.world.settled();
    await own.world.command('compact');
    const { conversations } = createInspection({ services: own.world.bot.commandServices, configRows: () => [] });
    const { key } = own.world;
    const seenBy = async (role: 'viewer' | 'moderator') => {
      const viewer = { name: 'x', role };
      const one = await conversations.one({ viewer, key, atSeq: null });
      expect(one.row.failures).toBeGreaterThan(0);
      return [one.row, one.runs, await conversations.list({ viewer, afterId: null })].map((seen) =>
        JSON.stringify(seen),
      );
    };
    for (const seen of await seenBy('moderator')) expect(seen).toContain('stumbled over');
    for (const seen of await seenBy('viewer')) expect(seen).not.toContain('stumbled over');
    expect(await own.page(conversationPath(key))).toContain('stumbled over');
  });

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
  ])('survives a change of what does not exist: %s', async (_, path) => {
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
      return access.visit({ ...REQUEST, identity })?.viewer.role;
    };
    expect([operator, `${operator}b`, 'a'.repeat(321)].map(roleOf)).toEqual(['operator', 'viewer', undefined]);
  });
});
