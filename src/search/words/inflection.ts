import { plainSpelling } from './plain-spelling.ts';

/**
 * Other inflections of a word, without knowing its language: most languages inflect at the end, so forms of one word
 * begin alike. Some write short words together with the next one, and many write compounds. English is left to its
 * stemmer.
 */

/** Letters that two forms share at least. Scripts that write few vowels need fewer. */
const SHARED = 4;
const SHARED_DENSE = 3;
/** A word of three letters has forms of up to this length. */
const SHORT = 5;
/** The longer beginning is rarer, and shared by the forms of most longer words. */
const BEGINNINGS = 2;
/** Two forms share at least this much of the shorter one. */
const MIN_SHARE = 0.55;
/** In a language with short endings, they share at least this much of both. */
const MIN_SHARE_OF_BOTH = 0.6;

/** The last word of a compound begins after at least `PART_FROM` letters. Its first `PART` letters are indexed. */
export const PART_FROM = 3;
const PART = 5;
const MIN_PART = 4;
/** Shorter words are too short to consist of two. */
export const MIN_COMPOUND = PART_FROM + PART;

const ASCII = /^[ -~]*$/;
/** Hebrew, Arabic, the scripts of India, and Ethiopic. */
const DENSE = /[\u0590-\u077f\u0900-\u0dff\u1200-\u137f]/;
/** The Arabic article, with the words that are written together with it. */
const ARTICLE = /^[وف]?(?:[بك]?ال|لل)(?=..)/u;
/** Prepositions, conjunctions and articles of one letter that Arabic, Hebrew and Amharic write together with a word. */
const PROCLITICS = /^(?:[وفبكل]+|[הובכלמש]+|[የበለከ]+)(?=.{3})/u;
/** Umlauts as typed on a keyboard without them. */
const DIGRAPHS = /(?<=[aou])e/g;
const DIGIT = /\p{Nd}/u;
/** A Korean noun of one syllable or a Japanese one of one character, and the particle that follows it. */
const PARTED = /^(?:[\uac00-\ud7a3][은는이가을를에의도만와과로]|\p{sc=Han}[はがをにでとのもへやさちっ])$/u;
/** Japanese characters that are a word of their own, with a particle. */
const LONE = /(?<!\p{sc=Han})(?![何誰私僕俺君彼今])\p{sc=Han}[はがをにでとのもへやさちっ]/gu;

/** What other words are compared with: the word itself, and the word without the short ones in front of it. */
export function formsOf(word: string): readonly string[] {
  if (ASCII.test(word)) return [withoutDigraphs(word)];
  const form = withoutDigraphs(plainSpelling(word).replace(ARTICLE, ''));
  const bare = form.replace(PROCLITICS, '');
  return bare === form ? [form] : [form, bare];
}

/** The beginnings that a word shares with its other forms, shortest first; none for short words. */
export function sharedBeginnings(word: string): readonly string[] {
  if (word.length <= SHARED_DENSE || DIGIT.test(word)) return [];
  return formsOf(word).flatMap((form) => beginningsOf(form, word));
}

function beginningsOf(form: string, word: string): readonly string[] {
  const shortest = form.length <= SHORT ? SHARED_DENSE : leastShared(form);
  const longest = Math.min(shortest + BEGINNINGS - 1, form.length);
  const beginnings: string[] = [];
  for (let length = shortest; length <= longest; length += 1) {
    // A whole word is found as it is.
    if (length < word.length) beginnings.push(form.slice(0, length));
  }
  return beginnings;
}

/** Beginnings of the words that a compound may end with. A search for such a word finds the compound by them. */
export function partBeginnings(word: string): readonly string[] {
  if (word.length < MIN_COMPOUND || DENSE.test(word) || DIGIT.test(word)) return [];
  return formsOf(word).flatMap((form) => {
    const parts: string[] = [];
    for (let at = PART_FROM; at + PART <= form.length; at += 1) parts.push(form.slice(at, at + PART));
    return [...parts, form.slice(-MIN_PART)];
  });
}

