const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Where a text may be cut between two visible characters of `window`, which starts at the index `from` of the text. */
export function graphemeCuts(window: string, from: number): readonly number[] {
  const ends = Array.from(graphemes.segment(window), ({ index, segment }) => from + index + segment.length);
  // The window may end inside the last character.
  return ends.slice(0, -1);
}

/** The end of the window, without half of a surrogate pair. */
export function windowEnd(window: string, from: number): number {
  const last = window.charCodeAt(window.length - 1);
  const isHalf = window.length > 1 && last >= 0xd800 && last <= 0xdbff;
  return from + window.length - (isHalf ? 1 : 0);
}
