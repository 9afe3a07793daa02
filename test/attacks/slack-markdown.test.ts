import { expect, it } from 'vitest';
import { format } from '../../adapters/channels/slack/outbound/format.ts';
import { parseMarkdown } from '../../adapters/channels/slack/outbound/markdown.ts';
import { split } from '../../adapters/channels/slack/outbound/split.ts';
import { cpuMsOf, slowdown } from '../support/cpu.ts';

/** Whoever asks a bot may have it write any Markdown, so a reply must not cost more than its length. */

const MAX_MS = 100;
const LINES = 12_000;

/** Rows with one cell below a head with many. Filled up, they have as many cells as the square of the length. */
function raggedTable(columns: number): string {
  return ['|a'.repeat(columns), '|-'.repeat(columns), ...Array.from({ length: columns }, () => '|b')].join('\n');
}

function repeated(first: string, line: string): string {
  return [first, ...Array.from({ length: LINES }, () => line)].join('\n');
}

const HARD = {
  'a table of missing cells': raggedTable(3000),
  'a quoted table of missing cells': raggedTable(3000).replace(/^/gmu, '> '),
  'a long list item': repeated('- a', '  b'),
  'a long list item in a quote': repeated('> - a', '> b'),
  'a list item with heads of tables': repeated('- a', '>\n|-|-|'),
  'lines that may each be the head of a table': repeated('a', 'b\n-|-'),
};

it.each(Object.entries(HARD))('%s costs its length', (_what, text) => {
  for (const read of [parseMarkdown, format, split]) {
    const ms = Math.min(...Array.from({ length: 3 }, () => cpuMsOf(() => read(text))));
    expect(ms / slowdown(), read.name).toBeLessThan(MAX_MS);
  }
});

it('ordinary tables and lists stay what they are', () => {
  expect(parseMarkdown(raggedTable(12))).toMatchObject([{ kind: 'code' }]);
  expect(parseMarkdown(repeated('|a|b|\n|-|-|', '|1|2|'))).toMatchObject([{ kind: 'code' }]);
  expect(parseMarkdown(repeated('- a', '- b'))).toMatchObject([{ kind: 'list' }]);
  expect(parseMarkdown(`- a\n\n${repeated('\x60\x60\x60', 'code\n')}\n\x60\x60\x60`).at(-1)).toMatchObject({
    kind: 'code',
  });
});
