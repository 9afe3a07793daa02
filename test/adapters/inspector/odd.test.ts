import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saidText, shownTexts } from '../../../adapters/inspector/web/markup/shown-text.ts';
import { conversationPath, makeKey } from '../../../src/adapter-kit.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

/** Pages with unusual texts and names. */

const MAX_PAGE_BYTES = 200_000;
const NAMES = ['<img src=x onerror=alert(1)>', 'أحمد', '\u202Eadmin', 'U'.repeat(300)];
const key = makeKey({ platform: 'test', workspace: 'here', channel: 'long' });
const path = conversationPath(key);

let inspected: InspectorWorld;

beforeAll(async () => {
  inspected = await createInspectorWorld({
    models: [scriptedModel(() => ({ text: 'รหัสประตูคือ 4711 "quoted" & <b>bold</b>. '.repeat(400) }))],
    agent: { context_window: 1_000_000 },
  });
  const texts = ['The code is 4711. '.repeat(5600), 'รหัสประตูคือ 4711 '.repeat(3000), '"<&>" '.repeat(10_000)];
  for (let index = 0; index < 24; index += 1) {
    const author = { id: `u${index % 4}`, name: NAMES[index % 4] ?? '', kind: 'person' } as const;
    await inspected.world.say(`${index} ${texts[index % 3]}`, { author, key, asks: index > 21 });
    await inspected.world.settled();
  }
});
afterAll(async () => {
  await inspected[Symbol.asyncDispose]();
});

describe('a page over very long messages', () => {
  it.each([
    ['the conversation', path],
    ['a past moment', `${path}?at=3`],
    ['the next request', `${path}/context`],
    ['a reply', `${path}/r/26`],
    ['the transcript prompt', `/settings/prompts/main/transcript?conversation=${encodeURIComponent(key)}`],
  ])('%s stays small, and says so', async (_, address) => {
    const text = await inspected.page(address);
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_PAGE_BYTES);
    expect(text).toMatch(/… [\d,]+ more characters/u);
    expect(text).not.toContain('<img src=x');
  });

  it('the request as JSON is whole', async () => {
    const text = await inspected.page(`${path}/r/26/request.json`);
    expect(text.length).toBeGreaterThan(1_000_000);
  });
});

describe('texts that share a page', () => {
  it('fold the end of a long one, and only that', () => {
    const show = (text: string) => String(saidText({ text, more: 0 }));
    expect(show('a\nb')).toBe('<p class="said">a\nb</p>');
    for (const long of ['x'.repeat(5000), 'line\n'.repeat(200)]) {
      const [head = '', rest = ''] = show(long).split('<details>');
      expect(head.length).toBeLessThan(2100);
      expect(rest).toContain('more characters of this message');
      expect(show(long).replaceAll(/<summary.*?<\/summary>|<[^>]*>/gu, '')).toBe(long);
    }
  });

  it('are whole where there is room', () => {
    expect(shownTexts(['one', 'two'], { bytes: 6 })).toEqual([
      { text: 'one', more: 0 },
      { text: 'two', more: 0 },
    ]);
    const [short, long] = shownTexts(['short', 'x'.repeat(100)], { bytes: 50 });
    expect(short?.more).toBe(0);
    expect(long).toEqual({ text: 'x'.repeat(45), more: 55 });
  });

  it('never exceed the room or break a character', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.constant('"&<'.repeat(80)));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.nat(2000), (texts, bytes) => {
        const shown = shownTexts(texts, { bytes });
        const sent = shown.reduce(
          (sum, { text: head }) => sum + Buffer.byteLength(head) + 5 * (head.match(/[&<>"']/gu)?.length ?? 0),
          0,
        );
        expect(sent).toBeLessThanOrEqual(bytes);
        for (const [index, { text: head, more }] of shown.entries()) {
          // A character that does not fit is cut.
          expect(texts[index]?.startsWith(head.replace(/\uFFFD$/u, ''))).toBe(true);
          expect(head.length + more).toBe(texts[index]?.length);
        }
      }),
    );
  });
});
