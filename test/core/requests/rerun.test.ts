import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type ModelMessage } from '../../../src/adapter-kit.ts';
import type { AgentOverrides } from '../../../src/config/defaults.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { explainReply } from '../../../src/requests/explain.ts';
import { type RerunOptions, rerunChoices, rerunReply } from '../../../src/requests/rerun.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { filler, type ScriptedModel, scriptedModel } from '../compaction/compaction.world.ts';

const MODELS = ['test:chat', 'test:plain', 'test:small'] as const;
type Name = (typeof MODELS)[number];

const look = defineTool({
  name: 'look',
  description: 'Looks something up',
  input: z.object({ what: z.string() }),
  run: async ({ what }) => `${what}: it is vermilion`,
});
const map = {
  kind: 'attachment',
  name: 'map.png',
  mediaType: 'image/png',
  sizeBytes: 3,
  reference: 'https://example.com/map.png',
} as const;

/** A reply of a model that sees images and uses tools, in the place of which others may be asked. */
async function talk({
  agent,
  hooks = [],
}: {
  readonly agent?: AgentOverrides;
  readonly hooks?: readonly Hooks[];
} = {}) {
  const chat = scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Well.' } : { calls: [{ tool: 'look', input: { what: 'tent' } }] },
    { id: 'test:chat', window: 8000 },
  );
  const seeing: ScriptedModel = Object.assign(chat, { traits: { ...chat.traits, images: true } });
  const plain = scriptedModel(() => ({ text: 'Plain.' }), { id: 'test:plain', window: 8000, tools: false });
  const small = scriptedModel(() => ({ text: 'Small.' }), { id: 'test:small', window: 8000 });
  const world = await createBotWorld({
    models: [seeing, plain, small],
    tools: [look],
    hooks,
    agent: { model: [...MODELS], context_window: 'auto', tools: ['look'], ...agent },
  });
  await world.say(`Which colour has the tent? ${filler(200)}`, { attachments: [map] });
  await world.settled();
  const sent = seeing.requests.at(-1) ?? expect.fail('Nothing was sent.');
  for (const { requests } of [seeing, plain, small]) requests.length = 0;
  return { world, sent, models: { 'test:chat': seeing, 'test:plain': plain, 'test:small': small } };
}

async function again(world: BotWorld, modelId: Name, options: Partial<RerunOptions> = {}) {
  const { services } = world.bot;
  const conversation = await world.conversation();
  const explained = await explainReply(services, { conversation, seq: conversation.nextSeq - 1, reader: null });
  const choice = { agentId: services.agents.list()[0]?.id ?? '', modelId };
  const { signal } = new AbortController();
  const loadImages = async (messages: readonly ModelMessage[]) => messages;
  return await rerunReply(services, { conversation, explained, choice, system: null, loadImages, signal, ...options });
}