/** Whether two forms may be of the same word. */
export function isInflection(one: string, other: string, hasShortEndings: boolean): boolean {
  if (one.charCodeAt(0) !== other.charCodeAt(0)) return false;
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (shorter.length === 2) return isParticleChange(one, other);
  let shared = 0;
  while (shared < shorter.length && one.charCodeAt(shared) === other.charCodeAt(shared)) shared += 1;
  if (shared < SHARED_DENSE) return false;
  const isWhole = shared === SHARED_DENSE && shared === shorter.length && longer.length <= SHORT;
  const isEnough = isWhole || (shared >= leastShared(one) && shared >= MIN_SHARE * shorter.length);
  if (!isEnough || DIGIT.test(one)) return false;
  return !hasShortEndings || 2 * shared >= MIN_SHARE_OF_BOTH * (one.length + other.length);
}

/** Longer beginnings are not compared: no word in use has another form that shares more. */
const MAX_BEGINNING = 32;

/**
 * Whether one of many forms is the given one or may be of the same word, as in a language with long endings. Takes the
 * same time however many there are.
 */
export function findInflection(forms: Iterable<string>): (form: string) => boolean {
  const known = new Set(forms);
  /** The length of the shortest form with each beginning. */
  const shortest = new Map<string, number>();
  for (const form of known) {
    // A form that shares more than the least share also has the beginning that is just long enough.
    const end = Math.min(form.length, MAX_BEGINNING, Math.max(SHARED, Math.ceil(MIN_SHARE * form.length)));
    for (let shared = SHARED_DENSE; shared <= end; shared += 1) {
      const beginning = form.slice(0, shared);
      shortest.set(beginning, Math.min(shortest.get(beginning) ?? Number.POSITIVE_INFINITY, form.length));
    }
  }
  const nouns = new Set([...known].flatMap((form) => partedNoun(form) ?? []));
  return (form) => {
    if (known.has(form)) return true;
    if (form.length === 2) return nouns.has(partedNoun(form) ?? '');
    return !DIGIT.test(form) && (isShortForm(form, shortest) || sharesEnough(form, shortest));
  };
}

/** Of a word of three letters, or with an ending that makes it one of up to five. */
function isShortForm(form: string, shortest: ReadonlyMap<string, number>): boolean {
  const length = shortest.get(form.slice(0, SHARED_DENSE)) ?? Number.POSITIVE_INFINITY;
  return form.length === SHARED_DENSE ? length <= SHORT : form.length <= SHORT && length === SHARED_DENSE;
}

function sharesEnough(form: string, shortest: ReadonlyMap<string, number>): boolean {
  for (let shared = leastShared(form); shared <= Math.min(form.length, MAX_BEGINNING); shared += 1) {
    const length = shortest.get(form.slice(0, shared));
    if (length === undefined) return false;
    if (shared >= MIN_SHARE * Math.min(form.length, length)) return true;
  }
  return false;
}

function withoutDigraphs(text: string): string {
  return text.replace(DIGRAPHS, '');
}

/** As typed on a keyboard without umlauts, if a plain word begins with one. */
export function withDigraph(word: string): string {
  return word.replace(/^[aou]/, '$&e');
}

/** Whether compounds may end with a word of this form. */
export function canEndCompound(form: string): boolean {
  return form.length >= MIN_PART && !DENSE.test(form);
}

/** Whether a compound ends with another form of the one that compounds may end with. */
export function isPartOf(form: string, compound: string, hasShortEndings: boolean): boolean {
  if (compound.length < MIN_COMPOUND) return false;
  const at = compound.indexOf(form.slice(0, PART), PART_FROM);
  return at >= 0 && isInflection(form, compound.slice(at), hasShortEndings);
}

/** A Korean or Japanese noun of one character without its particle; null for other words. */
export function partedNoun(word: string): string | null {
  return word.length === 2 && PARTED.test(word) ? word.slice(0, 1) : null;
}

/** Nouns of one character with their particles in a text without spaces. */
export function loneNouns(text: string): readonly string[] {
  return text.match(LONE) ?? [];
}

function leastShared(word: string): number {
  return !ASCII.test(word) && DENSE.test(word) ? SHARED_DENSE : SHARED;
}

function isParticleChange(one: string, other: string): boolean {
  return one.length === 2 && other.length === 2 && one[0] === other[0] && PARTED.test(one) && PARTED.test(other);
}
