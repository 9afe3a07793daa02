/**
 * Words of any script, for fingerprints, similarity and search. Runs of scripts that put no spaces between words, or glue
 * particles to them, become overlapping pairs of characters: unlike a dictionary these need no language and never change
 * with a version.
 */

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII = /^[\t\n\r -~]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Bopo}\p{sc=Hang}]/u;
const RUNS = new RegExp(`${UNSPACED.source}+|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

/**
 * Compatibility forms united and case folded; marks that only decorate Latin letters stay. Lower case comes first too,
 * because the capital ẞ is its own upper case, while that of the small one is SS.
 */
export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/**
 * The folded words in their order, as written: nothing is cut into pairs, and an apostrophe joins what stands around it.
 * Fingerprints that are stored depend on it.
 */
export function wordsOf(text: string): string[] {
  if (isAscii(text)) return text.toLowerCase().replaceAll("'", '').match(ASCII_WORD) ?? [];
  return fold(text).replace(/['’ʼ]/gu, '').match(WORD) ?? [];
}

/**
 * The folded words in their order, unspaced scripts as pairs of characters. An apostrophe parts them ("l'hôtel",
 * "Lizbon'a"), but for the endings of English ("Ada's", "don't").
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

const APOSTROPHE = /['’ʼ]/gu;
const APOSTROPHED = /[\p{L}\p{N}\p{M}']+/gu;
/** After an apostrophe they belong to the word before it, as "t" does after an n. */
const ENGLISH_ENDINGS = new Set(['s', 're', 've', 'll', 'd', 'm']);

function partedWordsOf(text: string): string[] {
  if (!APOSTROPHE_ANYWHERE.test(text)) return wordsOf(text);
  const folded = (isAscii(text) ? text.toLowerCase() : fold(text)).replace(APOSTROPHE, "'");
  return (folded.match(APOSTROPHED) ?? []).flatMap((word) => (word.includes("'") ? partsOf(word) : [word]));
}

const APOSTROPHE_ANYWHERE = /['’ʼ＇ŉ]/u;

function partsOf(word: string): string[] {
  const parts = word.split("'").filter((part) => part !== '');
  const [last = '', before = ''] = parts.toReversed();
  const isEnding = ENGLISH_ENDINGS.has(last) || (last === 't' && before.endsWith('n'));
  return parts.length > 1 && isEnding ? [...parts.slice(0, -2), before + last] : parts;
}

/** Words that an apostrophe parts, written without it: people leave it out. */
export function joinedWordsOf(text: string): string[] {
  if (!APOSTROPHE_ANYWHERE.test(text)) return [];
  const folded = fold(text).replace(APOSTROPHE, "'");
  const parted = (folded.match(APOSTROPHED) ?? []).filter((word) => word.includes("'") && partsOf(word).length > 1);
  return parted.map((word) => word.replaceAll("'", ''));
}

/** Most text, and much faster to read. */
function isAscii(text: string): boolean {
  return ASCII.test(text);
}

function pushRun(tokens: string[], run: string): void {
  const characters = [...run];
  if (!UNSPACED.test(run) || characters.length === 1) tokens.push(run);
  else for (let i = 0; i + 1 < characters.length; i++) tokens.push(`${characters[i]}${characters[i + 1]}`);
}
