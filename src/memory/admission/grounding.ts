import { type Entry, type Part, textOf } from '../../domain/message.ts';
import { findInflection, formsOf } from '../../search/words/inflection.ts';
import { areTranslated, isEnglish } from '../../search/words/stop-words.ts';
import { latinFormsOf } from '../../search/words/two-alphabets.ts';
import { tokensOf, wordsOf } from '../../search/words/words.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { memoize } from '../../util/async/memoize.ts';
import { oneLine, visibleText } from '../../util/text/foreign-text.ts';
import { replyNoteIn } from '../../util/text/quote-notes.ts';
import { CLOSING_MARKS, createFinder } from '../../util/text/scan.ts';
import { looksOf } from '../people/people.ts';
import { meaningOf } from '../statements/fingerprint.ts';
import { withoutDates } from './written-dates.ts';

/**
 * The share of a statement that its source must contain for the statement to count as said. Of 1,210 facts that a model
 * extracted from LoCoMo, 90 % reach it with the messages they cite, and 3 % with a message of another day.
 */
const MIN_SHARE = 0.3;
/** A quotation with fewer words is a title or an emphasis. */
const MIN_QUOTED_WORDS = 4;
const MAX_NAME = 64;

export interface Grounding {
  /** The sources that contain part of the statement. */
  readonly supporting: readonly Entry[];
  /**
   * `said`: by the authors themselves. `quoted`: by somebody whom they quote. `hinted`: the sources contain too little
   * of it to tell.
   */
  readonly strength: 'said' | 'quoted' | 'hinted' | 'absent';
}

/** Whether the cited messages say a statement. It compares words, so a paraphrase counts as a hint. */
export function groundingOf(
  statement: string,
  {
    sources,
    subjectName,
    names,
  }: {
    readonly sources: readonly Entry[];
    /** The person the statement is about; a name alone proves nothing. */
    readonly subjectName: string;
    /** Everybody who may be quoted. */
    readonly names: readonly string[];
  },
): Grounding {
  const people = [subjectName, ...sources.map(({ author }) => author?.name ?? '')];
  const wanted = wantedOf(statement, sources).difference(meaningOf(people.join('\n')));
  if (wanted.size === 0) {
    // What only a name says is not said by whoever mentions that person.
    const isName = sources.some(({ mentions }) => mentions.some(({ name }) => oneLine(name) === oneLine(subjectName)));
    return { supporting: sources, strength: isName ? 'quoted' : 'said' };
  }
  const isIn = createComparison([statement, ...sources.map(({ parts }) => textOf(parts))].join('\n'));
  const shareIn = (meanings: readonly ReadonlySet<string>[]) =>
    [...wanted].filter((word) => meanings.some((meaning) => isIn(word, meaning))).length / wanted.size;
  const supporting = sources.filter((entry) => shareIn([meaningIn(entry.parts)]) > 0);
  if (supporting.length === 0) {
    const isComparable = sources.some((entry) => isInWordsOf(statement, textOf(entry.parts)));
    return isComparable ? { supporting, strength: 'absent' } : { supporting: sources, strength: 'hinted' };
  }
  const meantBy = ownMeanings(names);
  if (shareIn(supporting.map(meantBy)) >= MIN_SHARE) return { supporting, strength: 'said' };
  const isThere = shareIn(supporting.map(({ parts }) => meaningIn(parts))) >= MIN_SHARE;
  return { supporting, strength: isThere ? 'quoted' : 'hinted' };
}

/** The words that the sources have to contain: those of a date only if one of them has it. */
function wantedOf(statement: string, sources: readonly Entry[]): ReadonlySet<string> {
  const words = meaningOf(statement);
  const undated = meaningOf(withoutDates(statement));
  if (undated.size === words.size || undated.isDisjointFrom(words)) return words;
  const isSaid = (word: string) => undated.has(word) || sources.some(({ parts }) => meaningIn(parts).has(word));
  return new Set([...words].filter(isSaid));
}

/** Enough to recognise a language. */
const READ_CHARACTERS = 2000;

/**
 * Whether a meaning has a word. Outside English in another inflection too, because people say "I live" and a model
 * writes "she lives", with other endings in most words of the sentence.
 */
function createComparison(texts: string): (word: string, meaning: ReadonlySet<string>) => boolean {
  const inflects = inflectsIn(texts);
  return (word, meaning) => {
    if (meaning.has(word) || !inflects) return meaning.has(word);
    return allFormsOf(word).some(formsIn(meaning));
  };
}

function inflectsIn(text: string): boolean {
  return !isEnglish(tokensOf(text.slice(0, READ_CHARACTERS)));
}

function allFormsOf(word: string): readonly string[] {
  return [...formsOf(word), ...latinFormsOf(word)];
}

const formsIn = memoize(
  (meaning: ReadonlySet<string>) => findInflection([...meaning].flatMap(allFormsOf).filter((form) => form !== '')),
  new WeakMap(),
);

/** Computed once for each message: many statements may cite the same long one. */
const meaningIn = memoize((parts: readonly Part[]) => meaningOf(textOf(parts)), new WeakMap());

/** The same for their authors' own words, as long as the names are the same list. */
const ownMeanings = memoize((names: readonly string[]) => {
  const ownTextOf = ownTexts(names);
  return memoize((entry: Entry) => {
    const own = ownTextOf(entry);
    return own === textOf(entry.parts) ? meaningIn(entry.parts) : meaningOf(own);
  }, new WeakMap());
}, new WeakMap());

