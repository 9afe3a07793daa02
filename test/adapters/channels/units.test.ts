import { expect, it } from 'vitest';
import { unitsOf } from '../../../adapters/channels/shared/units.ts';
import { cpuMsOf } from '../../support/cpu.ts';

const LENGTH = 200_000;
const RUNS = 5;
/** Under 2 if each beginning is searched up to the next one; 50 if each is searched as far as an address may reach. */
const MAX_TIMES = 10;

/** The best time for a text that repeats the part. */
function msFor(part: string): number {
  const text = part.repeat(LENGTH / part.length);
  return Math.min(...Array.from({ length: RUNS }, () => cpuMsOf(() => unitsOf(text, { bold: true, mentions: true }))));
}

it('beginnings of bracketed addresses cost what other text costs', () => {
  expect(msFor('<https://)') / msFor('<httpx://)')).toBeLessThan(MAX_TIMES);
});
