import { type Entry, type Part, textOf, textOfEverything } from '../../domain/message.ts';
import { type Spelling, spellingOf } from '../../search/words/spelling.ts';
import { cachedStem } from '../../search/words/stem.ts';
import { tokensOf, wordsOf } from '../../search/words/words.ts';
import { memoize } from '../../util/async/memoize.ts';
import { sentencesOf } from '../people/about-person.ts';

type Said = Pick<Entry, 'parts'>;

/** Computed once for each text, because a request to forget compares every text with every statement. */
function perText<Value>(make: (said: Said) => Value): (said: Said) => Value {
  const ofParts = memoize((parts: readonly Part[]) => make({ parts }), new WeakMap());
  return ({ parts }) => ofParts(parts);
}

export const wordsIn = perText((said): ReadonlySet<string> => new Set(wordsOf(textOfEverything(said))));

export const stemsIn = perText((said): ReadonlySet<string> => stemsOf(textOfEverything(said)));

export const spellingIn = perText((said): Spelling => spellingOf(textOfEverything(said)));

/** The words of what was written, in order, without tool traffic. */
export const writtenWords = perText((said): readonly string[] => wordsOf(textOf(said.parts)));

export interface SentenceWords {
  readonly text: string;
  readonly words: readonly string[];
  readonly stems: ReadonlySet<string>;
}

/** The sentences of what was written. */
export const sentencesIn = perText((said): readonly SentenceWords[] =>
  sentencesOf(textOf(said.parts)).map((text) => ({ text, words: wordsOf(text), stems: stemsOf(text) })),
);

function stemsOf(text: string): ReadonlySet<string> {
  return new Set(tokensOf(text).map(cachedStem));
}
