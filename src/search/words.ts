/**
 * Words of any script, for fingerprints, similarity and search. Runs of scripts that put no spaces between words become
 * overlapping pairs of characters: unlike a dictionary these need no language and never change with a version.
 */

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII = /^[\t\n\r -~]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Bopo}]/u;
const RUNS = new RegExp(`${UNSPACED.source}+|(?:(?!${UNSPACED.source})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

/**
 * Compatibility forms united and case folded; marks that only decorate Latin letters stay. Lower case comes first too,
 * because the capital ẞ is its own upper case, while that of the small one is SS.
 */
export function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** The folded words in their order, as written: nothing is cut into pairs. */
export function wordsOf(text: string): string[] {
  if (isAscii(text)) return text.toLowerCase().replaceAll("'", '').match(ASCII_WORD) ?? [];
  return fold(text).replace(/['’ʼ]/gu, '').match(WORD) ?? [];
}

/** The folded words in their order, unspaced scripts as pairs of characters. */
export function tokensOf(text: string): string[] {
  if (isAscii(text)) return wordsOf(text);
  const tokens: string[] = [];
  for (const word of wordsOf(text)) {
    if (!UNSPACED.test(word)) tokens.push(word);
    else for (const run of word.match(RUNS) ?? []) pushRun(tokens, run);
  }
  return tokens;
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
