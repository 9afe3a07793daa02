/**
 * Other inflections of a word, without knowing its language: most languages inflect at the end, so forms of one word
 * begin alike. English is left to its stemmer.
 */

/** Letters that two forms share at least. Scripts that write few vowels need fewer. */
const SHARED = 4;
const SHARED_DENSE = 3;
/** The longer beginning is rarer, and shared by the forms of most longer words. */
const BEGINNINGS = 2;
/** Two forms share at least this much of the shorter one. */
const MIN_SHARE = 0.55;
/** In a language with short endings, they share at least this much of both. */
const MIN_SHARE_OF_BOTH = 0.6;

const MARKS = /[\u0300-\u036f]/g;
const ASCII = /^[ -~]*$/;
/** Han characters and Hangul syllables have no removable marks. */
const UNMARKED = /^[\u3400-\u9fff\uac00-\ud7a3]*$/;
/** Hebrew, Arabic and the scripts of India. */
const DENSE = /[\u0590-\u077f\u0900-\u0dff]/;
/** The Arabic article, with the words that are written together with it. */
const ARTICLE = /^[وف]?(?:[بك]?ال|لل)(?=..)/u;
const DIGIT = /\p{Nd}/u;
/** A Korean noun of one syllable or a Japanese one of one character, and the particle that follows it. */
const PARTED = /^(?:[\uac00-\ud7a3][은는이가을를에의도만와과로]|\p{sc=Han}[はがをにでとのもへ])$/u;
/** Japanese characters that are a word of their own, with a particle. */
const LONE = /(?<!\p{sc=Han})(?![何誰私僕俺君彼今])\p{sc=Han}[はがをにでとのもへ]/gu;

/** Without decorating marks. */
export function withoutMarks(word: string): string {
  if (ASCII.test(word) || UNMARKED.test(word)) return word;
  return word.normalize('NFD').replace(MARKS, '').normalize('NFC');
}

/** What other forms of the word are compared with. */
export function formOf(word: string): string {
  return ASCII.test(word) ? word : withoutMarks(word).replace(ARTICLE, '');
}

/** The beginnings that a word shares with its other forms, shortest first; none for short words. */
export function sharedBeginnings(word: string): readonly string[] {
  if (word.length <= SHARED_DENSE || DIGIT.test(word)) return [];
  const form = formOf(word);
  const shortest = sharedBy(form);
  const longest = Math.min(shortest + BEGINNINGS - 1, form.length);
  const beginnings: string[] = [];
  for (let length = shortest; length <= longest; length += 1) {
    // A whole word is found as it is.
    if (length < word.length) beginnings.push(form.slice(0, length));
  }
  return beginnings;
}

/** Whether two forms may be of the same word. */
export function isInflection(one: string, other: string, hasShortEndings: boolean): boolean {
  const shorter = Math.min(one.length, other.length);
  if (shorter === 2) return isParticleChange(one, other);
  let shared = 0;
  while (shared < shorter && one.charCodeAt(shared) === other.charCodeAt(shared)) shared += 1;
  if (shared < sharedBy(one) || shared < MIN_SHARE * shorter || DIGIT.test(one)) return false;
  return !hasShortEndings || 2 * shared >= MIN_SHARE_OF_BOTH * (one.length + other.length);
}

/** A Korean or Japanese noun of one character without its particle; null for other words. */
export function partedNoun(word: string): string | null {
  return word.length === 2 && PARTED.test(word) ? word.slice(0, 1) : null;
}

/** Nouns of one character with their particles in a text without spaces. */
export function loneNouns(text: string): readonly string[] {
  return text.match(LONE) ?? [];
}

function sharedBy(word: string): number {
  return !ASCII.test(word) && DENSE.test(word) ? SHARED_DENSE : SHARED;
}

function isParticleChange(one: string, other: string): boolean {
  return one.length === 2 && other.length === 2 && one[0] === other[0] && PARTED.test(one) && PARTED.test(other);
}