/** What the authors of messages say without quoting anybody with one of the names, computed once for each list. */
export const ownTexts = memoize((names: readonly string[]) => {
  const looks = new Set(names.flatMap(looksOf));
  return memoize((entry: Entry) => ownWords(entry, looks), new WeakMap());
}, new WeakMap());

/** Reads the long messages for `groundingOf`, in slices; then it takes no time, however long they are. */
export async function readSources(sources: readonly Entry[], names: readonly string[]): Promise<void> {
  for (const entry of sources.filter(isLong)) {
    const meaning = meaningIn(entry.parts);
    await yieldToEventLoop();
    ownMeanings(names)(entry);
    await yieldToEventLoop();
    if (!inflectsIn(textOf(entry.parts))) continue;
    formsIn(meaning);
    await yieldToEventLoop();
  }
}

/** Whether a message takes a few milliseconds to read. */
export function isLong({ parts }: Pick<Entry, 'parts'>): boolean {
  return textOf(parts).length > LONG;
}

const LONG = 10_000;

/**
 * The text without the names it mentions, quoted lines, blocks of code, longer quotations, and lines attributed to
 * somebody else.
 */
function ownWords({ parts, author, mentions }: Entry, names: ReadonlySet<string>): string {
  const others = names.difference(new Set(looksOf(author?.name ?? '')));
  const lines = withoutBlocks(withoutMentions(textOf(parts), mentions)).split('\n');
  return lines
    .filter((line, at) => !isQuotedLine(line, others) && !isHeading(line, lines[at + 1]))
    .map(withoutQuotations)
    .join('\n');
}

const FENCE = '```';

/** Code, logs and mails that somebody pastes into a block are not what they say. One that is never closed is no block. */
function withoutBlocks(text: string): string {
  const pieces = text.split(FENCE);
  const end = pieces.length % 2 === 0 ? pieces.length - 1 : pieces.length;
  const open = pieces.slice(0, end).filter((_, at) => at % 2 === 0);
  return [...open, ...pieces.slice(end)].join('\n');
}

/** Platforms write a mention as the name, which may read like a statement or an order of whoever mentions it. */
function withoutMentions(text: string, mentions: Entry['mentions']): string {
  if (mentions.length === 0) return text;
  // A longer name may begin with a shorter one.
  const shown = visibleText(text).replace(/[^\S\n]+/gu, ' ');
  const longestFirst = mentions.map(({ name }) => oneLine(name)).toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, name) => rest.replaceAll(`@${name}`, ' '), shown);
}

/** The mark of a list and the time, as chats copy messages. */
const LEAD = /^(?:[-*+•] )? {0,3}(?:[[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[ap]m)?[\])]?)?[ ,–—-]{0,3}/iu;
const AROUND_NAMES = /[*_~@`<]/gu;

function isQuotedLine(line: string, others: ReadonlySet<string>): boolean {
  const text = line.trimStart();
  if (text.startsWith('>') || replyNoteIn(text) !== null) return true;
  const said = text.slice(LEAD.exec(text)?.[0].length ?? 0);
  const end = said.slice(0, MAX_NAME + 1).search(said.startsWith('<') ? />/u : /[:：]/u);
  return end > 0 && looksOf(said.slice(0, end).replace(AROUND_NAMES, '')).some((look) => others.has(look));
}

/** The heading of a quotation that a platform has put before a message names somebody else. */
function isHeading(line: string, next = ''): boolean {
  return line.startsWith('[') && next.startsWith('> ');
}

function withoutQuotations(line: string): string {
  const kept: string[] = [];
  const next = createFinder(line);
  let from = 0;
  for (let at = 0; at < line.length; at += 1) {
    const closing = CLOSING_MARKS.get(line[at] ?? '');
    const end = closing === undefined ? Infinity : Math.min(...Array.from(closing, (mark) => next(mark, at + 1)));
    if (end === Infinity) continue;
    if (isLongQuotation(line.slice(at + 1, end))) {
      kept.push(line.slice(from, at));
      from = end + 1;
    }
    at = end;
  }
  return [...kept, line.slice(from)].join(' ');
}

function isLongQuotation(quotation: string): boolean {
  if (quotation.length < MIN_QUOTED_WORDS) return false;
  return quotation.length > 40 || wordsOf(quotation).length >= MIN_QUOTED_WORDS;
}

/** Those in which people chat; Chinese and Japanese texts share characters. */
const SCRIPTS = [
  ...'Latn Cyrl Grek Arab Hebr Hang Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Khmr'.split(
    ' ',
  ),
  ...'Geor Armn Ethi Thaa Syrc Nkoo Mong Cher Cans Tfng Yiii Vaii Java Bali Sund Olck Mtei Cakm Adlm Lana Rohg'.split(
    ' ',
  ),
].map((script) => new RegExp(`\\p{sc=${script}}`, 'u'));
const HAN_AND_KANA = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;

/** A statement in English and a message in another language, or the other way around, have few words in common. */
function isInWordsOf(statement: string, said: string): boolean {
  return sharesScript(statement, said) && !areTranslated(tokensOf(statement), tokensOf(said.slice(0, READ_CHARACTERS)));
}

/** Texts in different scripts have no words in common, whatever they say. */
export function sharesScript(a: string, b: string): boolean {
  const known = [...SCRIPTS, HAN_AND_KANA].filter((script) => script.test(a));
  return known.length === 0 || known.some((script) => script.test(b));
}
