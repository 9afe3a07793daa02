import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ModelError } from '../../../src/adapter-kit.ts';
import { callBudgetOf, countCalls } from '../../../src/compaction/job/call-budget.ts';
import { createInspection } from '../../../src/inspection/inspection.ts';
import type { ViewerRole } from '../../../src/inspection/viewer.ts';
import { type ScriptedModel, scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
let model: ScriptedModel;
let path: string;
let seq: number;
let choice: string;

beforeEach(async () => {
  model = scriptedModel(() => ({ text: 'I see.' }), { id: 'test:chat' });
  const prices = { own: () => ({ 'test:chat': { input: 2, output: 10 } }) };
  inspected = await createInspectorWorld({ models: [model], prices, agent: { model: 'test:chat' } });
  const { world } = inspected;
  await world.say('Where is the <b>lantern</b>?');
  await world.settled();
  const entries = await world.entries();
  seq = entries.findLast(({ role }) => role === 'assistant')?.seq ?? 0;
  path = `/c/${encodeURIComponent(world.key)}/r/${seq}`;
  choice = `${world.bot.services.agents.list()[0]?.id} test:chat`;
  model.requests.length = 0;
});
afterEach(async () => {
  await inspected[Symbol.asyncDispose]();
});

function inspectionOf() {
  return createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
}

async function again(form: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await inspected.send(path, { choice, ...form });
  return await response.text();
}

describe('running a reply again', () => {
  it('shows both answers and stores only the cost', async () => {
    const { world } = inspected;
    const before = { entries: await world.entries(), posts: world.channel.calls.length };
    model.script = () => ({ text: 'Behind the <i>door</i>.', inputTokens: 1234, outputTokens: 56 });
    const text = await again();
    for (const word of ['I see.', 'Behind the &lt;i&gt;door&lt;/i&gt;.', '1,234 tokens in, 56 out'])
      expect(text).toContain(word);
    expect(text).not.toContain('<i>door');
    expect(model.requests).toHaveLength(1);
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('lantern');
    expect({ entries: await world.entries(), posts: world.channel.calls.length }).toEqual(before);
    const { store } = world.bot.services;
    const rows = await store.journal.usage((await world.conversation()).id);
    expect(rows.find(({ purpose }) => purpose === 'rerun')).toMatchObject({
      calls: 1,
      inputTokens: 1234,
      outputTokens: 56,
    });
    expect(await inspected.page('/costs')).toContain('rerun');
    expect((await world.command('status')).fields.find(({ name }) => name === 'Cost')?.value).toContain('1 of at most');
    expect((await inspectionOf().audit())[0]).toMatchObject({ action: 'reply rerun', outcome: 'done' });
  });

  it("counts failed calls, and ends with the hour's budget", async () => {
    const { world } = inspected;
    model.script = () => {
      throw new ModelError({ model: 'test:chat', reason: 'fatal', detail: 'no' });
    };
    await again();
    const { services } = world.bot;
    const conversation = await world.conversation();
    const { calls, limit } = await callBudgetOf(services, conversation);
    expect(calls).toBe(1);
    await countCalls(services, conversation, limit - calls);
    expect(await again()).toContain('per hour for summaries');
    expect(model.requests).toHaveLength(1);
  });

  it('sends the edited system prompt, or the original one', async () => {
    const shown = /<textarea id="system"[^>]*>([^<]*)</u.exec(await inspected.page(path))?.[1] ?? '';
    expect(shown).toContain('You are a bot.');
    await again({ system: 'You are a lamp.\r\nSpeak briefly.' });
    expect(model.requests[0]?.system.map(({ text }) => text)).toEqual(['You are a lamp.\nSpeak briefly.']);
    expect(await again({ system: 'You are a lamp.' })).toContain('edited prompt');
    model.requests.length = 0;
    expect(await again()).not.toContain('edited prompt');
    expect(model.requests[0]?.system.map(({ text }) => text).join()).toContain('You are a bot.');
  });

  it('shows tool calls and runs none', async () => {
    model.script = () => ({ text: '', calls: [{ tool: 'memory_save', input: { text: '<script>' } }] });
    const text = await again();
    expect(text).toContain('It would call 1 tool');
    expect(text).toContain('not run');
    expect(text).not.toContain('<script>"');
    expect(model.requests).toHaveLength(1);
  });

  it('shows why the model failed', async () => {
    model.script = () => {
      throw new Error('The wire is cut.');
    };
    expect((await inspected.send(path, { choice })).status).toBe(500);
    model.script = () => ({ text: 'half', cut: true });
    expect(await again()).toContain('the answer broke off');
  });

  it('refuses other models, prompts and forms', async () => {
    for (const wrong of ['', 'x', 'nobody test:chat', 'test:chat', `${choice} x`.repeat(2), 'a b'.repeat(9000)]) {
      const response = await inspected.send(path, { choice: wrong });
      expect({ wrong: wrong.slice(0, 20), status: response.status }).toEqual({
        wrong: wrong.slice(0, 20),
        status: 400,
      });
    }
    expect((await inspected.send(path, { choice, system: 'x'.repeat(70_000) })).status).toBe(400);
    const plain = await inspected.fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ choice }),
      headers: { origin: inspected.base },
    });
    expect(plain.status).toBe(403);
    for (const at of ['0', '99999', 'x']) {
      const response = await inspected.send(path.replace(/\d+$/u, at), { choice }, path);
      expect({ at, status: response.status }).toEqual({ at, status: 404 });
    }
    expect(model.requests).toEqual([]);
  });

  it('is for operators', async () => {
    const [agentId = '', modelId = ''] = choice.split(' ');
    const signal = new AbortController().signal;
    const run = (role: ViewerRole) =>
      inspectionOf().conversations.rerun({
        viewer: { name: 'x', role },
        key: inspected.world.key,
        seq,
        agentId,
        modelId,
        system: null,
        signal,
      });
    for (const role of ['viewer', 'moderator'] as const) await expect(run(role)).rejects.toThrow('for operators');
    const view = await inspectionOf().conversations.reply({
      viewer: { name: 'x', role: 'moderator' },
      key: inspected.world.key,
      seq,
    });
    expect(view.choices).toBeNull();
    expect((await run('operator')).result).toMatchObject({ text: 'I see.' });
  });

  it('ends at its time limit and when the viewer leaves', async () => {
    const [agentId = '', modelId = ''] = choice.split(' ');
    const gone = new AbortController();
    model.script = () => new Promise(() => undefined);
    const running = inspectionOf().conversations.rerun({
      viewer: { name: 'x', role: 'operator' },
      key: inspected.world.key,
      seq,
      agentId,
      modelId,
      system: null,
      signal: gone.signal,
    });
    gone.abort();
    expect((await running).result).toMatchObject({ failure: expect.stringContaining('aborted') });
  });
});

describe('the request as the body of a provider', () => {
  it('has its system prompt, messages and limit', async () => {
    const openai = z.object({
      model: z.literal('chat'),
      max_completion_tokens: z.number(),
      messages: z.array(z.looseObject({ role: z.string() })),
    });
    const body = openai.parse(await (await inspected.fetch(`${path}/request.json?as=openai`)).json());
    expect(body.messages.map(({ role }) => role)).toEqual(expect.arrayContaining(['system', 'user']));
    const anthropic = z.object({
      max_tokens: z.literal(300),
      system: z.array(z.object({ text: z.string() })),
      messages: z.array(z.unknown()),
    });
    const other = anthropic.parse(await (await inspected.fetch(`${path}/request.json?as=anthropic`)).json());
    expect(JSON.stringify(other.messages)).toContain('lantern');
    expect(await (await inspected.fetch(`${path}/request.json?as=%3Cx`)).json()).toHaveProperty('settings');
  });
});
