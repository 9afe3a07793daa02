import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgentDirectory } from '../../../src/config/directory.ts';
import { createInspection } from '../../../src/inspection/inspection.ts';
import { promptNames } from '../../../src/prompts/variables.ts';
import { faithful, scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;

beforeAll(async () => {
  const model = scriptedModel(async (request, options) => {
    if (request.purpose === 'reply') return { text: 'I see.', inputTokens: 0 };
    return await faithful(request, options);
  });
  inspected = await createInspectorWorld({ models: [model] });
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

const pathOf = (name: string, agent = 'main') => `/settings/prompts/${agent}/${name}`;
const rows = [
  { path: 'agents[main].engine', value: 'stacked', origin: 'default' },
  { path: 'agents[main].context_window', value: 3000, origin: 'config.toml:3:1' },
];

describe('a prompt without conversations', () => {
  it('is previewed with sample values', async () => {
    const text = await inspected.page(pathOf('summary'));
    expect(text).toContain('no conversations yet, so these are sample values');
    expect(text).toContain('sample');
  });
});

describe('a prompt', () => {
  beforeAll(async () => {
    const { world } = inspected;
    for (let index = 0; index < 14; index += 1) {
      await world.say(
        `FACT the <b>door</b> code number ${index} is 47${index}. ${'It rained all afternoon. '.repeat(9)}`,
      );
      await world.settled();
      await world.clock.advance(60_000);
    }
    await world.bot.commandServices.compact(await world.conversation(), null);
    await world.say('What is the door code?');
    await world.settled();
  });

  it.each([
    ['persona', '&quot;agentId&quot;: &quot;main&quot;'],
    ['place', '&quot;platform&quot;: &quot;test&quot;'],
    ['guidance', '&quot;hasMemory&quot;: true'],
    ['clock', '2026-11-20'],
    ['summary', 'door&lt;/b&gt; code number 0'],
    ['memories', 'code number'],
    ['compactor', '&quot;targetWords&quot;'],
    ['extractor', '&quot;maxMemories&quot;'],
    ['transcript', 'door&lt;/b&gt; code number 13'],
    ['failure', '&quot;commandPrefix&quot;: &quot;/&quot;'],
  ])('%s is previewed with those of a real turn', async (name, word) => {
    const text = await inspected.page(pathOf(name));
    expect(text).toContain('With the variables of the newest turn in');
    expect(text).toContain(word);
    expect(text).not.toContain('<b>door');
  });

  it('is previewed with sample values where no turn needed it', async () => {
    expect(await inspected.page(pathOf('instructions'))).toContain('No turn in this conversation has needed');
  });

  it('has a page for every name, and for no other', async () => {
    for (const name of promptNames) expect((await inspected.fetch(pathOf(name))).status).toBe(200);
    const here = encodeURIComponent(inspected.world.key);
    expect((await inspected.fetch(`${pathOf('clock')}?conversation=${here}`)).status).toBe(200);
    const wrong = [pathOf('nothing'), pathOf('clock', 'nobody'), pathOf('toString'), pathOf('clock', '%00')];
    for (const path of [...wrong, `${pathOf('clock')}?conversation=test:here:nobody`]) {
      expect({ path, status: (await inspected.fetch(path)).status }).toEqual({ path, status: 404 });
    }
  });

  it('is not previewed with a conversation of another agent', async () => {
    const { commandServices } = inspected.world.bot;
    const main = commandServices.agents.agentFor(inspected.world.key);
    const agents = createAgentDirectory(() => ({ agents: [main, { ...main, id: 'other', default: false }] }));
    const inspection = createInspection({ services: { ...commandServices, agents }, configRows: () => [] });
    const query = { viewer: { name: 'x', role: 'operator' } as const, name: 'clock', key: inspected.world.key };
    expect((await inspection.prompt({ ...query, agentId: 'main' })).conversation).toBe(query.key);
    await expect(inspection.prompt({ ...query, agentId: 'other' })).rejects.toThrow('conversation of this agent');
  });

  it('shows samples while its model cannot be opened', async () => {
    await using away = await createInspectorWorld({
      models: [scriptedModel(() => ({ text: 'I see.' }))],
      agent: { compaction: { model: 'test:away' } },
    });
    await away.world.say('Hello.');
    await away.world.settled();
    expect(await away.page(pathOf('compactor'))).toContain('No turn in this conversation has needed');
    expect(await away.page(pathOf('persona'))).toContain('With the variables of the newest turn in');
  });

  it('is for operators', async () => {
    const inspection = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
    for (const role of ['viewer', 'moderator'] as const) {
      const query = { viewer: { name: 'x', role }, agentId: 'main', name: 'clock', key: null };
      await expect(inspection.prompt(query)).rejects.toThrow('operators');
    }
  });
});

describe('the settings', () => {
  it('can be filtered by key and by change', async () => {
    const inspection = createInspection({ services: inspected.world.bot.commandServices, configRows: () => rows });
    const viewer = { name: 'x', role: 'operator' } as const;
    const pathsFor = async (text: string, isChanged: boolean) =>
      (await inspection.settings({ viewer, filter: { text, isChanged } })).rows.map(({ path }) => path);
    expect(await pathsFor('', false)).toEqual(['agents[main].engine', 'agents[main].context_window']);
    expect(await pathsFor('ENGINE', false)).toEqual(['agents[main].engine']);
    expect(await pathsFor('', true)).toEqual(['agents[main].context_window']);
    expect(await inspected.page('/settings?q=%22%3E%3Cscript%3E&changed=1')).not.toContain('"><script>');
  });

  it('say what they come to', async () => {
    const inspection = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
    const filter = { text: '', isChanged: false };
    const { limits } = await inspection.settings({ viewer: { name: 'x', role: 'operator' }, filter });
    const [main] = limits;
    const tokens = new Map(main?.rows?.map((row) => [row.name, row.tokens]));
    expect(tokens.get('Window')).toBe(3000);
    expect(tokens.get('A summary is due at')).toBe(2400);
    expect(tokens.get('Reserved for the answer')).toBe(300);
  });
});
