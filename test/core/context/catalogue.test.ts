import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTools } from '../../../src/context/measure/tokens.ts';
import { fitCatalogue, openedTools } from '../../../src/context/view/catalogue.ts';
import { TOOL_HELP } from '../../../src/domain/lookups.ts';
import type { ModelMessage, ToolSpec } from '../../../src/ports/model.ts';

const tool = (name: string, words: number): ToolSpec => ({
  name,
  description: `Looks up ${name}. ${'It explains itself at length. '.repeat(words)}`,
  inputSchema: {
    type: 'object',
    properties: {
      description: { type: 'string', description: 'words '.repeat(words) },
      limit: { type: 'integer', title: 'Limit' },
    },
    required: ['description'],
  },
});
const tools = [tool('weather', 40), tool('tickets', 60), tool('stock', 20)];
const fitIn = (wantedTokens: number, maxTokens = wantedTokens) => fitCatalogue(tools, { wantedTokens, maxTokens });

describe('a catalogue of tools', () => {
  it('is whole where it fits', () => {
    expect(fitIn(estimateTools(tools))).toMatchObject({ form: 'whole', tools });
    expect(fitCatalogue([], { wantedTokens: 0, maxTokens: 0 })).toMatchObject({ form: 'whole', tools: [], tokens: 0 });
  });

  // Shows: A23
  it('loses its explanations first, and keeps the fields', () => {
    const { form, tools: short } = fitIn(estimateTools(tools) - 1);
    expect(form).toBe('short');
    expect(short[0]).toEqual({
      name: 'weather',
      description: 'Looks up weather.',
      inputSchema: {
        type: 'object',
        properties: { description: { type: 'string' }, limit: { type: 'integer' } },
        required: ['description'],
      },
    });
  });

  // Shows: A23
  it('then offers names, with help that knows them all', () => {
    const { form, tools: names } = fitIn(fitIn(estimateTools(tools) - 1).tokens - 1);
    expect(form).toBe('names');
    expect(names.map(({ name }) => name)).toEqual(['weather', 'tickets', 'stock', TOOL_HELP]);
    expect(JSON.stringify(names.at(-1)?.inputSchema)).toContain('["weather","tickets","stock"]');
  });

  it('offers only help and what was opened in the end', () => {
    expect(fitIn(0, 10)).toMatchObject({ form: 'help', tools: [{ name: TOOL_HELP }] });
    const steps: readonly ModelMessage[] = [
      { role: 'assistant', text: '', calls: [{ callId: 'c1', tool: TOOL_HELP, input: { tool: 'stock' } }] },
      { role: 'tool', results: [{ callId: 'c1', tool: TOOL_HELP, text: '{}', isError: false }] },
    ];
    expect(openedTools(tools, steps)).toEqual([tools[2]]);
    expect(openedTools(tools, [])).toEqual([]);
  });

  it('never grows as its room shrinks', () => {
    const room = fc.integer({ min: 0, max: 3_000 });
    fc.assert(
      fc.property(room, room, (one, other) => {
        const [small, large] = [Math.min(one, other), Math.max(one, other)];
        expect(fitIn(small).tokens).toBeLessThanOrEqual(fitIn(large).tokens);
        if (fitIn(small).form !== 'help') expect(fitIn(small).tokens).toBeLessThanOrEqual(small);
      }),
    );
  });
});
