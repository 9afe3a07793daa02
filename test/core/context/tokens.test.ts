import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { correctionFor, lastReported, learn } from '../../../src/context/measure/calibration.ts';
import { measure, withReported } from '../../../src/context/measure/meter.ts';
import { tierOf } from '../../../src/context/measure/tiers.ts';
import {
  estimateMessages,
  estimateParts,
  estimateRequest,
  estimateText,
  estimateTools,
} from '../../../src/context/measure/tokens.ts';
import { entryMessageOf } from '../../../src/context/view/entry-message.ts';
import type { Part } from '../../../src/domain/message.ts';
import type { Calibration } from '../../../src/ports/store.ts';
import { profile, texts, user } from '../../fixtures/context.ts';
import { threadCpuMs } from '../../support/cpu.ts';

/** Counts of o200k, computed once. The estimate may differ by the share next to each. */
const counted: readonly (readonly [string, number, number])[] = [
  [
    'Can we move the meeting to Thursday? I told Ada that Friday does not work for me, and she was fine with it.',
    26,
    0.25,
  ],
  ['昨天我们讨论了会议时间，决定推迟到星期四上午。请也告诉一下小王，谢谢。我喜欢喝茶，不喜欢咖啡。', 32, 0.35],
  ['昨日の会議は木曜日に延期することになりました。田中さんにも伝えておいてください。よろしくお願いします。', 27, 0.6],
  [
    'Привет! Вчера мы обсуждали, когда перенести встречу: я бы предпочла четверг, потому что в пятницу меня не будет в городе. Напомни, пожалуйста, Олегу про отчёт.',
    46,
    0.5,
  ],
  ['😀🎉👍🏽 ❤️ 👨‍👩‍👧‍👦 🚀🔥 🙏🏻 😂😂 🤷‍♀️ ✅ ⚠️', 35, 0.35],
  ['{"id":12345,"items":[{"name":"alpha-beta","price":12.5,"tags":["x","y"]}],"ok":true}', 33, 0.35],
  ['[#12 | 2026-11-20 11:05 | Ada] ', 18, 0.25],
  ['ເອື້ອຍຂອງຂ້ອຍຢູ່ລິສບອນ ມື້ນີ້ອາກາດດີອີກແລ້ວ', 81, 0.25],
  ['ང་ཚོའི་ཁང་པ་ལྷ་ས་ལ་ཡོད། སང་ཉིན་ཚོགས་འདུ་ཆུ་ཚོད་གསུམ་པར་འཚོག་གི་རེད།', 99, 0.25],
  ['ወንድሜ በጥቁር አንበሳ ሆስፒታል ነርስ ነው። መኪናችን የት ቆሟል?', 75, 0.25],
  ['ᲩᲔᲛᲘ ᲓᲐ ᲗᲑᲘᲚᲘᲡᲨᲘ ᲪᲮᲝᲕᲠᲝᲑᲡ', 69, 0.25],
  ['އަހަރެންގެ ދައްތަ އުޅެނީ މާލޭގައެވެ', 67, 0.25],
  ['ଆମର ବୈଠକ ମଙ୍ଗଳବାର ସକାଳ ଦଶଟାରେ ହେବ', 34, 0.25],
  ['ꦲꦏ꧀ꦱꦫꦗꦮ ꦧꦱꦗꦮ ꦱꦸꦫꦧꦪ', 48, 0.35],
  ['ᎣᏏᏲ ᎠᎩᎵᏏ ᎠᎴ ᏣᎳᎩ', 39, 0.25],
  ['ညီလေးက ရန်ကုန်ဆေးရုံမှာ သူနာပြုလုပ်နေတယ်', 23, 0.2],
  ['බල්ලා කන්නේ තම්බපු කුකුල් මස් විතරයි', 17, 0.25],
];