describe('a reply that is run again', () => {
  it('has the same request and the settings of now', async () => {
    const { world, sent, models } = await talk({ agent: { temperature: 0.3, context_window: 6000 } });
    await using _ = world;
    expect(await again(world, 'test:chat')).toMatchObject({ text: 'Well.', calls: [] });
    const { system, messages, tools, maxOutputTokens } = sent;
    expect(models['test:chat'].requests).toEqual([
      {
        ...{ system, messages, tools, maxOutputTokens },
        purpose: 'rerun',
        json: false,
        windowTokens: 6000,
        temperature: 0.3,
      },
    ]);
    expect(JSON.stringify(messages)).toContain('map.png');
    expect(tools).not.toEqual([]);
  });

  it('asks a model only for what it can do', async () => {
    const { world, models } = await talk();
    await using _ = world;
    await again(world, 'test:plain');
    const [request] = models['test:plain'].requests;
    expect(request?.tools).toEqual([]);
    expect(request?.messages.map(({ role }) => role)).not.toContain('tool');
    expect(JSON.stringify(request?.messages)).toContain('it is vermilion');
    expect(JSON.stringify(request?.messages)).not.toContain('https://example.com');
    expect(JSON.stringify(request?.messages)).toContain('an image is left out');
  });

  it('brings the images that only the channel can load', async () => {
    const { world, models } = await talk();
    await using _ = world;
    const loaded: ModelMessage = { role: 'user', content: [{ kind: 'text', text: 'loaded' }] };
    await again(world, 'test:chat', { loadImages: async () => [loaded] });
    expect(models['test:chat'].requests.map(({ messages }) => messages)).toEqual([[loaded]]);
  });

  it('is refused if it does not fit the window', async () => {
    const { world, models } = await talk();
    await using _ = world;
    const window = async (windowTokens: number) => {
      Object.assign(models['test:small'], { traits: { ...models['test:small'].traits, windowTokens } });
      return await again(world, 'test:small').then(
        ({ text }) => text,
        (error: Error) => error.message,
      );
    };
    const refused = await window(400);
    expect(refused).toContain('the window of test:small has 400');
    const needed = Number(/about (\d+) tokens/.exec(refused)?.[1]);
    expect(await window(needed - 1)).toContain(`has ${needed - 1}`);
    expect(models['test:small'].requests).toEqual([]);
    expect(await window(needed)).toBe('Small.');
    const [sent] = models['test:small'].requests;
    // The answer needs room, too.
    expect(needed).toBe((sent && estimateRequest(sent) + sent.maxOutputTokens) ?? 0);
  });

  it('passes the hooks once', async () => {
    let isOn = true;
    const block = { text: 'Answer in verse.', cacheBreak: false };
    const model: NonNullable<Hooks['model']> = ({ system }, next) =>
      isOn ? next({ system: [block, ...system] }) : next();
    const { world, models } = await talk({ hooks: [{ model }] });
    await using _ = world;
    const blocks = async () => {
      await again(world, 'test:chat');
      const system = models['test:chat'].requests.at(-1)?.system ?? [];
      return system.filter(({ text }) => text === block.text).length;
    };
    // It changed the stored request, and is not asked a second time.
    expect(await blocks()).toBe(1);
    isOn = false;
    await world.say('And the boat?');
    await world.settled();
    expect(await blocks()).toBe(0);
    isOn = true;
    expect(await blocks()).toBe(1);
  });

  it('has the time of a reply', async () => {
    const { world, models } = await talk({ agent: { timeout_seconds: 1 } });
    await using _ = world;
    const late = Promise.withResolvers<{ text: string }>();
    models['test:plain'].script = () => late.promise;
    await expect(again(world, 'test:plain')).rejects.toMatchObject({ data: { reason: 'timeout' } });
    late.resolve({ text: 'Too late.' });
    const { id } = await world.conversation();
    const usage = () => world.bot.services.store.journal.usage(id);
    const paid = { purpose: 'rerun', calls: 1, inputTokens: 100, outputTokens: 10 };
    await expect.poll(usage).toContainEqual(expect.objectContaining(paid));
  });

  it('can be asked of each model once, by its name', async () => {
    const { world } = await talk();
    await using _ = world;
    const { agents } = world.bot.services;
    const models = {
      open: world.bot.services.models.open,
      choose: async () => ({ modelId: 'test:plain', reason: '' }),
    };
    const [agent] = agents.list();
    if (agent === undefined) throw new Error('There is no agent.');
    const list = () => [
      { ...agent, model: ['auto', ...MODELS] },
      { ...agent, id: 'other', model: 'test:plain' },
    ];
    const choices = await rerunChoices({ agents: { ...agents, list }, models });
    expect(choices.map(({ agentId, modelId }) => `${agentId} ${modelId}`)).toEqual([
      ...['test:plain', 'test:chat', 'test:small'].map((modelId) => `${agent.id} ${modelId}`),
      'other test:plain',
    ]);
  });
});
