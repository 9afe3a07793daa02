import { describe, expect, it } from 'vitest';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import { parseJsonAnswer } from '../../../src/compaction/answer/read-answer.ts';
import { bySection, sectionsOf, structured } from '../../../src/compaction/answer/sections.ts';
import { createMeasureView } from '../../../src/compaction/watch/measure.ts';
import {
  createWorld,
  expectCovered,
  faithful,
  filler,
  type Script,
  scriptedModel,
  type World,
} from './compaction.world.ts';

const AGENT = { compaction: { summary_form: 'structured' } } as const;

/** A structured summary whose critical points are the facts. */
const inSections: Script = async (request, options) => {
  const said = await faithful(request, options);
  if (request.purpose === 'extract') return said;
  const calls = said.calls?.filter(({ tool }) => tool === 'memory_save') ?? [];
  const prose = said.text ?? said.calls?.find(({ tool }) => tool === 'summary_save')?.input;
  const [talk = '', ...facts] = JSON.stringify(prose)
    .replace(/^.*?People/u, 'People')
    .replace(/"\}?$/u, '')
    .split(' FACT ');
  const text = [
    `Progress:\n- ${talk}`,
    ...(facts.length === 0 ? [] : ['Critical:', ...facts.map((fact) => `- FACT ${fact}`)]),
  ];
  const summary = text.join('\n');
  return request.purpose === 'condense'
    ? { text: summary }
    : { calls: [...calls, { tool: 'summary_save', input: { summary } }] };
};

async function talk(world: World, exchanges: number): Promise<void> {
  for (let index = 1; index <= exchanges; index += 1) {
    await world.exchange(
      `FACT Bee ${index} is here. ${filler(40, index)}`,
      `Answer ${index}: ${filler(40, index + 3)}`,
    );
    await world.run();
  }
}

async function ratioOf(world: World): Promise<number> {
  const snapshot = await world.snapshot();
  const profile = await world.profiles.of(snapshot.conversation);
  return createMeasureView(world.services)(profile, snapshot).measurement.ratio;
}

describe('the sections of a summary', () => {
  it('are put in order, each once, with separate points', () => {
    const text =
      '## Next steps\n* Ada calls Bob.\n\n**Goal:** A trip to Bergen.\nOpen: none\nNext:\n- Ada calls Bob.\n- Bob pays.';
    expect(structured(text)).toEqual({
      text: 'Goal:\n- A trip to Bergen.\nNext:\n- Ada calls Bob.\n- Bob pays.',
      hasForm: true,
    });
  });

  it('take prose as progress, which is not the form', () => {
    const prose = 'Ada planned a trip: Bob pays for the tent.';
    expect(structured(prose)).toEqual({ text: `Progress:\n- ${prose}`, hasForm: false });
  });

  it('stay the same when read again', () => {
    const { text } = structured('Goal: a\nCritical:\n- b\n- c\nConstraints: d');
    expect(structured(text)).toEqual({ text, hasForm: true });
    expect([...sectionsOf(text).keys()]).toEqual(['Goal', 'Constraints', 'Critical']);
  });

  it('are read side by side from several summaries', () => {
    const parts = [{ text: 'Goal: a\nOpen: b' }, { text: 'Only prose.' }, { text: 'Open: c' }];
    expect(bySection(parts).map(({ title, points }) => [title, points.map(({ text }) => text)])).toEqual([
      ['Goal', ['a']],
      ['Progress', ['Only prose.']],
      ['Open', ['b', 'c']],
    ]);
  });

  it('may come as an object', () => {
    const answer = parseJsonAnswer('{"summary": {"goal": "A trip.", "open": ["Who pays?", "When?"]}, "memories": []}');
    expect(answer?.summary).toBe('Goal:\n- A trip.\nOpen:\n- Who pays?\n- When?');
  });
});

describe('a structured summary', () => {
  it('is condensed section by section', { timeout: 120_000 }, async () => {
    await using world = await createWorld({ model: scriptedModel(inSections, { window: 32_000 }), agent: AGENT });
    await talk(world, 60);
    const { stack } = await world.snapshot();
    expect(stack.some(({ level }) => level > 0)).toBe(true);
    for (const { text } of stack) expect(structured(text)).toEqual({ text, hasForm: true });
    const condensing = world.model.requests.find(({ purpose }) => purpose === 'condense');
    const shown = JSON.stringify(condensing?.messages);
    expect(shown).toMatch(
      /Progress:\\n\[#1 to #\d+\] People.*\\nCritical:\\n\[#1 to #\d+\] FACT Bee 1.*\\n\[#\d+ to #\d+\] FACT/u,
    );
    await expectCovered(world);
  });

  it('is asked for once more, then accepted as progress', async () => {
    await using world = await createWorld({ model: scriptedModel(faithful, { window: 32_000 }), agent: AGENT });
    await talk(world, 12);
    const [first, second] = world.model.requests;
    expect(JSON.stringify(first?.system)).toContain('Critical: ');
    expect(JSON.stringify(second?.system)).toContain(
      'could not be used: it did not begin with one of the named sections',
    );
    expect((await world.snapshot()).stack[0]?.text).toMatch(/^Progress:\n- People talked/u);
  });

  it.each(['prose', 'structured'] as const)(
    'settles as %s with the built-in model',
    { timeout: 240_000 },
    async (form) => {
      const offline = createOfflineModel();
      const model = { ...scriptedModel(faithful), ...offline };
      await using world = await createWorld({ model, agent: { compaction: { summary_form: form } } });
      for (let index = 1; index <= 40; index += 1) {
        await world.exchange(
          `We decided that stop ${index} is Bergen. ${filler(30, index)}`,
          `Noted. ${filler(20, index)}`,
        );
        await world.run();
        expect(await ratioOf(world)).toBeLessThan(0.8);
      }
      const { stack } = await world.snapshot();
      expect(stack.length).toBeGreaterThan(0);
      for (const { text } of stack) expect(structured(text).hasForm).toBe(form === 'structured');
    },
  );
});
