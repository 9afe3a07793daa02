import { expect, it } from 'vitest';
import { isOwnPast, kindsAskedFor } from '../../../src/search/ranking/asked-kinds.ts';
import { readQuestion } from '../../../src/search/ranking/question.ts';

it.each([
  ['Quelle est la clé ?', 'code'],
  ['Şifre neydi?', 'code'],
  ['Ile to kosztował?', 'number'],
  ['Co obiecał?', 'promise'],
  ['Qué prometí?', 'promise'],
  ['What was the code?', 'code'],
])('%s asks for a %s', (question, kind) => {
  expect([...kindsAskedFor(question)]).toContain(kind);
});

it('finds words only whole', () => {
  expect([...kindsAskedFor('Le cléricalisme et le décodeur')]).toEqual([]);
  expect(isOwnPast('Qui était là ?')).toBe(true);
  expect(isOwnPast('une métairie, un étaitement')).toBe(false);
});

it('recognises a reason in Portuguese at the end', () => {
  expect(readQuestion('A festa foi adiada, por quê?').asksWhy).toBe(false);
  expect(readQuestion('As folhas caem por quê?').asksWhy).toBe(true);
});
