import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextBody } from '../../../adapters/inspector/web/pages/context-page.ts';
import { forgetBody } from '../../../adapters/inspector/web/pages/memories-page.ts';
import { memoryBody } from '../../../adapters/inspector/web/pages/memory-page.ts';
import { healthStrip } from '../../../adapters/inspector/web/pages/overview-page.ts';
import { replyBody } from '../../../adapters/inspector/web/pages/reply-page.ts';
import { auditBody } from '../../../adapters/inspector/web/pages/settings-page.ts';
import { createInspection, type Inspection } from '../../../src/inspection/inspection.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';

const viewer = { name: 'ada', role: 'operator' } as const;

let world: BotWorld;
let inspection: Inspection;

beforeAll(async () => {
  world = await createBotWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  inspection = createInspection({ services: world.bot.commandServices, configRows: () => [] });
  for (const text of ['Hello.', 'Good evening.']) {
    await world.say(text);
    await world.settled();
  }
  await world.command('memory remember', { text: 'The lantern hangs behind the door.' });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** The first item, so many times. */
function times<Item>([item]: readonly Item[], count: number): readonly Item[] {
  if (item === undefined) throw new Error('There is nothing to repeat.');
  return Array.from({ length: count }, () => item);
}

const rowsIn = (text: string, mark: string) => text.split(mark).length - 1;

async function memoryQuery() {
  const filter = { text: '', kind: null, state: null, audience: null, personId: null, maxAgeDays: null };
  const [memory] = (await inspection.memories.list({ viewer, key: null, filter })).memories;
  return { viewer, key: world.key, id: memory?.id ?? '' };
}

describe('a long list', () => {
  it('of parts of a request keeps both ends', async () => {
    const view = await inspection.conversations.context({ viewer, key: world.key });
    const parts = times(view.report.parts, 300).map((part, index) => ({ ...part, key: `part-${index}-` }));
    const text = String(contextBody({ ...view, report: { ...view.report, parts } }));
    expect(text).toContain('100 more parts');
    for (const shown of [0, 79, 180, 299]) expect(text).toContain(`part-${shown}-`);
    for (const left of [80, 179]) expect(text).not.toContain(`part-${left}-`);
  });

  it('of changes between requests ends with their number', async () => {
    const view = await inspection.conversations.reply({ viewer, key: world.key, seq: 4 });
    if (view.diff === null) throw new Error('Nothing has changed.');
    const diff = { ...view.diff, changes: times(view.diff.changes, 70) };
    const text = String(replyBody({ ...view, diff }, 'token'));
    expect(text).toContain('and 10 other changes');
    expect(rowsIn(text, '<tr data-row>')).toBe(60);
  });

  it('of memories to forget ends with their number', async () => {
    const query = await memoryQuery();
    const preview = await inspection.memories.previewForget(query);
    const memories = times(preview.memories, 250);
    const text = String(forgetBody({ ...preview, memories }, { ...query, formToken: 'token' }));
    expect(text).toContain('250 memories');
    expect(text).toContain('and 50 more');
    expect(rowsIn(text, 'The lantern')).toBe(200);
  });

  it('of sources ends with their number', async () => {
    const view = await inspection.memories.one(await memoryQuery());
    const source = {
      conversation: world.key,
      seq: 1,
      externalId: null,
      link: '',
      author: null,
      at: null,
      text: 'Hello.',
    };
    const text = String(memoryBody({ ...view, sources: times([source], 150) }, 'token'));
    expect(text).toContain('and 50 more messages');
    expect(rowsIn(text, '<li data-row>')).toBe(100);
  });

  it('of changes in the inspector shows the newest', () => {
    const row = { at: 0, who: 'ada', role: 'operator', action: 'memory pin', target: 'm1', outcome: 'done' } as const;
    const text = String(auditBody(times([row], 350)));
    expect(text).toContain('The newest 300 of 350');
    expect(rowsIn(text, '<tr data-row>')).toBe(300);
  });
});

describe('a paused model', () => {
  it('is marked above the conversations', async () => {
    const health = await inspection.health();
    const pausedModels = [{ model: 'test:away', untilAt: 1, message: 'It does not answer.' }];
    const cardOf = (text: string) => /<li[^>]*>(?:(?!<\/li>)[\s\S])*Models[\s\S]*?<\/li>/u.exec(text)?.[0] ?? '';
    const [calm, paused] = [health, { ...health, pausedModels }].map((one) => cardOf(String(healthStrip(one))));
    expect(paused).toContain('1 paused');
    expect(paused).toContain('bad');
    expect(calm).not.toContain('bad');
  });
});
