/**
 * Text that is the same in every run: words of a made-up vocabulary by Zipf's law, from a seeded generator. None of
 * its messages asks about the past, which would search the conversation.
 */
export interface WordSource {
  /** 0 <= x < 1. */
  next(): number;
  word(): string;
  text(words: number): string;
}

const VOCABULARY = 20_000;
const SYLLABLES = [
  'ba',
  'co',
  'di',
  'fer',
  'gan',
  'hel',
  'jo',
  'kel',
  'lu',
  'mun',
  'nor',
  'pa',
  'ri',
  'sol',
  'tu',
  'ven',
];

export function createWords(seed: number): WordSource {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  // The inverse of the harmonic sum, which grows with the logarithm of the rank.
  const word = () => wordOf(Math.floor(VOCABULARY ** next()) - 1);
  return { next, word, text: (words) => Array.from({ length: words }, word).join(' ') };
}

function wordOf(rank: number): string {
  let rest = rank + SYLLABLES.length;
  let text = '';
  while (rest > 0) {
    text += SYLLABLES[rest % SYLLABLES.length] ?? '';
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return text;
}
