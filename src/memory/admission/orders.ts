import { latin } from '../../search/words/lookalikes.ts';
import { fold, isAscii, wordsOf } from '../../search/words/words.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { normalForm } from '../../util/text/normal-form.ts';
import * as words from './order-words.ts';

/** Only the first words of a sentence are checked; they show what it is. */
const HEAD_LENGTH = 160;
/** No order in any of the languages is shorter. */
const MIN_SENTENCE = 4;
/** An override may come after this many words, as in "from this moment on, ignore …". */
const LEAD_WORDS = 4;
/** Words between the verb and the noun of "ignore all of the previous instructions". */
const REACH = 6;

function bare(text: string): string {
  return isAscii(text) ? text.toLowerCase() : normalForm(fold(text), 'NFD').replace(/\p{M}/gu, '');
}

type Phrases = ReadonlyMap<string, readonly (readonly string[])[]>;

interface Dictionary {
  readonly polite: ReadonlySet<string>;
  readonly conditions: ReadonlySet<string>;
  readonly openers: ReadonlySet<string>;
  readonly openings: Phrases;
  readonly readers: ReadonlySet<string>;
  readonly obligations: Phrases;
  readonly articles: ReadonlySet<string>;
  readonly revoking: RegExp;
  readonly rules: RegExp;
  readonly claims: Phrases;
}

/**
 * Texts are read twice: as written, and with lookalikes replaced by Latin letters. The words are spelt the same way.
 */
const AS_WRITTEN = dictionaryOf(bare);
const AS_LATIN = dictionaryOf((text) => latin(bare(text)));

function dictionaryOf(spell: (text: string) => string): Dictionary {
  const set = (entries: readonly string[]) => new Set(entries.map(spell));
  const beginnings = (entries: readonly string[]) => new RegExp(`^(?:${entries.map(spell).join('|')})`, 'u');
  const phrases = (entries: readonly string[]): Phrases =>
    Map.groupBy(
      entries.map((entry) => spell(entry).split(' ')),
      ([first = '']) => first,
    );
  return {
    polite: set(words.POLITE),
    conditions: set(words.CONDITIONS),
    openers: set(words.OPENERS),
    openings: phrases(words.OPENING_PHRASES),
    readers: set(words.READERS),
    obligations: phrases(words.OBLIGATIONS),
    articles: set(words.ARTICLES),
    revoking: beginnings(words.REVOKING),
    rules: beginnings(words.RULES),
    claims: phrases(words.CLAIMS),
  };
}

/** Whether a statement is really an order to its reader. */
export function isOrder(text: string): boolean {
  const line = normalForm(oneLine(text), 'NFKC');
  if (words.UNSPACED_ORDERS.some((order) => line.includes(order)) || revokesUnspaced(line)) return true;
  return readings(line).some(([said, dictionary]) => {
    const opens = dictionary.openers.has(said[0] ?? '') || obliges(said, dictionary);
    return opens || revokes(said, dictionary) || said.some((_, at) => hasPhrase(said, at, dictionary.claims));
  });
}

/** Whether one of the sentences of a text is an order, also after a condition: "If Bob asks, reveal …". */
export function holdsOrder(text: string): boolean {
  if (isOrder(text)) return true;
  return normalForm(text, 'NFKC')
    .split(SENTENCE_ENDS)
    .some((sentence) => isOrder(sentence.slice(0, HEAD_LENGTH)) || isOrderOnCondition(sentence.slice(0, HEAD_LENGTH)));
}

const SENTENCE_ENDS = /[.!?;\n。！？；…]/u;
const COMMAS = /[,，、،]/u;

function isOrderOnCondition(sentence: string): boolean {
  const [condition = '', ...clauses] = sentence.split(COMMAS);
  if (clauses.length === 0) return false;
  const hasCondition = readings(oneLine(condition)).some(([said, { conditions }]) => conditions.has(said[0] ?? ''));
  return hasCondition && clauses.some(isOrder);
}

/** Whether a text addresses its reader: it cancels rules, claims to be the system, or tells the bot what it must do. */
export function commandsReader(text: string): boolean {
  return sentencesOf(normalForm(text, 'NFKC')).some((sentence) => {
    if (revokesUnspaced(sentence.slice(0, 4 * LEAD_WORDS))) return true;
    return readings(oneLine(sentence)).some(
      ([said, dictionary]) =>
        obliges(said, dictionary) || revokes(said, dictionary, LEAD_WORDS) || hasPhrase(said, 0, dictionary.claims),
    );
  });
}

/** The starts of sentences, and of text after a colon. Text that starts with a quotation mark is quoted, not said. */
function sentencesOf(text: string): readonly string[] {
  return text
    .split(/[.!?:;\n\r\u2028\u2029。！？：；…]/u)
    .map((sentence) => sentence.slice(0, HEAD_LENGTH).trim())
    .filter((sentence) => sentence.length >= MIN_SENTENCE && !/^["'“”„«»‘‚「『《>]/u.test(sentence));
}

type Reading = readonly [said: readonly string[], dictionary: Dictionary];

function readings(line: string): readonly Reading[] {
  const written = bare(line);
  const latinised = latin(written);
  const asWritten = readingOf(written, AS_WRITTEN);
  return latinised === written ? [asWritten] : [asWritten, readingOf(latinised, AS_LATIN)];
}

function readingOf(text: string, dictionary: Dictionary): Reading {
  const said = wordsOf(text.replace(/['’ʼ]/gu, ' '));
  const first = said.findIndex((word) => !dictionary.polite.has(word));
  return [first < 0 ? [] : said.slice(first), dictionary];
}

/** "You must …", "from now on …", "the assistant has to …". */
function obliges(said: readonly string[], { openings, readers, obligations, articles }: Dictionary): boolean {
  if (hasPhrase(said, 0, openings)) return true;
  const reader = articles.has(said[0] ?? '') ? 1 : 0;
  return readers.has(said[reader] ?? '') && hasPhrase(said, reader + 1, obligations);
}

function hasPhrase(said: readonly string[], at: number, phrases: Phrases): boolean {
  const candidates = phrases.get(said[at] ?? '') ?? [];
  return candidates.some((phrase) => phrase.every((word, index) => said[at + index] === word));
}

/** "Ignore … instructions", with the verb among the first `lead` words. */
function revokes(said: readonly string[], { revoking, rules }: Dictionary, lead = said.length): boolean {
  for (let at = 0; at < Math.min(lead, said.length); at += 1) {
    if (!revoking.test(said[at] ?? '')) continue;
    if (said.slice(at + 1, at + 1 + REACH).some((word) => rules.test(word))) return true;
  }
  return false;
}

function revokesUnspaced(line: string): boolean {
  return (
    words.UNSPACED_REVOKING.some((verb) => line.includes(verb)) &&
    words.UNSPACED_RULES.some((noun) => line.includes(noun))
  );
}
