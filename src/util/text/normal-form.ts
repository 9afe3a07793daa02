/**
 * To normalise a letter, its marks are sorted, which takes as long as the square of their number. No language has as
 * many as Unicode's own limit for streams.
 */
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu;
/** Shorter texts are quick, whatever is in them. */
const SHORT = 500;

/** `String.normalize` in linear time. Marks that no letter needs are dropped. */
export function normalForm(text: string, form: 'NFC' | 'NFD' | 'NFKC'): string {
  return (text.length <= SHORT ? text : text.replace(MANY_MARKS, '$1')).normalize(form);
}
