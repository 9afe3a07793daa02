import { fingerprintOf, isNearDuplicate, meaningOf, NEAR, numbersOf } from './fingerprint.ts';
import { negationsOf } from './negations.ts';

/** Text of one sense in other words shares its rare words with few others. */
const MAX_COMPARED = 50;
/** Fractions such as 0.2 are not exact. */
const MARGIN = 1e-9;

/**
 * Whether one of many texts is a near duplicate of another text, without a comparison with all of them. Texts that share
 * 80 % of their words also share one of the rarest 20 % and one more, so each is indexed by these words alone, with
 * what must be equal.
 */
export function createNearDuplicates(texts: readonly string[]): (text: string) => boolean {
  const frequency = new Map<string, number>();
  for (const text of texts) for (const word of meaningOf(text)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const keysOf = (text: string): readonly string[] => {
    const words = [...meaningOf(text)];
    // Any order will do that is the same for all texts.
    words.sort((a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || (a < b ? -1 : 1));
    const rare = words.slice(0, Math.floor((1 - NEAR) * words.length + MARGIN) + 1);
    const equal = `${negationsOf(text)} ${[...numbersOf(text)].sort().join(' ')}`;
    return [fingerprintOf(text), ...rare.map((word) => `${word} ${equal}`)];
  };
  const index = new Map<string, string[]>();
  for (const text of texts) {
    for (const key of keysOf(text)) {
      const same = index.get(key);
      if (same === undefined) index.set(key, [text]);
      else same.push(text);
    }
  }
  return (text) => {
    const alike = new Set(keysOf(text).flatMap((key) => index.get(key)?.slice(0, MAX_COMPARED) ?? []));
    return [...alike].slice(0, MAX_COMPARED).some((one) => isNearDuplicate(one, text));
  };
}
