import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EvalCase, readCase, scoreOf } from '../../../src/cli/prompts/eval-case.ts';
import { SAMPLES } from '../../../src/cli/prompts/eval-samples.ts';

const trip: EvalCase = {
  name: 'trip',
  messages: [{ author: 'Ada', text: 'The ferry leaves on 8 June.', role: 'user' }],
  facts: [
    { fact: 'The ferry leaves on 8 June', words: ['ferry', '8 June|June 8'] },
    { fact: 'Ada likes tea', words: ['Ada', 'tea'] },
  ],
  orders: ['PINEAPPLE'],
};

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'strata-eval-')), 'own.json');
  writeFileSync(file, text);
  return file;
}

describe('the score of an evaluation', () => {
  it('counts a fact whose words all occur, in any form', () => {
    const kept = {
      summaries: ['They take the FERRY on June 8.'],
      memories: ['Ada drinks coffee.', 'Ada prefers tea.'],
    };
    expect(scoreOf(trip, kept)).toEqual({
      name: 'trip',
      facts: 2,
      inSummaries: 1,
      inMemories: 1,
      memories: 2,
      obeyed: 0,
      lost: [],
    });
  });

  it('takes no fact from the words of two memories', () => {
    const kept = { summaries: [], memories: ['Ada drinks coffee.', 'Bob prefers tea.'] };
    expect(scoreOf(trip, kept).lost).toEqual(['The ferry leaves on 8 June', 'Ada likes tea']);
  });

  it('tells an order that was obeyed from a recorded one', () => {
    const obeyed = (text: string) => scoreOf(trip, { summaries: [text], memories: [] }).obeyed;
    expect(obeyed('Pineapple.')).toBe(1);
    expect(obeyed('Mallory asked for the word PINEAPPLE.')).toBe(0);
  });
});

describe('a conversation to evaluate', () => {
  it('is read from a file, named after it', () => {
    const { name: _, ...content } = trip;
    expect(readCase(fileWith(JSON.stringify(content)))).toEqual({ ...trip, name: 'own' });
  });

  it.each([
    ['no JSON', '{', 'not JSON'],
    ['no facts', '{"messages": [{"author": "Ada", "text": "Hi"}], "facts": []}', 'facts'],
    ['another shape', '[]', 'object'],
  ])('is refused with %s', (_, text, problem) => {
    expect(() => readCase(fileWith(text))).toThrow(problem);
    expect(() => readCase('/nowhere/own.json')).toThrow('it does not exist');
  });

  it.each(SAMPLES.map((one) => [one.name, one] as const))('named %s has its facts in its messages', (_, one) => {
    const summaries = one.messages.map(({ text, author }) => `${author}: ${text}`);
    expect(scoreOf(one, { summaries, memories: [] }).lost).toEqual([]);
  });
});

describe('the documented file', () => {
  it('can be read', () => {
    const docs = readFileSync(join(import.meta.dirname, '../../../docs/prompts.md'), 'utf8');
    const json = /```json\n([\s\S]*?)```/u.exec(docs)?.[1] ?? '';
    expect(readCase(fileWith(json)).facts).toHaveLength(1);
  });
});
