import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Author, type ConversationKey, type MemoryId, makeKey, StrataError } from '../../../src/adapter-kit.ts';
import { createInspection } from '../../../src/inspection/inspection.ts';
import type { ViewerRole } from '../../../src/inspection/viewer.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { memoryOf } from '../../core/memory/memory.world.ts';
import { ADA, BOB } from '../../support/bot-world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
const LANTERN = 'The lantern hangs behind the door.';
const DIRECT = makeKey({ platform: 'test', workspace: 'here', channel: 'secret' });

beforeEach(async () => {
  inspected = await createInspectorWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  const { world } = inspected;
  await world.say('Hello.');
  await world.settled();
  await world.command('memory remember', { text: LANTERN });
});
afterEach(async () => {
  await inspected[Symbol.asyncDispose]();
});

async function pathOf(): Promise<string> {
  const text = await inspected.page('/memories');
  const path = /href="(\/c\/[^"]+\/m\/[^"]+)"/u.exec(text)?.[1];
  if (path === undefined) throw new Error(`No memory in ${text}`);
  return path;
}

function inspectionOf() {
  return createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
}

const ALL = { text: '', kind: null, state: null, audience: null, personId: null, maxAgeDays: null } as const;

describe('the list of memories', () => {
  it('filters by every column', async () => {
    const place = encodeURIComponent(inspected.world.key);
    expect(await inspected.page('/memories')).toContain('lantern');
    const [matching, other] = [
      ['q=lantern', 'state=active', 'audience=private', 'age=1', `place=${place}`],
      ['q=zebra', 'state=rejected', 'audience=dm', 'kind=todo', 'person=nobody'],
    ];
    for (const query of matching) expect(await inspected.page(`/memories?${query}`), query).toContain('lantern');
    for (const query of other) expect(await inspected.page(`/memories?${query}`), query).toContain('Nothing matches');
  });

  it('shows only what the role may read', async () => {
    const { world } = inspected;
    await world.say('A secret.', { key: DIRECT, audience: 'dm' });
    await world.settled();
    const list = (role: ViewerRole, key: string | null = null) =>
      inspectionOf().memories.list({ viewer: { name: 'x', role }, key, filter: ALL });
    expect(await list('viewer')).toMatchObject({ places: [], memories: [], people: [] });
    expect((await list('moderator')).places).toEqual([world.key]);
    expect((await list('moderator')).memories.map(({ text }) => text)).toEqual([LANTERN]);
    expect([...(await list('operator')).places].toSorted()).toEqual([DIRECT, world.key].toSorted());
    await expect(list('moderator', DIRECT)).rejects.toThrow('operators');
    await expect(list('viewer', world.key)).rejects.toThrow('moderators and operators');
  });
});

describe('the memories of all places', () => {
  const other = makeKey({ platform: 'test', workspace: 'here', channel: 'kitchen' });

  async function fillKitchen(): Promise<void> {
    const { world } = inspected;
    await world.say('Hello.', { key: other, author: BOB });
    await world.settled();
    await world.say('Hello.', { key: DIRECT, audience: 'dm' });
    await world.settled();
    await remember(other, { text: 'Bob likes <tea> better than coffee.', subject: BOB });
    await remember(other, { text: 'The stove is broken.', subject: null });
    await remember(DIRECT, { text: 'Ada hides the key below the mat.', subject: ADA });
  }

  /** What the first message of the conversation said. */
  async function remember(key: ConversationKey, { text, subject }: { text: string; subject: Author | null }) {
    const { store, random } = inspected.world.bot.services;
    const conversation = await store.conversations.find(key);
    if (conversation === null) throw new Error(`There is no ${key}.`);
    const about = { subjectId: subject?.id ?? null, subjectName: subject?.name ?? null };
    const from = { place: key, workspace: 'test:here', audience: conversation.audience, agentId: 'main' };
    const memory = memoryOf(text, { id: random.id() as MemoryId, ...about, ...from });
    const writes = [{ kind: 'insert', memory, sources: [1] }] as const;
    await store.memories.save({ conversationId: conversation.id, writes, actor: 'model', now: 1 });
  }

  it('are listed with their places and people', async () => {
    await fillKitchen();
    const text = await inspected.page('/memories');
    for (const word of ['lantern', '&lt;tea&gt;', 'below the mat', '3 places', other, 'Bob'])
      expect(text).toContain(word);
    expect(await inspected.page(`/memories?person=${BOB.id}`)).not.toContain('lantern');
    expect(await inspected.page('/memories?q=tea')).toContain('&lt;tea&gt;');
  });

  it('keep what a role may not read', async () => {
    await fillKitchen();
    const { memories } = await inspectionOf().memories.list({
      viewer: { name: 'x', role: 'moderator' },
      key: null,
      filter: ALL,
    });
    expect(memories.length).toBe(3);
    expect(JSON.stringify(memories)).not.toContain('mat');
  });

  it('can be drawn as a graph with a list', async () => {
    await fillKitchen();
    const text = await inspected.page('/memories?view=graph');
    for (const word of [
      'class="edge about"',
      'class="edge said"',
      'The stove is broken',
      'The same as a list',
      '&lt;tea&gt;',
      `person=${BOB.id}&amp;view=graph`,
    ]) {
      expect(text).toContain(word);
    }
    expect(text).not.toContain('<tea>');
    expect(await inspected.page('/memories?view=graph&q=zebra')).toContain('Nothing matches');
  });
});

