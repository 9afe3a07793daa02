import { createHash } from 'node:crypto';
import { cachedStem } from '../../search/words/stem.ts';
import { tellingWords } from '../../search/words/stop-words.ts';
import { fold, isUnspaced, tokensOf, wordsOf } from '../../search/words/words.ts';
import { normalForm } from '../../util/text/normal-form.ts';
import { affirmed, areOpposite, limits, negates, negationsOf } from './negations.ts';

/** Two texts that share at least this part of their words are the same statement in other words. */
export const NEAR = 0.8;
/** Stored hashes depend on these; `negations.ts` has those of more languages. */
const GIST_NEGATIONS = new Set(
  'not no never none nobody nothing neither nor without cannot dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent stopped quit nicht kein keine nie pas jamais non nunca ne nem'.split(
    ' ',
  ),
);
const GIST_CHARACTERS = /[不没沒未无無别別勿非]|ない|ません/gu;

/** Equal for texts that differ only in case, spacing, punctuation and compatibility forms. */
export function fingerprintOf(text: string): string {
  const words = wordsOf(text);
  const normal = words.length > 0 ? words.join(' ') : fold(text).trim();
  return createHash('sha256').update(normal).digest('hex').slice(0, 32);
}

/**
 * Equal for texts with the same telling words in any order. Coarser than the fingerprint, and used only to keep a
 * forgotten statement from returning.
 */
export function gistOf(text: string): string {
  const words = [...meaningOf(text).union(numbersOf(text))].sort();
  const normal = `gist ${gistNegationsOf(text)} ${words.length > 0 ? words.join(' ') : fold(text).trim()}`;
  return createHash('sha256').update(normal).digest('hex').slice(0, 32);
}

/** The fingerprint of what one person has forgotten. */
export function fingerprintFor(personId: string, fingerprint: string): string {
  return createHash('sha256').update(`${personId} ${fingerprint}`).digest('hex').slice(0, 32);
}

/** The same short statements are compared with every message. */
const meanings = new Map<string, ReadonlySet<string>>();
const KEPT_MEANINGS = 1000;
const SHORT_LENGTH = 400;

/** The words that carry the meaning, stemmed. For a text of stop words only, the stop words. */
export function meaningOf(text: string): ReadonlySet<string> {
  const known = meanings.get(text);
  if (known !== undefined) return known;
  const meaning = readMeaning(text);
  if (meanings.size >= KEPT_MEANINGS) meanings.clear();
  if (text.length <= SHORT_LENGTH) meanings.set(text, meaning);
  return meaning;
}

function readMeaning(text: string): ReadonlySet<string> {
  return new Set(tellingWords(tokensOf(text)).map(cachedStem));
}

/** Common words divided by all words, 0..1. Texts without words are similar only if they are equal. */
export function similarity(a: string, b: string): number {
  const [left, right] = [meaningOf(a), meaningOf(b)];
  if (left.size === 0 || right.size === 0) return fold(a).trim() === fold(b).trim() ? 1 : 0;
  return overlap(left, right);
}

function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const [shorter, longer] = left.size < right.size ? [left, right] : [right, left];
  let common = 0;
  for (const word of shorter) if (longer.has(word)) common += 1;
  return common / (left.size + right.size - common);
}

/** The share of the statement's meaning in the text, 0..1. */
export function containment(statement: string, text: string): number {
  const meaning = meaningOf(statement);
  if (meaning.size === 0) return fold(text).includes(fold(statement).trim()) && statement.trim() !== '' ? 1 : 0;
  return meaning.intersection(meaningOf(text)).size / meaning.size;
}

/**
 * Whether two texts are about the same in nearly the same words. Different numbers, negations or names always make two
 * statements.
 */
export function isNearDuplicate(a: string, b: string): boolean {
  return fingerprintOf(a) === fingerprintOf(b) || isAlike(a, b);
}

/**
 * Whether two texts whose fingerprints differ are the same statement. Careful, because a wrong yes loses a fact: one of
 * them may say more than the other, but not "rejected" where the other says "approved".
 */
export function isRewording(a: string, b: string): boolean {
  return isAlike(a, b) && !isReplaced(meaningOf(a), meaningOf(b));
}

/**
 * Whether one of two texts says that the other one is not so, in nearly the same words. What is denied only "on Sundays"
 * may be so on other days, so the denial has no words of its own.
 */
export function isDenial(a: string, b: string): boolean {
  if (negates(a) === negates(b) || limits(a) || limits(b)) return false;
  const [denial, denied] = negates(a) ? [affirmed(a), affirmed(b)] : [affirmed(b), affirmed(a)];
  return isSameMatter(denial, denied) && meaningOf(denial).isSubsetOf(meaningOf(denied));
}

function isAlike(a: string, b: string): boolean {
  return isSameMatter(a, b) && negationsOf(a) === negationsOf(b);
}

function isSameMatter(a: string, b: string): boolean {
  if (similarity(a, b) < NEAR || areOpposite(a, b)) return false;
  return same(numbersOf(a), numbersOf(b)) && !differsInNames(a, b);
}

/** Whether each has a word that the other lacks. Pairs of characters also change beside a word that is added. */
function isReplaced(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const hasOwn = (words: ReadonlySet<string>) => [...words].some((word) => !isUnspaced(word));
  return hasOwn(one.difference(other)) && hasOwn(other.difference(one));
}

/** Keeps the first of each statement. Meanings are computed once, however many are compared. */
export function createDistinct(): (text: string) => boolean {
  const kept: { readonly text: string; readonly meaning: ReadonlySet<string> }[] = [];
  return (text) => {
    const meaning = meaningOf(text);
    // Every turn compares all pairs of its memories, and most differ in length already.
    const mayBeNear = ({ size }: ReadonlySet<string>) =>
      Math.min(meaning.size, size) >= NEAR * Math.max(meaning.size, size);
    const isNear = (other: ReadonlySet<string>) =>
      meaning.size === 0 || (mayBeNear(other) && overlap(meaning, other) >= NEAR);
    const isSame = (other: string) => fingerprintOf(text) === fingerprintOf(other) || isRewording(text, other);
    if (kept.some((other) => isNear(other.meaning) && isSame(other.text))) return false;
    kept.push({ text, meaning });
    return true;
  };
}

export function numbersOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).filter((word) => /\p{N}/u.test(word)));
}

function gistNegationsOf(text: string): number {
  const words = wordsOf(text).filter((word) => GIST_NEGATIONS.has(word)).length;
  return words + (fold(text).match(GIST_CHARACTERS)?.length ?? 0);
}

function differsInNames(a: string, b: string): boolean {
  const [left, right] = [namesOf(a), namesOf(b)];
  return left.difference(right).size > 0 && right.difference(left).size > 0;
}

/** Capitalised words inside the sentence. */
export function namesOf(text: string): ReadonlySet<string> {
  const words = normalForm(text, 'NFKC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return new Set(
    words
      .slice(1)
      .filter((word) => /^\p{Lu}\p{Ll}/u.test(word))
      .map(fold),
  );
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