describe('the estimate of a text', () => {
  // Shows: Q11
  it.each(counted)('%s', (text, tokens, tolerance) => {
    expect(Math.abs(estimateText(text) - tokens) / tokens).toBeLessThan(tolerance);
  });

  // Shows: P25
  it('counts by the class of characters, not by bytes', () => {
    const bytes = (text: string) => Buffer.byteLength(text);
    const cost = (character: string) => estimateText(character.repeat(1000));
    expect(bytes('щ')).not.toBe(bytes('ท'));
    expect(cost('щ')).toBe(cost('ท'));
    expect(bytes('щ')).toBe(bytes('é'));
    expect(cost('щ')).not.toBe(cost('é'));
    expect(bytes('a')).toBe(bytes('7'));
    expect(cost('7')).toBeGreaterThan(2 * cost('a'));
  });

  it('counts a sum that is whole without rounding it up', () => {
    for (let times = 1; times <= 50; times += 1) expect(estimateText('a'.repeat(100 * times))).toBe(21 * times);
  });

  it('is zero for empty text and grows with every part', () => {
    expect(estimateText('')).toBe(0);
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const [whole, parts] = [estimateText(a + b), estimateText(a) + estimateText(b)];
        expect(whole).toBeLessThanOrEqual(parts);
        expect(whole).toBeGreaterThanOrEqual(parts - 1);
      }),
    );
  });

  it('takes about a microsecond for a message', () => {
    const text = 'Can we move the meeting to Thursday? I told Ada that Friday is not good for me.';
    for (let index = 0; index < 20_000; index += 1) estimateText(text);
    const before = threadCpuMs();
    for (let index = 0; index < 20_000; index += 1) estimateText(text);
    expect((threadCpuMs() - before) / 20_000).toBeLessThan(0.01);
  });
});

describe('the estimate of parts', () => {
  const result = (text: string): Part => ({
    kind: 'tool-result',
    callId: 'a',
    tool: 'look',
    text,
    isError: false,
    blob: null,
  });
  const image = (reference: string): Part => ({
    kind: 'attachment',
    name: 'a.png',
    mediaType: 'image/png',
    sizeBytes: 7_000_000,
    reference,
  });

  // Shows: A22
  it('has an overhead even for nothing', () => {
    expect(estimateParts([])).toBeGreaterThan(0);
  });

  // Shows: T7, P26
  it('grows with text, call inputs and results', () => {
    const base = estimateParts([{ kind: 'text', text: 'a' }]);
    expect(estimateParts([{ kind: 'text', text: 'a longer one' }])).toBeGreaterThan(base);
    const call: Part = {
      kind: 'tool-call',
      callId: 'a',
      tool: 'look',
      input: { code: 'const a = [1, 2];\n'.repeat(280) },
    };
    expect(estimateParts([call])).toBeGreaterThan(1400);
    expect(estimateParts([result('word '.repeat(1000))])).toBeGreaterThan(900);
  });

  // Shows: T8
  it('is flat for a file, whatever its reference holds', () => {
    const small = estimateParts([image('https://files.test/a')]);
    expect(estimateParts([image(`data:image/png;base64,${'A'.repeat(2_000_000)}`)])).toBe(small);
    expect(small).toBeLessThan(100);
  });

  // Shows: P27
  it('counts an image that is sent flat and much higher', () => {
    const sent = (url: string) =>
      estimateMessages([{ role: 'user', content: [{ kind: 'image', mediaType: 'image/png', url }] }]);
    expect(sent('https://a')).toBe(sent(`https://${'a'.repeat(5000)}`));
    expect(sent('https://a')).toBeGreaterThan(500);
  });

  // Shows: P26
  it('counts the label of a line', () => {
    const options = { stubBytes: null, textTokens: Number.POSITIVE_INFINITY, replySeq: () => null };
    const { tokens } = entryMessageOf(user(1, 'hi'), options);
    expect(tokens - estimateParts([{ kind: 'text', text: 'hi' }])).toBeGreaterThan(10);
  });

  // Shows: P26
  it('counts tools by name, description and schema', () => {
    const tool = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };
    const one = estimateTools([tool]);
    expect(estimateTools([tool, tool])).toBe(2 * one);
    expect(estimateTools([{ ...tool, description: 'Looks something up in the archive.' }])).toBeGreaterThan(one);
    expect(
      estimateTools([{ ...tool, inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }]),
    ).toBeGreaterThan(one);
    const messages = [{ role: 'assistant' as const, text: 'hi', calls: [] }];
    const request = { system: [{ text: 'be kind', cacheBreak: false }], messages, tools: [tool] };
    expect(estimateRequest(request)).toBeGreaterThan(estimateMessages(messages) + one);
  });
});

