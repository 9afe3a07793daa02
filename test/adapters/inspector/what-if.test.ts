import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StrataError } from '../../../src/adapter-kit.ts';
import type { CommandServices } from '../../../src/commands/services.ts';
import { createAgentDirectory } from '../../../src/config/directory.ts';
import { settingLines } from '../../../src/config/setting-lines.ts';
import { FORECAST_SETTINGS } from '../../../src/forecast/settings.ts';
import { createForecastQueue } from '../../../src/inspection/forecasts/forecast-queue.ts';
import { createRecordings } from '../../../src/inspection/forecasts/recordings.ts';
import { createInspection } from '../../../src/inspection/inspection.ts';
import { VIEWER_ROLES } from '../../../src/inspection/viewer.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
let path: string;

const CHATTER = 'The river behind the garden rose to the second step of the stairs. '.repeat(4);

beforeAll(async () => {
  inspected = await createInspectorWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  const { world } = inspected;
  path = `/c/${encodeURIComponent(world.key)}/what-if`;
  for (let index = 0; index < 12; index += 1) {
    await world.say(`The door code number ${index} is 47${index}. ${CHATTER}`);
    await world.settled();
    await world.clock.advance(60_000);
  }
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

const query = (values: Readonly<Record<string, string>>) => `${path}?${new URLSearchParams(values)}`;

describe('the what-if page', () => {
  it('shows the present settings first', async () => {
    const text = await inspected.page(path);
    for (const word of ['These are the present settings', 'Compactions', 'class="present-area"']) {
      expect(text).toContain(word);
    }
    expect(text).not.toContain('config.toml');
    for (const engine of ['stacked', 'sliding']) expect(text).toContain(`>${engine}</option>`);
  });

  it('puts other settings beside them', async () => {
    const text = await inspected.page(query({ 'compaction.background_threshold': '0.5', engine: 'stacked' }));
    for (const word of ['class="tried"', 'instead of', '[defaults.compaction]\nbackground_threshold = 0.5']) {
      expect(text).toContain(word);
    }
    expect(text).toContain('now 0.8');
  });

  it('means auto by an empty field that can be', async () => {
    const text = await inspected.page(query({ 'compaction.tail_share': '', 'compaction.stack_share': '', engine: '' }));
    expect(text).toContain('These are the present settings');
    expect(await inspected.page(query({ 'compaction.tail_share': '0.2' }))).toContain('tail_share = 0.2');
  });

  it('says what does not fit together', async () => {
    const text = await inspected.page(query({ 'compaction.background_threshold': '0.9' }));
    expect(text).toContain('role="alert"');
    expect(text).toContain('thresholds must rise');
    for (const engine of ['<script>', 'none']) {
      expect(await inspected.page(query({ engine }))).toContain('expected stacked or sliding');
    }
  });

  it('plays only built-in engines', async () => {
    const { bot, key } = inspected.world;
    const agent = { ...bot.commandServices.agents.agentFor(key), engine: 'own' };
    const agents = { ...bot.commandServices.agents, agentFor: () => agent };
    const { conversations } = createInspection({ services: { ...bot.commandServices, agents }, configRows: () => [] });
    const viewer = { name: 'eve', role: 'viewer' } as const;
    expect((await conversations.whatIf({ viewer, key, values: {} })).present).toBeNull();
    expect((await conversations.whatIf({ viewer, key, values: { engine: 'sliding' } })).tried?.engine).toBe('sliding');
  });

  it('survives any values', async () => {
    const value = fc.oneof(fc.string(), fc.double().map(String), fc.constantFrom('auto', '1e9', '-1', '0x10'));
    const values = fc.dictionary(fc.constantFrom(...FORECAST_SETTINGS, '__proto__', 'x'), value, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(values, async (given) => {
        const response = await inspected.fetch(query(given));
        expect(response.status).toBe(200);
        expect(await response.text()).not.toContain('<script>');
      }),
      { numRuns: 40 },
    );
  });
});

describe('many forecasts at once', () => {
  it('are refused beyond a limit, until some are done', async () => {
    const forecasts = createForecastQueue();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waitFor = (viewer: string) => Array.from({ length: 25 }, () => forecasts.run(viewer, () => promise));
    const waiting = waitFor('eve');
    await expect(forecasts.run('eve', async () => 1)).rejects.toThrow('Too many forecasts');
    waiting.push(...waitFor('bob'));
    await expect(forecasts.run('ada', async () => 1)).rejects.toThrow('Too many forecasts');
    resolve();
    await Promise.all(waiting);
    expect(await forecasts.run('eve', async () => 1)).toBe(1);
  });
});

describe('a model that cannot be opened', () => {
  it('is no failure of the page', async () => {
    await using away = await createInspectorWorld({
      models: [scriptedModel(() => ({ text: 'I see.' }))],
      agent: { compaction: { model: 'test:away' } },
    });
    await away.world.say('Hello.');
    await away.world.settled();
    const response = await away.fetch(`/c/${encodeURIComponent(away.world.key)}/what-if`);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('test:away');
  });
});

describe('a model that cannot be opened once', () => {
  it('is tried again by the next visit', async () => {
    const { world } = inspected;
    const parts = world.bot.commandServices;
    const agent = parts.agents.agentFor(world.key);
    const config = { agents: [{ ...agent, compaction: { ...agent.compaction, model: 'test:other' } }] };
    const agents = createAgentDirectory(() => config);
    let opened = 0;
    const models: CommandServices['models'] = {
      ...parts.models,
      open: (id) => {
        if (id !== 'test:other') return parts.models.open(id);
        opened += 1;
        if (opened === 1) throw new StrataError('MODEL_UNKNOWN', { model: id, reason: 'its server is away' });
        return parts.models.open('test:summariser');
      },
    };
    const { conversations } = createInspection({ services: { ...parts, agents, models }, configRows: () => [] });
    const query = { viewer: { name: 'x', role: 'operator' } as const, key: world.key, values: {} };
    await expect(conversations.whatIf(query)).rejects.toThrow('its server is away');
    expect((await conversations.whatIf(query)).present).not.toBeNull();
  });
});

describe('what a role sees of it', () => {
  it.each(VIEWER_ROLES)('%s', async (role) => {
    const { conversations } = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
    const values = { 'compaction.background_threshold': '0.5' };
    const view = await conversations.whatIf({ viewer: { name: 'x', role }, key: inspected.world.key, values });
    expect(view.tried?.messages).toBe(24);
    expect(view.lines === null).toBe(role !== 'operator');
    expect(JSON.stringify(view)).not.toMatch(/door|river|Ada/u);
  });
});

describe('a held conversation', () => {
  it('is read once, again when it grows, then freed', async () => {
    const { world } = inspected;
    const recordings = createRecordings(world.bot.commandServices);
    const conversation = await world.conversation();
    const first = await recordings.of(conversation, { isFresh: true });
    expect(await recordings.of(conversation, { isFresh: true })).toBe(first);
    const grown = { ...conversation, nextSeq: conversation.nextSeq + 1 };
    expect(await recordings.of(grown, { isFresh: false })).toBe(first);
    expect(await recordings.of(grown, { isFresh: true })).not.toBe(first);
    expect(recordings.size()).toBe(1);
    await world.clock.advance(11 * MINUTE_MS);
    expect(recordings.size()).toBe(0);
  });

  it('is cut to its newest messages if it is large', async () => {
    const { world } = inspected;
    const conversation = await world.conversation();
    const limited = async (limits: { messages: number; tokens: number }) => {
      const recordings = createRecordings(world.bot.commandServices, limits);
      const { recording, isPartial } = await recordings.of(conversation, { isFresh: false });
      return { seqs: recording.entries.map(({ seq }) => seq), isPartial };
    };
    const all = (await limited({ messages: 1000, tokens: 1_000_000 })).seqs;
    expect(all).toEqual(Array.from({ length: conversation.nextSeq - 1 }, (_, index) => index + 1));
    expect(await limited({ messages: 5, tokens: 1_000_000 })).toEqual({ seqs: all.slice(-5), isPartial: true });
    const [, newest] = (await world.entries()).slice(-2);
    const one = await limited({ messages: 1000, tokens: newest?.tokens ?? 0 });
    expect(one).toEqual({ seqs: all.slice(-1), isPartial: true });
  });

  it('makes room for newer ones', async () => {
    const { world } = inspected;
    const recordings = createRecordings(world.bot.commandServices);
    const conversation = await world.conversation();
    for (const id of [1, 2, 3, 4, 5]) await recordings.of({ ...conversation, id }, { isFresh: false });
    expect(recordings.size()).toBe(3);
  });
});

describe('the lines for the configuration', () => {
  const values = new Map<string, string | number>([
    ['compaction.stack_share', 0.2],
    ['context_window', 8000],
    ['compaction.tail_share', 'auto'],
  ]);

  it('go into the defaults of the only agent', () => {
    expect(settingLines([], { agentId: 'bot', values })).toBe(
      '[defaults]\ncontext_window = 8000\n\n[defaults.compaction]\nstack_share = 0.2\ntail_share = "auto"',
    );
  });

  it('go into the tables of an agent that has some', () => {
    const rows = [
      { path: 'agents[bot].id', value: 'bot', origin: 'config.toml:7:6' },
      { path: 'agents[bot].compaction.stack_share', value: 0.1, origin: 'config.toml:9:15' },
    ];
    const text = settingLines(rows, { agentId: 'bot', values: new Map([['compaction.stack_share', 0.2]]) });
    expect(text).toBe('[[agents]]\nid = "bot"\n\n[agents.compaction]\nstack_share = 0.2 # now at config.toml:9:15');
  });
});
