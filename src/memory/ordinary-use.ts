import { plainWordsOf } from './plain-words.ts';

/** Before an ordinary word, and in no language before what somebody is called. */
const DETERMINERS = new Set(
  'the these those each every another next last ein eine einen einem eines kein keine keinen jede jeder jedes un une una uno chaque cada ogni'.split(
    ' ',
  ),
);
const WRITTEN_WORD = /[\p{L}\p{N}\p{M}'’]+/gu;

interface Written {
  readonly word: string;
  readonly isSmall: boolean;
  readonly start: number;
  readonly end: number;
}

/**
 * The text without the places where it uses somebody's name as a word of the language. Anybody may take such a word as
 * their name, and "the release ships" is not about somebody called Release. It counts as a word in small letters if it
 * follows a word like "the", there or in one of the other texts.
 */
export function withoutOrdinaryUse(text: string, name: string, others: readonly string[] = []): string {
  const words = plainWordsOf(name);
  const written = writtenIn(text);
  const uses = usesOf(written, words);
  if (uses.length === 0) return text;
  const isWord = [text, ...others].some((one) => isUsedAsWord(writtenIn(one), words));
  if (!isWord) return text;
  let kept = '';
  let from = 0;
  for (const at of uses) {
    kept += text.slice(from, written[at]?.start);
    from = written[at + words.length - 1]?.end ?? from;
  }
  return kept + text.slice(from);
}

function isUsedAsWord(written: readonly Written[], words: readonly string[]): boolean {
  return usesOf(written, words).some((at) => DETERMINERS.has(written[at - 1]?.word ?? ''));
}

/** Where the words of the name are in small letters, maybe with an "s". */
function usesOf(written: readonly Written[], words: readonly string[]): readonly number[] {
  if (words.length === 0) return [];
  const isUse = (at: number) =>
    words.every((word, index) => {
      const found = written[at + index];
      const isLast = index === words.length - 1;
      return found?.isSmall === true && (found.word === word || (isLast && found.word === `${word}s`));
    });
  return written.flatMap((_, at) => (isUse(at) ? [at] : []));
}

/** Scripts without case have no small letters. */
function writtenIn(text: string): readonly Written[] {
  return [...text.matchAll(WRITTEN_WORD)].map(({ 0: raw, index }) => ({
    word: plainWordsOf(raw).join(' '),
    isSmall: raw === raw.toLowerCase() && raw !== raw.toUpperCase(),
    start: index,
    end: index + raw.length,
  }));
}
