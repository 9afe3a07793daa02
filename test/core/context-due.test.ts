import { expect, it } from 'vitest';
import { MIN_GAIN } from '../../src/context/depth.ts';
import { isDue } from '../../src/context/due.ts';
import { profile, snapshot, user } from '../fixtures/context.ts';

const text = (tokens: number) => 'a'.repeat(Math.floor(tokens / 0.21));

/** Two messages, of which only the first can leave. */
const withFirstOf = (tokens: number) =>
  snapshot([user(1, text(tokens), { tokens }), user(2, text(5000), { tokens: 5000 })]);

it('a cut that frees too little is not due', () => {
  const settings = profile({ windowTokens: 10_000 });
  const least = MIN_GAIN * settings.windowTokens;
  expect(isDue(settings, withFirstOf(least / 4), 'background')).toBe(false);
  expect(isDue(settings, withFirstOf(least * 2), 'background')).toBe(true);
  expect(isDue(settings, withFirstOf(least * 2), 'none')).toBe(false);
});
