import { wordsOf } from '../../search/words/words.ts';
import { sentencesOf } from './about-person.ts';
import { isSmall } from './name-forms.ts';
import { looksIn, looksOf } from './people.ts';

/** How a text writes a name that could also be an ordinary word: "Hope", "Will". */
export interface WrittenNames {
  /** Inside a sentence with its capital, or where only a name can be. */
  isCapitalised(name: string): boolean;
  /** In small letters, by somebody who gives other names their capitals: "Ada lost hope". */
  isOnlySmall(name: string): boolean;
}

/** These begin only questions and wishes, so at the beginning of a statement they are names: "May likes tea". */
const MODALS = new Set(['will', 'may', 'can', 'might', 'must', 'shall', 'should', 'could', 'would']);
const AFTER_MODAL = new Set(['i', 'we', 'you', 'he', 'she', 'they', 'it', 'there', 'the', 'this', 'that', 'not', 'be']);
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const JOINED = /[\p{L}\p{N}\p{M}'’-]+/gu;
const POSSESSIVE = /^['’]s(?![\p{L}\p{N}])/u;
const QUESTION = /\?["'”’)]*$/u;
const CAPITAL = /^\p{Lu}/u;
const SINGLE_CAPITALISED = /^\p{Lu}[\p{L}\p{M}]*$/u;

/** For one text and many names. `subject`: the name of whom the text is about; empty for nobody. */
export function writtenNamesIn(text: string, subject: string): WrittenNames {
  const sentences = sentencesOf(text);
  const words = sentences.map(writtenWords);
  const inside = words.map((of) => ` ${of.slice(1).join(' ')} `);
  const whole = words.map((of) => ` ${of.join(' ')} `);
  const hasCapitals = words.some((of) => of.slice(1).some((word) => CAPITAL.test(word) && word !== 'I'));
  const isSubjectWritten = CAPITAL.test(subject) && isIn(whole, subject);
  const isCapital = looksIn(
    [...writtenWords(text), ...(text.match(JOINED) ?? [])].filter((word) => !isSmall(word)).join(' '),
  );
  return {
    isCapitalised: (name) =>
      CAPITAL.test(name) && (isIn(inside, name) || sentences.some((sentence) => beginsWithName(sentence, name))),
    isOnlySmall: (name) =>
      (hasCapitals || isSubjectWritten) && SINGLE_CAPITALISED.test(name) && !isCapital(looksOf(name)),
  };
}

function isIn(sentences: readonly string[], name: string): boolean {
  const wanted = ` ${writtenWords(name).join(' ')} `;
  return sentences.some((sentence) => sentence.includes(wanted));
}

function beginsWithName(sentence: string, name: string): boolean {
  if (!sentence.startsWith(name)) return false;
  const after = sentence.slice(name.length);
  if (POSSESSIVE.test(after)) return true;
  if (!MODALS.has(name.toLowerCase()) || !/^\s/u.test(after) || QUESTION.test(sentence)) return false;
  return !AFTER_MODAL.has(wordsOf(after)[0] ?? '');
}

function writtenWords(text: string): readonly string[] {
  return text.match(WORD) ?? [];
}
