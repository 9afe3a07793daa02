import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDraft, draftWithoutLabel, withoutOwnLabel } from '../../../src/conversation/turn/loop/own-label.ts';
import { cleanText } from '../../../src/util/text/text.ts';

describe('a label before an answer', () => {
  it.each([
    ['[#12 | 2026-11-20 Fri 10:00 | Ada] Hello', 'Hello'],
    ['[#12 | 2026-11-20 Fri 10:00 | <you> | reply to #9]\nHello', 'Hello'],
    ['assistant: Hello', 'Hello'],
    ['Assistant: Hello', 'Hello'],
    ['<you>: Hello', 'Hello'],
  ])('%j is left out', (answer, said) => {
    expect(withoutOwnLabel(answer)).toBe(said);
    const drafts = Array.from(answer, (_, at) => draftWithoutLabel(answer.slice(0, at + 1)));
    expect(drafts.at(-1)).toBe(said);
    expect(drafts.some((draft) => draft.includes('[#'))).toBe(false);
  });

  it('shows in no draft what the answer leaves out', () => {
    const label = '[#12 | 2026-11-20 Fri 10:00 | Ada]';
    const heads = [label, `${label} `, 'assistant:', 'Assistant: ', '<you>:\n', '<you>', 'assist', '[#12', '[', ''];
    const before = ['', ' ', '\n'.repeat(12), '\u0007', '\u0000 \u0000', '\u0000'.repeat(500)];
    const rests = ['Hello', ' \n\nHello', 'User: I am lost.', '\nUser: lost\nassistant: found', '😀'.repeat(300), ''];
    const answer = fc.tuple(...[before, heads, heads, rests].map((texts) => fc.constantFrom(...texts)));
    fc.assert(
      fc.property(answer, (parts) => {
        const text = parts.join('');
        const said = withoutOwnLabel(cleanText(text).trim());
        let written = '';
        for (const character of text) {
          written += character;
          const draft = cleanText(draftWithoutLabel(written)).trim();
          if (!said.startsWith(draft)) expect(said.replace(/^(?:assistant|<you>):\s*/i, '')).toContain(draft);
        }
      }),
    );
  });

  it('is left out of drafts that grow, and begin anew', () => {
    const unit = fc.constantFrom(
      '[#12 | 2026-11-20 Fri 10:00 | Ada] ',
      'assistant: ',
      ' ',
      'Hello',
      'x'.repeat(399),
      '😀',
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), fc.array(unit, { maxLength: 12 }), (first, second) => {
        const draft = createDraft();
        for (const pieces of [first, second]) {
          let written = '';
          for (const piece of pieces) {
            written += piece;
            expect(draft(written, piece)).toBe(draftWithoutLabel(written));
          }
        }
      }),
    );
  });

  it.each([
    'Assistant: How can I help?\nUser: I am lost.\nAssistant: Tell me more.',
    '[#12] is the first issue.',
    '[1, 2] is a list',
    'The label was `[#12 | 2026-11-20 Fri 10:00 | Ada]`.',
    'Assistants: Ada and Ben',
    '```\n[#12 | 2026-11-20 Fri 10:00 | Ada] Hello\n```',
  ])('%j is kept', (answer) => {
    expect(withoutOwnLabel(answer)).toBe(answer);
  });
});
