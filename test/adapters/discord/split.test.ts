import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findBlocks } from '../../../adapters/channels/discord/outbound/blocks.ts';
import { cut, MESSAGE_LENGTH, split, whole } from '../../../adapters/channels/discord/outbound/split.ts';
import { tidyReply } from '../../../src/adapter-kit.ts';
import { SIZED, sized } from '../../support/size.ts';

const all = (text: string) => split(text, { limit: MESSAGE_LENGTH, fileAbove: 1000 });
const texts = (text: string) => all(text).map((body) => (body.kind === 'text' ? body.text : `FILE ${body.name}`));
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

/** Markdown as models write it, and as they should not write it. */
const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.lorem({ mode: 'sentences', maxCount: 8 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('```', '~~~', '````'),
        fc.constantFrom('', 'ts', 'python', 'x'.repeat(60)),
        fc.lorem({ maxCount: 60 }),
        fc.nat(40),
      )
      .map(
        ([marker, info, line, count]) =>
          `${marker}${info}\n${Array.from({ length: count }, () => `  ${line};`).join('\n')}\n${marker}`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '```js\nnever closed',
      '~~~',
      '`code`',
      '``a ` b``',
      '[a link](https://example.org/a/b?c=d)',
      'https://example.org/long/path',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(40)
      .map(
        (rows) =>
          `| a | b |\n|---|---|\n${Array.from({ length: rows }, (_, row) => `| ${row} | ${'y'.repeat(20)} |`).join('\n')}`,
      ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 120 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('👩‍👩‍👧‍👦'.repeat(60), '漢字かな。'.repeat(120), '🇩🇪🇫🇷'.repeat(90), 'a'.repeat(700)),
  },
);
const markdown = fc
  .array(fc.tuple(fragment, fc.constantFrom('\n\n', '\n', ' ', '\n\n\n')), { maxLength: 14 })
  .map((parts) => parts.map(([text, gap]) => text + gap).join(''));
const limit = fc.constantFrom(200, 500, 2000);

describe('a long reply', () => {
  // Shows: C
  test('joined again gives the text, whatever it holds', SIZED, () => {
    fc.assert(
      fc.property(markdown, limit, (text, most) => {
        const tidy = tidyReply(text);
        expect(
          cut(tidy, most)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(tidy);
      }),
      { numRuns: sized({ small: 250, full: 1000 }) },
    );
  });

  test('is cut into messages within limits, without half characters', SIZED, () => {
    fc.assert(
      fc.property(markdown, limit, (text, most) => {
        for (const piece of cut(tidyReply(text), most)) {
          expect(whole(piece).length).toBeLessThanOrEqual(most);
          expect(whole(piece).trim()).not.toBe('');
          expect(whole(piece).isWellFormed()).toBe(true);
        }
      }),
      { numRuns: sized({ small: 250, full: 1000 }) },
    );
  });

  // Shows: C3
  test('closes every code block that it opens, in each message', SIZED, () => {
    fc.assert(
      fc.property(markdown, (text) => {
        for (const piece of cut(tidyReply(text), 500)) {
          const open = findBlocks(whole(piece)).filter(
            ({ kind, closeStart }) => kind === 'fence' && closeStart === Number.POSITIVE_INFINITY,
          );
          expect(open, whole(piece)).toEqual([]);
        }
      }),
      { numRuns: sized({ small: 250, full: 1000 }) },
    );
  });

  test('recognises a code block right under a table', () => {
    const rows = Array.from({ length: 16 }, (_, row) => `| ${row} | ${'y'.repeat(20)} |`).join('\n');
    const pieces = cut(`| a | b |\n|---|---|\n${rows}\n~~~ | a | b |\n|---|---|`, 500);
    expect(pieces.map(whole).at(-1)).toMatch(/~~~ \| a \| b \|\n\|---\|---\|\n~~~$/);
  });

  test('never splits composed characters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('👩‍👩‍👧‍👦', '🏳️‍🌈', 'é', '字', 'a'), { minLength: 1, maxLength: 900 }),
        (characters) => {
          const text = characters.join('');
          const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
          const pieces = cut(text, 200).map((piece) => [...segments.segment(piece.text)].map(({ segment }) => segment));
          expect(pieces.flat()).toEqual([...segments.segment(text)].map(({ segment }) => segment));
        },
      ),
      { numRuns: 100 },
    );
  });

  test.each(['\u0e33', '`', '\u0301'])('fits with its code block where %j allows no cut', (character) => {
    for (const marker of ['```', '~~~~~~~~~~~~']) {
      const pieces = cut(`${marker}js\n${character.repeat(5_000)}\nend\n${marker}\nafter`, 2_000);
      for (const piece of pieces) expect(whole(piece).length).toBeLessThanOrEqual(2_000);
    }
  });

  test('stays one message up to 2,000 characters', () => {
    expect(texts('x'.repeat(2000))).toHaveLength(1);
    expect(texts('x'.repeat(2001))).toHaveLength(2);
    expect(all('')).toEqual([]);
    expect(all(' \n ')).toEqual([]);
  });

  test('is cut between paragraphs, else lines, else sentences, else words', () => {
    const [first = ''] = texts(`${words(150)}\n\n${words(250)}`);
    expect(first.trimEnd()).toBe(words(150));
    const [line = ''] = texts(`${words(200)}\n${words(250)}`);
    expect(line.trimEnd()).toBe(words(200));
    const [sentence = ''] = texts(`${words(190)}. ${words(300)}`);
    expect(sentence.trimEnd()).toBe(`${words(190)}.`);
    const [word = ''] = texts(words(600));
    expect(words(600)).toContain(`${word.trimEnd()} word`);
  });

  test('reopens a code block with its language, counting markers', () => {
    const code = Array.from({ length: 150 }, (_, index) => `const value${index} = compute(${index});`).join('\n');
    const parts = texts(`Here it is:\n\n\`\`\`ts\n${code}\n\`\`\`\n\nThat is all.`);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(2000);
      expect(part.match(/^```/gm)?.length ?? 0).toSatisfy((count: number) => count % 2 === 0);
    }
    expect(parts[1]).toMatch(/^```ts\nconst value\d+ = /);
    expect(parts[0]).toMatch(/;\n```$/);
  });

  test('repeats a code block without its long opening line', () => {
    const info = `ts title="${'a'.repeat(80)}"`;
    const parts = texts(`\`\`\`${info}\n${'const a = 1;\n'.repeat(300)}\`\`\``);
    expect(parts[1]).toMatch(/^```\nconst a = 1;/);
  });

  test('breaks no link, address or inline code', () => {
    const link = '[the whole story of it](https://example.org/a/very/long/path/that/goes/on?and=on)';
    for (let length = 1900; length < 2000; length += 7) {
      const parts = texts(
        `${'a '.repeat(length / 2)}${link} and \`some code with spaces\` then https://example.org/x/y/z ${words(100)}`,
      );
      const holding = (what: string) => parts.filter((part) => part.includes(what)).length;
      expect([holding(link), holding('`some code with spaces`'), holding('https://example.org/x/y/z')]).toEqual([
        1, 1, 1,
      ]);
    }
  });

  test('keeps tables together and sends oversized ones as files', () => {
    const table = (rows: number) =>
      `| Name | Value |\n|---|---|\n${Array.from({ length: rows }, (_, row) => `| row ${row} | ${row * row} |`).join('\n')}`;
    const kept = texts(`${words(200)}\n\n${table(60)}\n\nAfter it.`);
    expect(kept.some((part) => part.includes(table(60)))).toBe(true);
    const sent = all(`Before.\n\n${table(300)}\n\nAfter.`);
    expect(sent.map(({ kind }) => kind)).toEqual(['text', 'file', 'text']);
    expect(sent[1]?.text.trim()).toBe(table(300));
  });

  test('takes little time whatever a model writes', () => {
    const ruts = ['[', '[a](', '<@', '```\n', '~~~ x\n', '` ', '| a | b |\n|---|---|\n'];
    const begun = performance.now();
    for (const rut of ruts) {
      split(rut.repeat(100_000 / rut.length), { limit: MESSAGE_LENGTH, fileAbove: 4 });
      split(rut.repeat(7_900 / rut.length), { limit: MESSAGE_LENGTH, fileAbove: 20 });
    }
    // Without the bounds, the first of them alone takes about this long.
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test('becomes a file above the configured number of messages', () => {
    const text = words(3000);
    const bodies = split(text, { limit: MESSAGE_LENGTH, fileAbove: 4 });
    expect(bodies).toEqual([{ kind: 'file', name: 'reply.md', text }]);
    expect(split(words(900), { limit: MESSAGE_LENGTH, fileAbove: 4 }).every(({ kind }) => kind === 'text')).toBe(true);
  });
});

describe('a text without spaces', () => {
  const words = new Intl.Segmenter('th', { granularity: 'word' });

  test.each([
    ['Thai', 'พี่สาวของฉันอาศัยอยู่ที่ลิสบอนและทำงานในโรงพยาบาลขนาดใหญ่'],
    ['Burmese', 'ကျွန်မအစ်မကလစ္စဘွန်းမှာနေပြီးဆေးရုံကြီးတစ်ခုမှာအလုပ်လုပ်တယ်'],
    ['Lao', 'ເອື້ອຍຂອງຂ້ອຍຢູ່ລິສບອນແລະເຮັດວຽກຢູ່ໂຮງໝໍໃຫຍ່'],
  ])('is cut between words: %s', (_, sentence) => {
    const text = sentence.repeat(Math.ceil(9000 / sentence.length));
    const ends = new Set(Array.from(words.segment(text), ({ index }) => index));
    const found = texts(text);
    let at = 0;
    for (const body of found.slice(0, -1)) {
      at += body.length;
      expect(ends.has(at)).toBe(true);
      expect(body.length).toBeGreaterThan(0.8 * MESSAGE_LENGTH);
    }
    expect(found.join('')).toBe(text);
  });
});
