import { normalForm } from '../../util/text/normal-form.ts';

/**
 * Words of any script, for fingerprints, similarity and search. Runs of scripts without spaces, or with attached
 * particles, become overlapping pairs of characters. Unlike a dictionary, this needs no language and never changes with
 * a version.
 */

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII = /^[\t\n\r -~]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
/** Includes signs that several of these scripts share, such as the mark for long vowels in Japanese. Digits are no words. */
const UNSPACED =
  /(?!\p{Nd})[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Lana}\p{sc=Java}\p{scx=Bopo}\p{scx=Hang}]/u;
/** Ignored inside words: soft hyphens, joiners and others without a width, and Armenian marks above a vowel. */
const UNSEEN = /\p{Cf}|[\u055b\u055c\u055e]|[\u034f\u20e3\ufe00-\ufe0f]/gu;
const RUNS = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

/**
 * Unifies compatibility forms and case; marks that only decorate Latin letters stay. Lower-cases first, because the
 * capital ẞ is its own upper case, but that of the small ß is SS.
 */
export function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return normalForm(text, 'NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/**
 * The folded words in order, as written: nothing is split into pairs, and an apostrophe joins the letters around it.
 * Stored fingerprints depend on this.
 */
export function wordsOf(text: string): string[] {
  if (isAscii(text)) return text.toLowerCase().replaceAll("'", '').match(ASCII_WORD) ?? [];
  return fold(text).replace(/['’ʼ]/gu, '').match(WORD) ?? [];
}

/**
 * The folded words in order, with unspaced scripts as pairs of characters. An apostrophe splits them ("l'hôtel",
 * "Lizbon'a"), except for English endings ("Ada's", "don't").
 */
export function tokensOf(text: string): string[] {
  const parted = partedWordsOf(text);
  if (isAscii(text)) return parted;
  const tokens: string[] = [];
  for (const word of parted) {
    if (!UNSPACED.test(word)) tokens.push(word);
    else for (const run of word.match(RUNS) ?? []) pushRun(tokens, run);
  }
  return tokens;
}

/** Whether a token is of a script without spaces, or with attached particles. */
export function isUnspaced(token: string): boolean {
  return UNSPACED.test(token);
}

/** With the signs that people type for an apostrophe. */
const APOSTROPHE = /['’ʼ‘ʻ]/gu;
/** Compatibility forms would make a space and a mark of it. */
const ACUTE = '´';
const APOSTROPHED = /[\p{L}\p{N}\p{M}']+/gu;
/** After an apostrophe, these belong to the word before it, as "t" does after an n. */
const ENGLISH_ENDINGS = new Set(['s', 're', 've', 'll', 'd', 'm']);

function partedWordsOf(text: string): string[] {
  const seen = withoutUnseen(text);
  if (!APOSTROPHE_ANYWHERE.test(seen)) return wordsOf(seen);
  const folded = foldApostrophes(seen);
  return (folded.match(APOSTROPHED) ?? []).flatMap((word) => (word.includes("'") ? partsOf(word) : [word]));
}

function withoutUnseen(text: string): string {
  return isAscii(text) ? text : text.replace(UNSEEN, '');
}

const APOSTROPHE_ANYWHERE = /['’ʼ‘ʻ´＇ŉ]/u;

function foldApostrophes(text: string): string {
  return fold(text.replaceAll(ACUTE, "'")).replace(APOSTROPHE, "'");
}

/** What an apostrophe splits a folded word into. */
export function partsOf(word: string): readonly string[] {
  const parts = word.split("'").filter((part) => part !== '');
  const [last = '', before = ''] = parts.toReversed();
  const isEnding = ENGLISH_ENDINGS.has(last) || (last === 't' && before.endsWith('n'));
  return parts.length > 1 && isEnding ? [...parts.slice(0, -2), before + last] : parts;
}

/** Words that an apostrophe splits, written without it, because people leave it out. */
export function joinedWordsOf(text: string): string[] {
  if (!APOSTROPHE_ANYWHERE.test(text)) return [];
  const folded = foldApostrophes(withoutUnseen(text));
  const parted = (folded.match(APOSTROPHED) ?? []).filter((word) => word.includes("'") && partsOf(word).length > 1);
  return parted.map((word) => word.replaceAll("'", ''));
}

/** Most texts, and much faster to read. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

function pushRun(tokens: string[], run: string): void {
  const characters = [...run];
  if (!UNSPACED.test(run) || characters.length === 1) tokens.push(run);
  else for (let i = 0; i + 1 < characters.length; i++) tokens.push(`${characters[i]}${characters[i + 1]}`);
}
