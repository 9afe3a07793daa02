import { describe, expect, it } from 'vitest';
import { type AgentOverrides, defaultAgent } from '../../../src/config/defaults.ts';
import { estimateBlock, estimateRequest } from '../../../src/context/measure/tokens.ts';
import { createProfiles, type ProfilesOptions } from '../../../src/context/profile/profile.ts';
import { announceCuts, createFixedPrefixBuilder, type FixedCut } from '../../../src/context/view/fixed-prefix.ts';
import { fitSections } from '../../../src/context/view/sections.ts';
import { StrataError } from '../../../src/domain/errors.ts';
import { parseKey, placeOf, workspaceOf } from '../../../src/domain/key.ts';
import { instructionsFor } from '../../../src/memory/recall/recall.ts';
import { createEvents } from '../../../src/ports/events.ts';
import type { ModelProvider, ToolSpec } from '../../../src/ports/model.ts';
import type { SystemSection } from '../../../src/ports/sections.ts';
import type { Services } from '../../../src/services.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { key, section } from '../../fixtures/context.ts';
import { createPlace, type Place } from '../../fixtures/place.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { memoryOf } from '../memory/memory.world.ts';

const place = { key, audience: 'dm' } as const;

/** Models that only report their traits. */
function provider(window: number | null, failures = 0): ModelProvider & { readonly opened: string[]; chosen: number } {
  let left = failures;
  const self = {
    opened: [] as string[],
    chosen: 0,
    async open(modelId: string) {
      if (left-- > 0) throw new StrataError('MODEL_KEY_MISSING', { model: modelId, variable: 'SOME_KEY' });
      self.opened.push(modelId);
      return { id: modelId, traits: { windowTokens: window, tools: true, images: false }, stream: silent };
    },
    async choose() {
      self.chosen += 1;
      return { modelId: 'offline:demo', reason: 'there is no key' };
    },
  };
  return self;
}

async function* silent(): AsyncGenerator<never> {}

interface Opened extends Place {
  readonly models: ReturnType<typeof provider>;
  readonly profiles: ReturnType<typeof createProfiles>;
}

async function open(
  overrides: AgentOverrides,
  options: {
    window?: number | null;
    failures?: number;
    instructions?: ProfilesOptions['instructions'];
    log?: Services['log'];
  } = {},
): Promise<Opened> {
  const agent = defaultAgent(overrides);
  const models = provider(options.window ?? null, options.failures);
  const agents: Services['agents'] = { agentFor: () => agent, agent: () => agent, list: () => [agent] };
  const opened = await createPlace({ models, agents, ...(options.log ? { log: options.log } : {}) });
  const specs = (names: readonly string[]): ToolSpec[] =>
    names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
  const { instructions } = options;
  const profiles = createProfiles({
    services: opened.services,
    tools: { specs },
    ...(instructions ? { instructions } : {}),
  });
  return { ...opened, models, profiles };
}

