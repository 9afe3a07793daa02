import { plainSpelling } from '../../search/words/plain-spelling.ts';
import { hasShortEndings, isEnglish } from '../../search/words/stop-words.ts';
import { fold, isAscii, tokensOf } from '../../search/words/words.ts';
import { trimEndWhile } from '../../util/text/scan.ts';

const WORD = /[\p{L}\p{M}\p{N}'’]+/gu;
/** A small letter of a script that begins names with capitals. Georgian has capitals, but only for whole texts. */
const SMALL = /^(?=[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Armn}])\p{Ll}/u;
/** What Hebrew and Arabic write together with a name. */
const PROCLITICS = /^(?:[הובכלמש]{1,3}|[وفبكل]{1,2})$/u;
const VOWEL = /^[aeiouyаеиоуыэюяіїєαεηιουωй]/u;
const CASED = /^[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Armn}]/u;
const MIN_LENGTH = 3;
/** Letters that the ending of a name may have. */
const MAX_ENDING = 5;

/**
 * For one text and many names: whether a name is in it in another form, as in "Марине" or "Minának". Only in languages
 * that inflect names.
 */
export function inflectedNamesIn(text: string): (name: string) => boolean {
  if (!inflectsNames(text)) return () => false;
  const words = (text.match(WORD) ?? []).filter((word) => !isSmall(word)).map(plainly);
  return (name) => {
    const parts = (name.match(WORD) ?? []).map(plainly);
    return parts.length > 0 && parts.every((part) => words.some((word) => isFormOf(word, part)));
  };
}

/** Whether a word begins with a small letter, as a name does not. */
export function isSmall(word: string): boolean {
  return SMALL.test(word);
}

/** A text in ASCII of an unknown language is most often English. */
function inflectsNames(text: string): boolean {
  if (isAscii(text)) return false;
  const tokens = tokensOf(text);
  return !isEnglish(tokens) && !hasShortEndings(tokens);
}

function plainly(word: string): string {
  return plainSpelling(fold(word).replace(/['’]/gu, ''));
}

/** Without the vowels at the end, which may be followed by an s: "Νίκος". The name itself if it has none. */
function stemOf(name: string): string {
  const bare = name.replace(/[sσ]$/u, '');
  const stem = trimEndWhile(bare, (letter) => VOWEL.test(letter));
  return stem === bare || stem.length < 2 ? name : stem;
}

/** A vowel at the end of a name may change: "Марина", "Марину". Another short name may only be longer: "Ada", "Adam". */
function isFormOf(form: string, name: string): boolean {
  if (form === name) return true;
  if (name.length < MIN_LENGTH) return false;
  if (form.endsWith(name) && PROCLITICS.test(form.slice(0, -name.length))) return true;
  const stem = stemOf(name);
  const ending = form.slice(stem.length);
  const longest = name.length > MIN_LENGTH || !CASED.test(name) ? name.length + MAX_ENDING : name.length;
  if (!form.startsWith(stem) || form.length > longest) return false;
  return stem === name || VOWEL.test(ending);
}
