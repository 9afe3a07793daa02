import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { format, type SlackBlock } from '../../../adapters/channels/slack/outbound/format.ts';
import { MESSAGE_LENGTH, split } from '../../../adapters/channels/slack/outbound/split.ts';
import { tidyReply } from '../../../src/adapter-kit.ts';
import { SIZED, sized } from '../../support/size.ts';

const piece = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    '\n\n',
    '\n',
    ' ',
    '```js\n',
    '```\n',
    '~~~\n',
    '- item\n',
    '1. one\n',
    '> quote\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n',
    '**bold** ',
    '`code` ',
    '<!channel> ',
    '<@U1> ',
    '# Head\n',
    '👩‍👩‍👧‍👦',
    '---\n',
  ),
);
const markdown = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));
/** No word follows a marker directly but the language of code: a cut between both would make the word a language. */
const spaced = markdown.map((text) => text.replace(/([`~]{3,})(?=[^\s`~])(?!js\n)/g, '$1 '));

/** What Slack shows, in order: as code, or as other text. */
function codeAndText(markdown: string): readonly { readonly code: boolean; readonly text: string }[] {
  const found: { readonly code: boolean; readonly text: string }[] = [];
  const look = (part: SlackBlock, isCode: boolean): void => {
    const code = isCode || part.type === 'rich_text_preformatted' || styleSchema.parse(part).style.code;
    const { text, elements } = partSchema.parse(part);
    if (text !== null) found.push({ code, text });
    for (const inner of elements) look(inner, code);
  };
  for (const block of format(markdown).blocks) look(block, false);
  return found;
}

const styleSchema = z.object({ style: z.object({ code: z.boolean().default(false) }).catch({ code: false }) }).catch({
  style: { code: false },
});
const partSchema = z.object({
  text: z.string().nullable().default(null),
  elements: z.array(z.looseObject({ type: z.string() })).default([]),
});