describe('a memory', () => {
  it('can be edited, pinned and disabled', async () => {
    const path = await pathOf();
    await inspected.send(path, { action: 'edit', text: 'The lantern hangs in the hall.' });
    await inspected.send(path, { action: 'pin' });
    await inspected.send(path, { action: 'demote' });
    const text = await inspected.page(path);
    expect(text).toContain('<h1>The lantern hangs in the hall.</h1>');
    expect(text).toContain('candidate');
    expect(text).toContain('pinned');
    expect(text).toContain('inspector:operator');
    await inspected.send(path, { action: 'unpin' });
    expect(await inspected.page(path)).toContain('name="action" value="pin"');
  });

  it('is forgotten after the preview, and not otherwise', async () => {
    const path = await pathOf();
    const preview = await inspected.page(`${path}/forget`);
    expect(preview).toContain('This cannot be undone. It deletes 1 memory');
    const confirm = /name="confirm" value="([^"]+)"/u.exec(preview)?.[1] ?? '';
    expect((await inspected.send(`${path}/forget`, { confirm: 'wrong' })).status).toBe(400);
    expect(await inspected.page('/memories')).toContain('lantern');
    expect((await inspected.send(`${path}/forget`, { confirm })).status).toBe(303);
    expect(await inspected.page('/memories')).not.toContain('lantern');
    const rows = await inspectionOf().audit();
    expect(rows.map(({ action, outcome }) => [action, outcome]).toSorted()).toEqual([
      ['memory forget', 'done'],
      ['memory forget', 'refused'],
    ]);
  });

  it('changes with a token only, and every change is recorded', async () => {
    const path = await pathOf();
    const plain = await inspected.fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ action: 'pin' }),
      headers: { origin: inspected.base },
    });
    expect(plain.status).toBe(403);
    await inspected.send(path, { action: 'pin' });
    expect((await inspected.send(path, { action: 'restore' })).status).toBe(400);
    expect((await inspected.send(path, { action: 'explode' })).status).toBe(400);
    const rows = await inspectionOf().audit();
    expect(rows.map(({ action, outcome, who }) => [action, outcome, who]).toSorted()).toEqual([
      ['memory pin', 'done', 'operator'],
      ['memory restore', 'refused', 'operator'],
    ]);
    expect(await inspected.page('/audit')).toContain('memory pin');
  });

  it('is changed even if the list of changes is not', async () => {
    const locked = new StrataError('STORE_UNUSABLE', { path: 'here', reason: 'another program has locked it' });
    await using busy = await createInspectorWorld({
      models: [scriptedModel(() => ({ text: 'I see.' }))],
      storage: (storage) => ({
        ...storage,
        state: {
          ...storage.state,
          set: (namespace, key, value) =>
            namespace === 'inspector-audit' ? Promise.reject(locked) : storage.state.set(namespace, key, value),
        },
      }),
    });
    await busy.world.say('Hello.');
    await busy.world.settled();
    await busy.world.command('memory remember', { text: LANTERN });
    const path = /href="(\/c\/[^"]+\/m\/[^"]+)"/u.exec(await busy.page('/memories'))?.[1] ?? '';
    expect((await busy.send(path, { action: 'pin' })).status).toBe(303);
    expect(await busy.page(path)).toContain('value="unpin"');
  });

  it('stays as it is while another program locks the store', async () => {
    const locked = new StrataError('STORE_UNUSABLE', { path: 'here', reason: 'another program has locked it' });
    await using busy = await createInspectorWorld({
      models: [scriptedModel(() => ({ text: 'I see.' }))],
      storage: (storage) => ({
        ...storage,
        store: { ...storage.store, memories: { ...storage.store.memories, change: () => Promise.reject(locked) } },
      }),
    });
    await busy.world.say('Hello.');
    await busy.world.settled();
    await busy.world.command('memory remember', { text: LANTERN });
    const path = /href="(\/c\/[^"]+\/m\/[^"]+)"/u.exec(await busy.page('/memories'))?.[1] ?? '';
    const response = await busy.send(path, { action: 'pin' });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('another program has locked it');
    expect(await busy.page('/audit')).toContain('refused');
  });

  it('cannot be changed by a viewer', async () => {
    const [, key = '', id = ''] = /\/c\/(.+)\/m\/(.+)/u.exec(await pathOf()) ?? [];
    const query = { key: decodeURIComponent(key), id, action: 'pin', text: '' };
    const change = (role: ViewerRole) => inspectionOf().memories.change({ ...query, viewer: { name: 'x', role } });
    await expect(change('viewer')).rejects.toThrow('moderators and operators');
    expect((await change('moderator')).pinned).toBe(true);
  });
});

describe('the other pages', () => {
  it('show costs, the next request and settings', async () => {
    const costs = await inspected.page('/costs');
    for (const word of ['By purpose', 'By conversation', 'test:summariser', 'Prices:']) expect(costs).toContain(word);
    const context = await inspected.page(`/c/${encodeURIComponent(inspected.world.key)}/context`);
    for (const word of ['persona', 'tail', 'reserve', 'You are a bot.']) expect(context).toContain(word);
    const settings = await inspected.page('/settings');
    for (const word of ['Prompts', 'compactor', 'guidance', 'Effective limits', 'A summary is due at', '3,000'])
      expect(settings).toContain(word);
  });

  it('show no settings to moderators, and no people to viewers', async () => {
    const inspection = inspectionOf();
    const viewer = { name: 'x', role: 'moderator' } as const;
    const filter = { text: '', isChanged: false };
    await expect(inspection.settings({ viewer, filter })).rejects.toThrow('operators');
    const groups = async (role: ViewerRole) =>
      (await inspection.costs({ viewer: { name: 'x', role }, days: null })).groups.map(({ by }) => by);
    expect(await groups('viewer')).not.toContain('person');
    expect(await groups('moderator')).toContain('person');
  });
});
