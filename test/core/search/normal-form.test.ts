import { expect, it } from 'vitest';
import { normalForm } from '../../../src/util/text/normal-form.ts';

it('keeps the marks of long texts in any language', () => {
  const text = 'Việt Nam, żółć, שָׁלוֹם, नमस्ते, ﷺ, n̴̩̊o̷͚͐i̸̮̓s̵̱͗e̷͙͝. '.repeat(40);
  for (const form of ['NFC', 'NFD', 'NFKC'] as const) expect(normalForm(text, form)).toBe(text.normalize(form));
});

it('drops the marks that no letter needs', () => {
  expect(normalForm(`a${'\u0301\u0323'.repeat(20_000)}b`, 'NFC').length).toBeLessThan(40);
});