describe('a reply is cut', () => {
  // Shows: C
  test('into bodies within the limit, with every word', SIZED, () => {
    fc.assert(
      fc.property(spaced, fc.integer({ min: 60, max: 400 }), (text, limit) => {
        const bodies = split(text, limit);
        for (const body of bodies) {
          if (body.kind === 'text') expect(body.text.length).toBeLessThanOrEqual(limit);
          expect(body.text.isWellFormed()).toBe(true);
          expect(body.text.trim()).not.toBe('');
        }
        const bare = (whole: string) => whole.replace(/[`~]{3,}[^\s`~]*|\s+/g, '');
        expect(bare(bodies.map((body) => body.text).join('\n'))).toBe(bare(tidyReply(text)));
      }),
      { numRuns: sized({ small: 120, full: 400 }) },
    );
  });

  test('not between code marks inside a line', () => {
    const words = 'x'.repeat(61);
    expect(split(`${words}\`\`\` and more`, 63).map(({ text }) => text)).toEqual(['x'.repeat(60), 'x``` and more']);
  });

  // Shows: C3
  test('between paragraphs and sentences, closing and reopening code blocks', () => {
    const code = Array.from({ length: 300 }, (_, index) => `const value${index} = ${index};`).join('\n');
    const bodies = split(`Look:\n\n\`\`\`js\n${code}\n\`\`\`\n\nDone.`);
    expect(bodies.length).toBeGreaterThan(1);
    for (const { text } of bodies) {
      expect(text.length).toBeLessThanOrEqual(MESSAGE_LENGTH);
      expect((text.match(/^```/gm) ?? []).length % 2).toBe(0);
    }
    expect(bodies.at(-1)?.text).toContain('Done.');
  });

  const lines = Array.from({ length: 300 }, (_, index) => `const value${index} = ${index};`);

  test.each([
    ['an item', '- Look:\n\n  ```js\n', '  ', '\n  ```\n- And **this**.'],
    ['the line of an item', '1. ```js\n', '   ', '\n   ```\n2. And **this**.'],
    ['an inner item', '- One\n    - Two:\n      ~~~~ts\n', '      ', '\n      ~~~~\n    - And **this**.'],
    ['an item without an end', '- Look:\n  ```js\n', '  ', ''],
  ])('and reopens code that is nested in %s', (_, before, indent, after) => {
    const bodies = split(before + lines.map((line) => indent + line).join('\n') + after);
    expect(bodies.length).toBeGreaterThan(1);
    const runs = bodies.flatMap(({ text }) => {
      expect(text.length).toBeLessThanOrEqual(MESSAGE_LENGTH);
      return codeAndText(text);
    });
    expect(runs.filter(({ code }) => code).flatMap(({ text }) => text.split('\n'))).toEqual(lines);
    const shown = runs.filter(({ code }) => !code).map(({ text }) => text.trim());
    expect(shown).toEqual(after === '' ? shown : expect.arrayContaining(['this']));
    expect(shown.join(' ')).not.toMatch(/value|```|~~~/);
  });

  test('and shows a deep item at the start as text', () => {
    const items = Array.from(
      { length: 120 },
      (_, index) => `    - Item ${index}, which is long enough to fill a line.`,
    );
    const bodies = split(`- One\n${items.join('\n')}`);
    expect(bodies.length).toBeGreaterThan(1);
    expect(bodies.flatMap(({ text }) => codeAndText(text)).filter(({ code }) => code)).toEqual([]);
  });

  test('even where quotes and lists nest a thousand times', () => {
    for (const marker of ['>', '> ', '- ', '1. ']) {
      const text = marker.repeat(9_000 / marker.length).trim();
      const bodies = split(text);
      expect(bodies.map((body) => body.text).join('')).toBe(text);
      expect(bodies.map((body) => format(body.text).text.trim())).not.toContain('');
    }
  });

  test('sends oversized tables and very long replies as files', () => {
    const rows = Array.from({ length: 300 }, (_, index) => `| ${index} | number ${index} |`).join('\n');
    const kinds = split(`Before.\n\n| n | name |\n|---|---|\n${rows}\n\nAfter.`).map(({ kind }) => kind);
    expect(kinds).toEqual(['text', 'file', 'text']);
    expect(split('Word. '.repeat(9000))).toMatchObject([{ kind: 'file', name: 'reply.md' }]);
    expect(split('  \n ')).toEqual([]);
  });
});

describe('Markdown becomes what Slack shows', () => {
  const elements = (text: string) => JSON.parse(JSON.stringify(format(text).blocks));

  // Shows: C9
  test('styles, links, code, lists, quotes, tables and rules', () => {
    expect(format('**bold** _it_ ~~no~~ `x < y` [home](https://a.example)').text).toBe(
      '*bold* _it_ ~no~ `x &lt; y` <https://a.example|home>',
    );
    expect(elements('# Head\n\ntext')).toMatchObject([
      { type: 'rich_text', elements: [{ elements: [{ text: 'Head', style: { bold: true } }, { text: '\n' }] }, {}] },
    ]);
    expect(elements('1. one\n   - two\n2. three')[0].elements).toMatchObject([
      { type: 'rich_text_list', style: 'ordered', indent: 0 },
      { type: 'rich_text_list', style: 'bullet', indent: 1 },
      { type: 'rich_text_list', style: 'ordered', indent: 0, offset: 1 },
    ]);
    expect(elements('> said')[0].elements[0].type).toBe('rich_text_quote');
    expect(format('| a | b |\n|---|---|\n| 1 | **2** |').text).toBe('```a | b\n--+--\n1 | 2```');
    expect(elements('one\n\n---\n\ntwo').map(({ type }: { type: string }) => type)).toEqual([
      'rich_text',
      'divider',
      'rich_text',
    ]);
    expect(format('2 * 3 * 4 and a_b_c').text).toBe('2 * 3 * 4 and a_b_c');
    expect(format('[x](javascript:alert(1))').text).toBe('x');
  });

  test('a sign without words stays, empty code goes', () => {
    expect(format('#').text).toBe('#');
    expect(format('> ```\n> ```').blocks).toEqual([]);
  });

  test('one long cell does not widen every row', () => {
    const table = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(300)}| ${'x'.repeat(400)} | 2 |`;
    expect(format(table).whole.length).toBeLessThan(2 * table.length);
  });

  test('pings nobody, and has no empty element', SIZED, () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const { text: fallback, blocks } = format(text);
        expect(fallback).not.toMatch(/<[!@#]/);
        JSON.stringify(blocks, (_, part: unknown) => {
          if (typeof part === 'object' && part !== null && 'type' in part) {
            expect(['user', 'usergroup', 'broadcast', 'channel']).not.toContain(part.type);
            if ('text' in part) expect(part.text).not.toBe('');
            if ('elements' in part) expect(part.elements).not.toEqual([]);
          }
          return part;
        });
      }),
      { numRuns: sized({ small: 120, full: 400 }) },
    );
  });
});