describe('what is learned from the provider', () => {
  const report = (fields: { estimated?: number; reported?: number; model?: string; revision?: number } = {}) => ({
    model: 'a:b',
    estimated: 1000,
    reported: 1200,
    revision: 3,
    ...fields,
  });

  it('keeps a margin until three samples are in', () => {
    let known: Calibration | null = null;
    expect(correctionFor({ calibration: known }, 'a:b')).toBeCloseTo(1.1);
    for (const expected of [1.32, 1.32, 1.2]) {
      known = learn(known, report());
      expect(correctionFor({ calibration: known }, 'a:b')).toBeCloseTo(expected);
    }
  });

  // Shows: O35
  it('follows the newest request more than those before it', () => {
    const settled: Calibration = { model: 'a:b', ratio: 1, samples: 9, lastInputTokens: 1, revision: 1 };
    expect(learn(settled, report())?.ratio).toBeCloseTo(1.14);
  });

  // Shows: S6, T9
  it('is near the truth within three replies, and stays there', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.7, max: 2, noNaN: true }),
        fc.array(fc.integer({ min: 100, max: 90_000 }), { minLength: 4, maxLength: 20 }),
        (truth, sizes) => {
          let known: Calibration | null = null;
          sizes.forEach((estimated, index) => {
            const reported = Math.round(estimated * truth);
            if (index >= 3)
              expect(
                Math.abs(estimated * correctionFor({ calibration: known }, 'a:b') - reported) / reported,
              ).toBeLessThan(0.02);
            known = learn(known, report({ estimated, reported }));
          });
        },
      ),
    );
  });

  it('takes a reported zero for unreported', () => {
    expect(learn(null, report({ reported: 0 }))).toBeNull();
    const known = learn(null, report());
    expect(learn(known, report({ reported: 0 }))).toBe(known);
  });

  it('ignores the count of a provider that cut silently', () => {
    expect(learn(null, report({ reported: 10 }))?.ratio).toBeCloseTo(0.6);
    expect(learn(null, report({ reported: 90_000 }))?.ratio).toBeCloseTo(5);
  });

  it('follows a tokenizer that hardly knows the script', () => {
    expect(learn(null, report({ reported: 4500 }))?.ratio).toBeCloseTo(4.5);
  });

  it('starts over with another model', () => {
    const known = learn(learn(null, report()), report());
    expect(correctionFor({ calibration: known }, 'c:d')).toBeCloseTo(1.1);
    expect(learn(known, report({ model: 'c:d', reported: 900 }))).toMatchObject({
      model: 'c:d',
      ratio: 0.9,
      samples: 1,
    });
  });

  it('shows no count of an older view or another model', () => {
    const known = learn(null, report());
    expect(lastReported(known, { model: 'a:b', revision: 3 })).toBe(1200);
    expect(lastReported(known, { model: 'a:b', revision: 4 })).toBeNull();
    expect(lastReported(known, { model: 'c:d', revision: 3 })).toBeNull();
    expect(lastReported(null, { model: 'a:b', revision: 3 })).toBeNull();
  });
});

describe('the meter', () => {
  const regions = { fixed: 500, stack: 300, tail: 1000, volatile: 100 };

  // Shows: P2
  it('adds up, keeping room for the answer uncorrected', () => {
    const { used, ratio, estimated, ...rest } = measure(
      regions,
      profile({ windowTokens: 4000, reserveTokens: 400 }),
      1.5,
    );
    expect(used).toBe(rest.fixed + rest.stack + rest.tail + rest.volatile + rest.reserve);
    expect(rest).toMatchObject({ fixed: 750, stack: 450, tail: 1500, volatile: 150, reserve: 400, window: 4000 });
    expect(ratio).toBeCloseTo(used / 4000);
    expect(estimated).toBe(true);
  });

  // Shows: O18
  it('is exact once the provider has counted', () => {
    const measured = measure(regions, profile(), 1);
    expect(withReported(measured, 3500, profile())).toMatchObject({ used: 3900, estimated: false, tier: 'emergency' });
    expect(withReported(measured, 0, profile())).toBe(measured);
  });

  // Shows: S5
  it('reaches a tier exactly at its threshold', () => {
    const { thresholds } = profile();
    expect([0.79, 0.8, 0.85, 0.95, 1.4].map((ratio) => tierOf(ratio, thresholds))).toEqual([
      'none',
      'background',
      'aggressive',
      'emergency',
      'emergency',
    ]);
  });
});
