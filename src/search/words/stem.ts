/**
 * Porter's suffix stripping for English words (M. F. Porter, 1980). The full-text indexes contain these stems, so a change
 * must rebuild them. Words of other scripts are returned unchanged.
 */
const C = '[^aeiou]';
const V = '[aeiouy]';
const CONSONANTS = `${C}[^aeiouy]*`;
const VOWELS = `${V}[aeiou]*`;
const MEASURE_POSITIVE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}`);
const MEASURE_ONE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}(?:${VOWELS})?$`);
const MEASURE_ABOVE_ONE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`);
const HAS_VOWEL = new RegExp(`^(?:${CONSONANTS})?${V}`);
const SHORT_END = new RegExp(`^${CONSONANTS}${V}[^aeiouwxy]$`);
const DOUBLE = /([^aeiouylsz])\1$/;

const STEP_2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
];
const STEP_3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const STEP_4 = /(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/;

/** In each of the two maps. When the recent one is full, words that were not needed since the last time are dropped. */
const CACHED_WORDS = 10_000;
let recent = new Map<string, string>();
let earlier = new Map<string, string>();

/** `stem` with a bounded cache, because texts repeat their words. */
export function cachedStem(word: string): string {
  const known = recent.get(word);
  if (known !== undefined) return known;
  if (!isStemmed(word)) return word;
  if (recent.size >= CACHED_WORDS) {
    earlier = recent;
    recent = new Map();
  }
  const stemmed = earlier.get(word) ?? stem(word);
  recent.set(word, stemmed);
  return stemmed;
}

/** What every word with this stem begins with: only the last letter of a stem may differ, and "bility" becomes "ble". */
export function beginningOf(stemmed: string): string {
  return stemmed.replace(/(?<=.)(?:(?<=b)le?|.)$/u, '');
}

export function stem(word: string): string {
  if (!isStemmed(word)) return word;
  const marked = word.startsWith('y') ? `Y${word.slice(1)}` : word;
  const stripped = stripEnd(stripSuffixes(stripInflection(marked)));
  return stripped.startsWith('Y') ? `y${stripped.slice(1)}` : stripped;
}

/** None of the rules below changes a word that ends otherwise. */
const CHANGEABLE = /^[a-z]{2,}[cdegilmnrstuy]$/;

function isStemmed(word: string): boolean {
  return CHANGEABLE.test(word);
}

/** Plurals, -ed and -ing, final y. */
function stripInflection(word: string): string {
  const singular = word.endsWith('ss') ? word : word.replace(/(ss|i)es$/, '$1').replace(/([^s])s$/, '$1');
  const bare = stripPast(singular);
  return bare.endsWith('y') && HAS_VOWEL.test(bare.slice(0, -1)) ? `${bare.slice(0, -1)}i` : bare;
}

function stripPast(word: string): string {
  if (word.endsWith('eed')) return MEASURE_POSITIVE.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const base = /^(.*)(?:ed|ing)$/.exec(word)?.[1];
  if (base === undefined || !HAS_VOWEL.test(base)) return word;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (DOUBLE.test(base)) return base.slice(0, -1);
  return SHORT_END.test(base) ? `${base}e` : base;
}

function stripSuffixes(word: string): string {
  const second = replaceSuffix(word, STEP_2);
  const third = replaceSuffix(second, STEP_3);
  const base = third.replace(STEP_4, '');
  return base !== third && MEASURE_ABOVE_ONE.test(base) ? base : third;
}

function replaceSuffix(word: string, table: readonly (readonly [string, string])[]): string {
  for (const [suffix, by] of table) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    return MEASURE_POSITIVE.test(base) ? base + by : word;
  }
  return word;
}

/** A final e, and the second l of two. */
function stripEnd(word: string): string {
  const base = word.slice(0, -1);
  const dropsE =
    word.endsWith('e') && (MEASURE_ABOVE_ONE.test(base) || (MEASURE_ONE.test(base) && !SHORT_END.test(base)));
  const bare = dropsE ? base : word;
  return bare.endsWith('ll') && MEASURE_ABOVE_ONE.test(bare) ? bare.slice(0, -1) : bare;
}
