import { isUnspaced } from '../../../src/adapter-kit.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Loads dictionaries, so it is made when it is needed. */
let words: Intl.Segmenter | null = null;
/** The end of the window in which to look for the end of a word. Words of scripts without spaces are shorter. */
const LOOKED_AT = 120;
/** A word that begins before that is cut there, so the first ends may be wrong. */
const UNSURE = 60;

/**
 * Where to cut between two visible characters of `text`, a part that starts at the index `from` of the whole. The last
 * are the best: in scripts without spaces, those between two words.
 */
export function graphemeCuts(text: string, from: number): readonly number[] {
  // Half of a surrogate pair would count as a character of its own, and hide that the one before it goes on.
  const window = text.slice(0, windowEnd(text, 0));
  const ends = Array.from(graphemes.segment(window), ({ index, segment }) => from + index + segment.length);
  // The window may end inside the last character.
  const cuts = ends.slice(0, -1);
  const start = cuts.findLast((at) => at - from <= window.length - LOOKED_AT);
  if (start === undefined || !isUnspaced(window.slice(start - from))) return cuts;
  words ??= new Intl.Segmenter('en', { granularity: 'word' });
  const between = new Set(Array.from(words.segment(window.slice(start - from)), ({ index }) => start + index));
  return [...cuts, ...cuts.filter((at) => at >= start + UNSURE && between.has(at))];
}

/** The end of the window, without half of a surrogate pair. */
export function windowEnd(window: string, from: number): number {
  const last = window.charCodeAt(window.length - 1);
  const isHalf = window.length > 1 && last >= 0xd800 && last <= 0xdbff;
  return from + window.length - (isHalf ? 1 : 0);
}
