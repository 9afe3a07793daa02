import type { Addition } from '../../ports/provenance-store.ts';
import { joinedNumbersIn } from '../../search/words/joined-numbers.ts';
import { spellingOf, spelt } from '../../search/words/spelling.ts';
import { cachedStem } from '../../search/words/stem.ts';
import { tokensOf, wordsOf } from '../../search/words/words.ts';

/** The beginning of a text whose words get a date. It bounds what an edit stores. */
const DATED_LENGTH = 20_000;
/** The beginning in which words are looked for in any spelling, which takes long: what a message is compared by. */
const SPELT_LENGTH = 2000;

/** What edits added to a text, once it is edited again. Words that it no longer contains are left out. */
export function additionsAfter(edit: {
  readonly before: string;
  readonly after: string;
  /** From earlier edits. */
  readonly known: readonly Addition[];
  readonly at: number;
}): readonly Addition[] {
  const before = vocabularyOf(edit.before);
  const after = vocabularyOf(edit.after);
  const stems = new Set([...before].map(cachedStem));
  // Whoever only spells it differently, or joins or splits words, adds nothing.
  const spelling = spellingOf(edit.before.slice(0, SPELT_LENGTH));
  const isNew = (word: string) => {
    const stem = cachedStem(word);
    return !before.has(word) && !stems.has(stem) && !spelt(stem)(spelling);
  };
  const added = [...after].filter(isNew);
  const all = [...additionsWithin(edit.known, after), { at: edit.at, words: added }];
  return all.filter(({ words }) => words.length > 0);
}

/** What is left of the additions when sentences were taken out of the text. */
export function additionsIn(text: string, known: readonly Addition[]): readonly Addition[] {
  return additionsWithin(known, vocabularyOf(text)).filter(({ words }) => words.length > 0);
}

function additionsWithin(known: readonly Addition[], vocabulary: ReadonlySet<string>): readonly Addition[] {
  return known.map(({ at, words }) => ({ at, words: words.filter((word) => vocabulary.has(word)) }));
}

function vocabularyOf(text: string): ReadonlySet<string> {
  const start = text.slice(0, DATED_LENGTH);
  return new Set([...tokensOf(start), ...wordsOf(start), ...joinedNumbersIn(start)]);
}