describe('a profile', () => {
  // Shows: S33
  it('takes the window from configuration, model or 128000', async () => {
    await using configured = await open({ context_window: 9000 }, { window: 4000 });
    expect((await configured.profiles.of(place)).windowTokens).toBe(9000);
    await using told = await open({}, { window: 4000 });
    expect((await told.profiles.of(place)).windowTokens).toBe(4000);
    await using unknown = await open({});
    expect((await unknown.profiles.of(place)).windowTokens).toBe(128_000);
  });

  it('warns once of a window larger than its model has', async () => {
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (...line: readonly unknown[]) => warned.push(line) };
    await using beyond = await open({ context_window: 9000 }, { window: 4000, log });
    for (const audience of ['dm', 'public', 'dm'] as const) await beyond.profiles.of({ key, audience });
    const cause = 'agent main: context_window is 9,000, but offline:demo has a window of 4,000 tokens';
    expect(warned).toEqual([['window.beyond', { cause, remedy: expect.stringMatching(/^Lower context_window/) }]]);
    for (const [context_window, window] of [
      [4000, 4000],
      [9000, null],
      ['auto', 4000],
    ] as const) {
      await using fine = await open({ context_window }, { window, log });
      await fine.profiles.of(place);
    }
    expect(warned).toHaveLength(1);
  });

  it('reserves at most an eighth of a small window', async () => {
    await using small = await open({ max_output_tokens: 4096 }, { window: 2000 });
    expect((await small.profiles.of(place)).reserveTokens).toBe(250);
    await using large = await open({ max_output_tokens: 4096 });
    expect((await large.profiles.of(place)).reserveTokens).toBe(4096);
  });

  it('shares the window as configured', async () => {
    const compaction = { fixed_share: 0.2, tail_share: 0.1, reserve_share: 0.25, background_target: 0.5 };
    await using own = await open({ max_output_tokens: 4096, context_window: 8000, compaction });
    expect(await own.profiles.of(place)).toMatchObject({
      fixedShare: 0.2,
      tailShare: 0.1,
      reserveTokens: 2000,
      targets: { background: 0.5, aggressive: null, emergency: null },
    });
    const fixedShare = async (window: number, of = {}) => {
      await using opened = await open({ context_window: window, compaction: of });
      return (await opened.profiles.of(place)).fixedShare;
    };
    expect(await fixedShare(15_999)).toBe(0.3);
    expect(await fixedShare(16_000)).toBe(0.4);
    expect(await fixedShare(8000, { background_threshold: 0.6 })).toBeCloseTo(0.275);
    expect(await fixedShare(8000, { stack_share: 0.7 })).toBe(0.15);
  });

  it('has the agent’s own thresholds', async () => {
    const compaction = {
      background_threshold: 0.7,
      aggressive_threshold: 0.75,
      emergency_threshold: 0.9,
      stack_share: 0.2,
    };
    await using opened = await open({ compaction });
    expect(await opened.profiles.of(place)).toMatchObject({
      thresholds: { background: 0.7, aggressive: 0.75, emergency: 0.9 },
      stackShare: 0.2,
    });
  });

  it('asks once which model auto means, and opens it once', async () => {
    await using opened = await open({ model: 'auto' });
    const first = await opened.profiles.of(place);
    await opened.profiles.of({ ...place, audience: 'public' });
    await opened.profiles.modelFor(first);
    expect(first.modelId).toBe('offline:demo');
    expect(opened.models.chosen).toBe(1);
  });

  it('is the same object until something or the place changes', async () => {
    await using opened = await open({});
    const first = await opened.profiles.of(place);
    expect(await opened.profiles.of(place)).toBe(first);
    const other = { key: parseKey('discord:1:2').key, audience: 'public' } as const;
    const elsewhere = await opened.profiles.of(other);
    expect(elsewhere.sections.find(({ key: name }) => name === 'place')?.text).toContain('Discord');
  });

  it('retries what failed', async () => {
    await using opened = await open({ model: 'openai:gpt-4.1-mini' }, { failures: 1 });
    await expect(opened.profiles.of(place)).rejects.toMatchObject({ code: 'MODEL_KEY_MISSING' });
    expect((await opened.profiles.of(place)).modelId).toBe('openai:gpt-4.1-mini');
  });

  it('protects persona and policy and names each section’s source', async () => {
    await using opened = await open({ persona: 'You are Iris.', policy: 'Never guess.' });
    const { sections } = await opened.profiles.of(place);
    expect(sections.map(({ key: name }) => name)).toEqual(['persona', 'policy', 'guidance', 'place']);
    expect(sections.filter((one) => one.protected).map(({ text }) => text)).toEqual(['You are Iris.', 'Never guess.']);
    expect(sections.every(({ source, reason }) => source !== '' && reason !== '')).toBe(true);
  });

  // Shows: A5
  it('cuts people’s instructions after guidance, before persona and policy', async () => {
    let asked: SystemSection | null = null;
    await using opened = await open({ persona: 'I am Ada.', policy: 'Be kind.' }, { instructions: async () => asked });
    const text = 'Answer in rhymes. '.repeat(40);
    const home = { place: placeOf(key), workspace: workspaceOf(key) };
    const memory = memoryOf(text, { ...home, kind: 'instruction', trust: 'operator' });
    const writes = [{ kind: 'insert', memory, sources: [] }] as const;
    await opened.services.store.memories.save({ conversationId: null, writes, actor: 'test', now: 1 });
    asked = await instructionsFor(opened.services, place, defaultAgent());
    const { sections } = await opened.profiles.of(place);
    const whole = (budget: number) =>
      fitSections(sections, budget).flatMap(({ truncated, section: one }) => (truncated ? [] : [one.key]));
    expect(whole(Number.MAX_SAFE_INTEGER)).toEqual(['persona', 'policy', 'instructions', 'guidance', 'place']);
    const cost = (name: string) => fitSections(sections, 1e9).find(({ section: one }) => one.key === name)?.tokens ?? 0;
    const kept = cost('persona') + cost('policy') + cost('instructions');
    expect(whole(kept)).toEqual(['persona', 'policy', 'instructions']);
    expect(whole(kept - 1)).toEqual(['persona', 'policy']);
  });

  it('puts standing instructions after the operator’s, reusing the object', async () => {
    let text = 'Ask before you delete.';
    const instructions = async () => section({ key: 'instructions', text });
    await using opened = await open({ policy: 'Never guess.' }, { instructions });
    const first = await opened.profiles.of(place);
    expect(first.sections.map(({ key: name }) => name)).toEqual([
      'persona',
      'policy',
      'instructions',
      'guidance',
      'place',
    ]);
    expect(await opened.profiles.of(place)).toBe(first);
    text = 'Ask before you send.';
    expect((await opened.profiles.of(place)).sections[2]?.text).toBe(text);
  });

  it('sorts its tools to keep the prompt’s head stable', async () => {
    await using opened = await open({ tools: ['summary_open', 'blob_read', 'memory_save'] });
    expect((await opened.profiles.of(place)).tools.map(({ name }) => name)).toEqual([
      'blob_read',
      'memory_save',
      'summary_open',
    ]);
  });

  it('has the sections of its agent, each within its maximum', async () => {
    const long = 'You know everything about tea. '.repeat(100);
    const sections = [
      { key: 'tea', text: long, max_tokens: 100, protected: true },
      { key: 'hours', text: 'Open from 9 to 17.', priority: 90 },
      { key: 'milk', text: long, priority: 10 },
    ];
    await using opened = await open({ policy: 'Be kind.', sections, max_section_tokens: 300 });
    const { sections: all } = await opened.profiles.of(place);
    expect(all.map((one) => one.key)).toEqual(['persona', 'policy', 'tea', 'hours', 'milk', 'guidance', 'place']);
    const own = all.slice(2, 5);
    expect(own).toMatchObject([
      { text: expect.stringContaining('left out'), protected: true, priority: 75, source: 'configuration' },
      { text: 'Open from 9 to 17.', protected: false, priority: 90 },
      { text: expect.stringContaining('left out'), originalTokens: estimateBlock({ text: long }) },
    ]);
    expect(estimateBlock(own[0] ?? { text: long })).toBeLessThanOrEqual(100);
    expect(own.reduce((sum, one) => sum + estimateBlock(one), 0)).toBeLessThanOrEqual(300);
  });

  // Shows: Q12, R16
  it('says what its share of the window cuts', async () => {
    const cuts = async (persona: string, window: number) => {
      const seen: FixedCut[] = [];
      await using opened = await open({ persona }, { window });
      const of = await opened.profiles.of(place);
      createFixedPrefixBuilder(opened.services, (cut) => seen.push(cut)).prefix(of, { correction: 1, share: 1 });
      return seen;
    };
    expect(await cuts('You know everything about tea. '.repeat(200), 2000)).toMatchObject([
      { agent: 'main', parts: 'tools, persona, guidance, place', wholeTokens: expect.any(Number) },
    ]);
    expect(await cuts('You know tea.', 100_000)).toEqual([]);
  });

  it('announces a cut again only when it changes', () => {
    const announced: string[] = [];
    const events = createEvents({ now: () => 0, onListenerError: (error) => expect.unreachable(String(error)) });
    events.on((event) => event.kind === 'context.cut' && announced.push(event.parts));
    const announce = announceCuts({ events });
    for (const parts of ['tools', 'tools', 'tools, policy', 'tools']) {
      announce({ agent: 'main', parts, wholeTokens: 9, leftTokens: 1 });
    }
    expect(announced).toEqual(['tools', 'tools, policy', 'tools']);
  });

  it('tells listeners once what was cut', async () => {
    const model = scriptedModel((request) => ({ text: 'Hello.', inputTokens: estimateRequest(request) }), {
      id: 'test:chat',
    });
    await using world = await createBotWorld({ models: [model], agent: { persona: 'You know tea. '.repeat(400) } });
    for (const text of ['Hi.', 'And now?']) {
      await world.say(text);
      await world.settled();
      await world.command('context list');
    }
    const cuts = world.events.filter(({ kind }) => kind === 'context.cut');
    expect(cuts).toMatchObject([{ agent: 'main', parts: expect.stringContaining('persona') }]);
  });
});
