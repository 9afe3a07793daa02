import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInspection } from '../../../src/inspection/inspection.ts';
import type { ViewerRole } from '../../../src/inspection/viewer.ts';
import { faithful, type ScriptedModel, scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
let model: ScriptedModel;
let path: string;
let id: string;

const CHATTER = 'It rained and the river behind the garden rose to the second step of the stairs. '.repeat(4);

beforeEach(async () => {
  model = scriptedModel(async (request, options) =>
    request.purpose === 'reply' ? { text: 'I see.', inputTokens: 0 } : await faithful(request, options),
  );
  inspected = await createInspectorWorld({ models: [model] });
  const { world } = inspected;
  for (let index = 0; index < 14; index += 1) {
    await world.say(`FACT the door number ${index} is 47${index}. ${CHATTER}`);
    await world.settled();
  }
  await world.bot.commandServices.compact(await world.conversation(), null);
  const live = await world.bot.services.store.summaries.live((await world.conversation()).id);
  id = live.find(({ level }) => level === 0)?.id ?? '';
  path = `/c/${encodeURIComponent(world.key)}/s/${id}`;
});
afterEach(async () => {
  await inspected[Symbol.asyncDispose]();
});

function inspectionOf() {
  return createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
}

function ask(role: ViewerRole): Promise<void> {
  return inspectionOf().conversations.rewrite({ viewer: { name: 'x', role }, key: inspected.world.key, id, wish: '' });
}

async function worked(): Promise<void> {
  await inspected.world.bot.services.queue.idle();
  await inspected.world.settled();
}

describe('rewriting a summary from its page', () => {
  it('shows its progress, then the new text, and is recorded', async () => {
    const old = await inspected.world.bot.services.store.summaries.find(id as never);
    expect(await inspected.page(path)).toContain('What should it emphasise?');
    const written = Promise.withResolvers<void>();
    model.script = async () => {
      await written.promise;
      return { calls: [{ tool: 'summary_save', input: { summary: 'The doors and their numbers, in other words.' } }] };
    };
    expect((await inspected.send(path, { wish: 'the <b>numbers</b>' })).status).toBe(303);
    expect(await inspected.page(path)).toContain('data-waiting');
    await expect(ask('operator')).rejects.toThrow('still to be rewritten');
    written.resolve();
    await worked();
    const done = await inspected.page(path);
    expect(done).toContain('Another text replaced this one');
    expect(done).toContain(old?.text.slice(0, 20));
    const [, next = ''] = /href="([^"]+)">Read it/u.exec(done) ?? [];
    expect(await inspected.page(next)).toContain('in other words');
    const rows = await inspectionOf().audit();
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`).toSorted()).toEqual([
      'summary rewrite done',
      'summary rewrite refused',
    ]);
    expect(await inspected.page('/audit')).toContain(`href="${path}"`);
  });

  it('leaves the past of the window as it was', async () => {
    const { world } = inspected;
    for (let index = 0; index < 4; index += 1) await world.say(`It is day ${index}.`);
    await world.settled();
    const past = async () => {
      const viewer = { name: 'x', role: 'operator' } as const;
      const { moments } = await inspectionOf().conversations.one({ viewer, key: world.key, atSeq: null });
      return moments.map(({ seq, layerIds, tailFrom }) => [seq, layerIds.length, tailFrom]);
    };
    const before = await past();
    expect(before.at(-1)?.[1]).toBe(1);
    model.script = () => ({ calls: [{ tool: 'summary_save', input: { summary: 'The doors, in other words.' } }] });
    await inspected.send(path, { wish: '' });
    await worked();
    expect(await inspected.page(path)).toContain('Another text replaced this one');
    expect(await past()).toEqual(before);
  });

  it('shows why it failed', async () => {
    model.script = () => ({ text: '' });
    await inspected.send(path, { wish: '' });
    await worked();
    const text = await inspected.page(path);
    expect(text).toContain('The last attempt failed');
    expect(text).toContain('name="wish"');
  });

  it('needs a token, an origin and a role', async () => {
    const post = (body: Record<string, string>, headers: Record<string, string>) =>
      inspected.fetch(path, { method: 'POST', body: new URLSearchParams(body), headers });
    expect((await post({ wish: '' }, { origin: inspected.base })).status).toBe(403);
    expect((await post({ wish: '', token: 'x' }, { origin: 'https://evil.example' })).status).toBe(403);
    await expect(ask('viewer')).rejects.toThrow('moderators and operators');
    await ask('moderator');
    expect(await inspected.page(path)).toContain('Asked for');
  });

  it('answers wrong addresses and wishes', async () => {
    for (const wrong of ['none', '%00', '../x', `${id}x`]) {
      const at = path.replace(id, encodeURIComponent(wrong));
      expect({ wrong, status: (await inspected.send(at, { wish: 'x' }, path)).status }).toEqual({ wrong, status: 404 });
    }
    const long = await inspected.send(path, { wish: '\u0000"}}{{x}}\n'.repeat(2000) });
    expect(long.status).toBe(303);
    await worked();
    expect(await inspected.page(path)).toContain('Another text replaced this one');
  });

  it('offers a condensed summary its own summaries', async () => {
    for (let index = 20; index < 28; index += 1) await inspected.world.say(`FACT the door ${index} is 8. ${CHATTER}`);
    await inspected.world.settled();
    await inspected.world.bot.commandServices.compact(await inspected.world.conversation(), null);
    const { store, clock, random } = inspected.world.bot.services;
    const { id: conversationId } = await inspected.world.conversation();
    const live = (await store.summaries.live(conversationId)).filter(({ level }) => level === 0).slice(0, 2);
    const [first, last] = [live[0], live.at(-1)];
    if (first === undefined || last === undefined || first === last) throw new Error('too few summaries');
    const now = clock.now();
    const won = await store.conversations.claim({ work: 'maintenance', conversationId, now, leaseMs: 1000 });
    if (won === null) throw new Error('no claim');
    const summary = { ...first, id: random.id() as typeof first.id, level: 1, toSeq: last.toSeq };
    const childIds = live.map((part) => part.id);
    const { epoch } = won.claim;
    await store.summaries.commitCondensation({ conversationId, epoch, summary, childIds, now });
    const release = { work: 'maintenance', kind: 'done', seenNextSeq: -1, maintainAt: null } as const;
    await store.conversations.release(won.claim, release);
    const own = path.replace(id, summary.id);
    expect(await inspected.page(own)).toContain('reads its 2 summaries once more');
    model.script = () => ({ text: 'The doors and their numbers, in other words.' });
    expect((await inspected.send(own, { wish: 'the numbers' })).status).toBe(303);
    await worked();
    const done = await inspected.page(own);
    expect(done).toContain('Another text replaced this one');
    for (const part of childIds) expect(done).toContain(`/s/${part}`);
    const shown = await inspected.world.command('summaries show', { id: summary.id });
    expect(shown.fields.map(({ name }) => name)).toContain('Rewritten as');
    const next = shown.fields.find(({ name }) => name === 'Rewritten as')?.value ?? '';
    expect(await inspected.page(path.replace(id, next))).toContain('in other words');
  });

  it('works from the chat, for moderators', async () => {
    const { world } = inspected;
    const reply = await world.command('summaries rewrite', { id, wish: 'the numbers' });
    expect(reply.text).toContain('will be rewritten');
    await worked();
    expect(await inspected.page(path)).toContain('Another text replaced this one');
    const again = await world.command('summaries rewrite', { id });
    expect(again.text).toContain('another one has replaced it');
  });
});
