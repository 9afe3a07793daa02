import type { Audience, Entry } from '../../domain/message.ts';
import type { Memory } from '../../ports/memory-store.ts';
import { cachedStem } from '../../search/words/stem.ts';
import { tellingWords } from '../../search/words/stop-words.ts';
import { tokensOf, wordsOf } from '../../search/words/words.ts';
import { namesOf } from '../statements/fingerprint.ts';
import { stemsIn, wordsIn } from './vocabulary.ts';

/** What identifies a statement in other texts. */
export interface StatementTraits {
  readonly words: readonly string[];
  /** The share of the statement's meaning in a text with these stems, 0..1. */
  shareIn(stems: ReadonlySet<string>): number;
  /** Codes, numbers and addresses that identify the statement by themselves. */
  readonly secrets: ReadonlySet<string>;
  /** Every number in it: the same words with other numbers are another statement. */
  readonly numbers: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly subjectId: string | null;
  readonly subjectWords: ReadonlySet<string>;
  readonly isDirect: boolean;
  readonly size: number;
}

/** Share that counts as almost the whole statement. */
const WHOLE = 0.7;
/** Share that is enough together with a name from the statement. */
const PART = 0.4;
const GRAMMAR = new Set(
  'a an the is are was were be been of to in on at and or for with from that this it its his her their has have had as by'.split(
    ' ',
  ),
);

export function traitsOf(
  memory: Pick<Memory, 'text' | 'subjectId' | 'subjectName'>,
  audience: Audience,
): StatementTraits {
  const subjectWords = new Set(tokensOf(memory.subjectName ?? ''));
  const said = tokensOf(memory.text).filter((token) => !subjectWords.has(token) && token !== 's');
  const telling = tellingWords(said);
  // A single word would match far too much, and so would stop words alone.
  const words = [
    ...new Set(
      telling.length > 1 && telling.length < said.length ? telling : said.filter((token) => !GRAMMAR.has(token)),
    ),
  ];
  return {
    ...meaningOf(words),
    secrets: new Set(wordsOf(memory.text).filter(isSecret)),
    numbers: numbersIn(wordsOf(memory.text)),
    names: namesOf(memory.text).difference(subjectWords),
    subjectId: memory.subjectId,
    subjectWords,
    isDirect: audience === 'dm',
  };
}

/** The same statement without words that have these stems. */
export function traitsWithout(traits: StatementTraits, stems: ReadonlySet<string>): StatementTraits {
  const isLeft = (word: string) => !stems.has(cachedStem(word));
  return {
    ...traits,
    ...meaningOf(traits.words.filter(isLeft)),
    secrets: new Set([...traits.secrets].filter(isLeft)),
    numbers: new Set([...traits.numbers].filter(isLeft)),
    names: new Set([...traits.names].filter(isLeft)),
  };
}

function meaningOf(words: readonly string[]): Pick<StatementTraits, 'words' | 'shareIn' | 'size'> {
  const meaning = new Set(words.map(cachedStem));
  return {
    words,
    shareIn: (stems) => (meaning.size === 0 ? 0 : sharedBy(meaning, stems) / meaning.size),
    size: meaning.size,
  };
}

/** Counted without a new set: a request to forget compares every text with every statement. */
function sharedBy(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0;
  for (const one of some) if (others.has(one)) shared += 1;
  return shared;
}

/** Whether an entry says the statement, or enough of it to reveal it. */
export function matchesStatement(entry: Pick<Entry, 'role' | 'author' | 'parts'>, traits: StatementTraits): boolean {
  const words = wordsIn(entry);
  if (traits.secrets.intersection(words).size > 0) return true;
  if (traits.numbers.size > 0 && tellsOtherNumbers(words, traits.numbers)) return false;
  const share = traits.shareIn(stemsIn(entry));
  if (!isAbout(entry, words, traits)) return share === 1 && traits.size >= 3;
  return share >= WHOLE || (share >= PART && traits.names.intersection(words).size > 0);
}

function numbersIn(words: Iterable<string>): ReadonlySet<string> {
  return new Set([...words].filter((word) => /\p{N}/u.test(word)));
}

function tellsOtherNumbers(words: ReadonlySet<string>, numbers: ReadonlySet<string>): boolean {
  const told = numbersIn(words);
  return told.size > 0 && told.isDisjointFrom(numbers);
}

/** Digits, alone or mixed with letters, as in a code; not a year. */
function isSecret(word: string): boolean {
  if (!/\p{N}/u.test(word) || word.length < 4) return false;
  return !/^(?:19|20)\d\d$/u.test(word) && !/^\d+(?:st|nd|rd|th|s|am|pm|px|ms|kg|km|mb|gb)$/u.test(word);
}

/** Whether it is said by the person, to the person in a DM, or with their name. */
function isAbout(entry: Pick<Entry, 'role' | 'author'>, words: ReadonlySet<string>, traits: StatementTraits): boolean {
  if (traits.subjectId === null && traits.subjectWords.size === 0) return true;
  if (entry.author !== null && entry.author.id === traits.subjectId) return true;
  if (entry.role !== 'user' && traits.isDirect) return true;
  return traits.subjectWords.intersection(words).size > 0;
}
