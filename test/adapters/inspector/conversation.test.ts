import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { historyChart } from '../../../adapters/inspector/web/charts/history-chart.ts';
import { EVENT_KINDS, timeline } from '../../../adapters/inspector/web/pages/timeline.ts';
import type { ConversationView } from '../../../src/adapter-kit.ts';
import { createInspection } from '../../../src/inspection/inspection.ts';
import { type InspectedStory, tellStory } from '../../../tools/inspector-story.ts';
import { faithful, scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

let inspected: InspectorWorld;
let path: string;

const CHATTER =
  'It rained the whole afternoon and the river behind the garden rose to the second step of the stairs. '.repeat(3);

beforeAll(async () => {
  const model = scriptedModel(async (request, options) => {
    if (request.purpose === 'reply') return { text: 'I see.', inputTokens: 0 };
    return await faithful(request, options);
  });
  inspected = await createInspectorWorld({ models: [model] });
  const { world } = inspected;
  path = `/c/${encodeURIComponent(world.key)}`;
  for (let index = 0; index < 14; index += 1) {
    await world.say(`FACT the door <code> number ${index} is 47${index}. ${CHATTER}`);
    await world.settled();
    await world.clock.advance(60_000);
  }
  await world.bot.commandServices.compact(await world.conversation(), null);
  await world.say('What is the newest door code?');
  await world.settled();
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

async function viewOf(): Promise<ConversationView> {
  const { conversations } = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
  const viewer = { name: 'ada', role: 'operator' } as const;
  return await conversations.one({ viewer, key: inspected.world.key, atSeq: null });
}

async function summaryPaths(): Promise<readonly string[]> {
  const { id } = await inspected.world.conversation();
  const live = await inspected.world.bot.services.store.summaries.live(id);
  return live.filter(({ kind }) => kind === 'summary').map((summary) => `${path}/s/${summary.id}`);
}

describe('the page of a conversation', () => {
  it('shows gauge, thresholds, layers and whereabouts', async () => {
    const text = await inspected.page(path);
    expect(text).toMatch(/\d+ % of the window/u);
    expect(text).toMatch(/ [1-9]\d* of at most \d+ calls for summaries in this hour/u);
    for (const word of ['background', 'emergency', 'Compacted #1', 'seen in full', 'door &lt;code&gt; number']) {
      expect(text).toContain(word);
    }
    for (const summary of await summaryPaths()) expect(text).toContain(summary);
    expect(text).not.toContain('<code> number');
  });

  it('goes to a past message by its address', async () => {
    const text = await inspected.page(`${path}?at=3`);
    expect(text).toContain('At message #3');
    expect(text).toContain('id="m3"');
    expect(text).not.toContain('id="m4"');
  });

  it('shows only the chosen events', async () => {
    const text = await inspected.page(`${path}?filtered=1&show=compactions`);
    expect(text).toContain('Compacted #1');
    expect(text).not.toContain('id="m3"');
    expect(await inspected.page(`${path}?hide=compactions`)).not.toContain('Compacted #1');
  });

  it('finds an old failure behind many newer jobs', async () => {
    const view = await viewOf();
    const [run] = view.runs;
    if (run === undefined) throw new Error('Nothing was compacted.');
    const runs = [
      ...Array.from({ length: 80 }, () => run),
      { ...run, outcome: 'failed', error: 'No answer.' } as const,
    ];
    const hidden = new Set(EVENT_KINDS.filter((kind) => kind !== 'failures'));
    expect(String(timeline({ ...view, runs }, hidden))).toContain('No answer.');
  });

  it('shows summaries of jobs that are no longer kept', async () => {
    const view = await viewOf();
    const [newest] = view.runs;
    const [layer] = view.layers.filter(({ kind }) => kind === 'summary');
    const { gauge } = view.row.reading;
    if (newest === undefined || layer === undefined || gauge === null) throw new Error('Nothing was compacted.');
    const event = `>#${layer.fromSeq}–#${layer.toSeq}</a></b>`;
    expect(String(timeline(view, new Set()))).not.toContain(event);
    const later = { ...view, runs: [{ ...newest, startedAt: newest.startedAt + 1e9 }] };
    expect(String(timeline(later, new Set()))).toContain(event);
    expect(String(timeline(later, new Set(['compactions', 'condensings'])))).not.toContain(event);
    expect(String(historyChart(later, gauge))).toContain('earlier summaries');
    expect(String(historyChart(view, gauge))).not.toContain('earlier summaries');
  });

  it('marks a gap that is too narrow for a link', async () => {
    const view = await viewOf();
    const { gauge } = view.row.reading;
    const [layer] = view.layers;
    if (gauge === null || layer === undefined) throw new Error('Nothing was compacted.');
    const drawn = (kind: 'gap' | 'summary') => {
      const layers = [{ ...layer, kind, fromSeq: 1, toSeq: 1 }];
      return String(historyChart({ ...view, layers, shown: { fromSeq: 1, toSeq: 2000 } }, gauge));
    };
    expect(drawn('gap')).toContain('class="layer gap"');
    expect(drawn('summary')).not.toContain('class="layer gap"');
  });

  it('hides text from those who may not read it', async () => {
    const { conversations } = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
    const viewer = { name: 'eve', role: 'viewer' } as const;
    const view = await conversations.one({ viewer, key: inspected.world.key, atSeq: null });
    expect(view.messages.length).toBeGreaterThan(5);
    expect(JSON.stringify([view.messages, view.memories])).not.toMatch(/door|Ada/u);
    const [first = ''] = await summaryPaths();
    const query = { viewer, key: inspected.world.key, id: first.split('/').at(-1) ?? '' };
    await expect(conversations.summary(query)).rejects.toThrow('moderators and operators');
  });

  it('compares its requests as the cache account does', async () => {
    const { conversations } = createInspection({ services: inspected.world.bot.commandServices, configRows: () => [] });
    const { id } = await inspected.world.conversation();
    const viewer = { name: 'eve', role: 'viewer' } as const;
    const { turns } = await conversations.one({ viewer, key: inspected.world.key, atSeq: null });
    const losses = await inspected.world.bot.services.store.journal.cache.losses({ since: null, conversationId: id });
    const found = Map.groupBy(
      turns.filter(({ cause }) => cause !== null),
      ({ cause }) => cause,
    );
    const counts = [...found].map(([cause, of]) => [cause, of.length]).toSorted();
    expect(counts).toEqual(losses.map(({ cause, losses: times }) => [cause, times]).toSorted());
    expect(counts.length).toBeGreaterThan(0);
  });

  it('draws a bar for each request and lists it', async () => {
    const text = await inspected.page(path);
    for (const word of ['Request by request', 'Why the start was not the same', 'class="reused"', 'class="broken"']) {
      expect(text).toContain(word);
    }
    const past = await inspected.page(`${path}?at=9`);
    expect(past).toContain('up to #8');
    expect(await inspected.page(`${path}?at=8`)).toContain('class="chosen"');
  });

  it('answers wrong addresses with what is wrong', async () => {
    const wrong = ['/c/nonsense', '/c/test%3Ahere%3Anobody', `${path}/s/none`, '/c/%25%E2', '/nothing', `${path}/s/`];
    for (const each of wrong) {
      const response = await inspected.fetch(each);
      expect({ each, status: response.status }).toEqual({ each, status: 404 });
      expect(await response.text()).toContain('Not found');
    }
    for (const at of ['-1', '0', '99999999', '1e9', 'x', '%00', '"><script>']) {
      expect(await inspected.page(`${path}?at=${encodeURIComponent(at)}`)).not.toContain('<script>');
    }
  });
});

describe('the timeline of a long conversation', () => {
  let story: InspectedStory;
  let cookie: string;
  beforeAll(async () => {
    story = await tellStory({ messages: 75 });
    cookie = (await fetch(story.url)).headers.get('set-cookie')?.split(';')[0] ?? '';
  }, 60_000);
  afterAll(async () => {
    await story[Symbol.asyncDispose]();
  });

  async function shows(parameters: string, mark: string): Promise<boolean> {
    const address = new URL(`${story.paths['conversation']}?${parameters}`, story.url);
    return (await (await fetch(address, { headers: { cookie } })).text()).includes(mark);
  }

  it.each([
    ['condensings', '<b>Condensed'],
    ['emergencies', '<b>Emergency'],
    ['gaps', '<b>Filled the gap'],
    ['memories', '<b>Remembered'],
  ])('shows %s, alone and not at all', async (kind, mark) => {
    expect(await shows(`filtered=1&show=${kind}`, mark)).toBe(true);
    expect(await shows(`hide=${kind}`, mark)).toBe(false);
  });
});

describe('the page of a summary', () => {
  it('links sentences and messages both ways', async () => {
    const [first = ''] = await summaryPaths();
    const text = await inspected.page(first);
    const [, sentence = '', sources = ''] =
      /id="sentence-(\d+)" data-sentence="\d+" data-sources="(\d[\d ]*)"/u.exec(text) ?? [];
    const source = sources.split(' ')[0];
    expect(text).toContain(`id="source-${source}"`);
    expect(text).toContain(`href="#source-${source}"`);
    expect(text).toContain(`href="#sentence-${sentence}"`);
  });

  it('marks what it keeps and leaves out', async () => {
    const { world } = inspected;
    const { id } = await world.conversation();
    const { store } = world.bot.services;
    const [summary] = await store.summaries.live(id);
    const text = await inspected.page(`${path}/s/${summary?.id}`);
    expect(text).toMatch(/<mark class="kept"/u);
    expect(text).toMatch(/\d+ % of the names, numbers/u);
  });
});

describe('the page of a reply', () => {
  it('shows the request and what changed before it', async () => {
    const entries = await inspected.world.entries();
    const reply = entries.findLast(({ role }) => role === 'assistant');
    expect(await inspected.page(`${path}?at=${reply?.seq}`)).toContain(`${path}/r/${reply?.seq}`);
    const text = await inspected.page(`${path}/r/${reply?.seq}`);
    for (const word of [`Why the bot wrote #${reply?.seq}`, 'persona', 'Since the request for', 'number 13 is 4713']) {
      expect(text).toContain(word);
    }
    const request = await inspected.fetch(`${path}/r/${reply?.seq}/request.json`);
    expect(await request.json()).toMatchObject({ maxOutputTokens: 300 });
  });

  it('is not there for other numbers', async () => {
    for (const seq of ['0', '99999', 'x', '-1']) {
      expect({ seq, status: (await inspected.fetch(`${path}/r/${seq}`)).status }).toEqual({ seq, status: 404 });
    }
  });
});
