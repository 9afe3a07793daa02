import { type LossIndex, SPECIFIC_KINDS, type SpecificKind } from '../../ports/summary-store.ts';
import { cachedStem } from '../words/stem.ts';
import { tellingWords } from '../words/stop-words.ts';
import { fold, tokensOf, wordsOf } from '../words/words.ts';
import { type Span, type Specific, specificsIn } from './specifics.ts';

/** One message that a summary covers. */
export interface Source {
  readonly seq: number;
  readonly text: string;
}

/** A specific of a message. Its span is in the message's text. */
export interface Lost extends Specific {
  readonly seq: number;
}

export interface Carried extends Lost {
  /** Where the summary says it. */
  readonly at: Span;
}

/** Every specific of the sources in order, either carried by the summary or lost. */
export interface Account {
  readonly carried: readonly Carried[];
  readonly lost: readonly Lost[];
}

/** A sentence counts as carried if the summary has at least this share of its telling words. */
const MIN_SHARE = 0.6;

/** Pure: which specifics of the messages a summary says, and where, and which it leaves out. */
export function accountFor(summary: string, sources: readonly Source[]): Account {
  return createAccounting(summary)(sources);
}

/** The same for one summary and many messages, some at a time. */
export function createAccounting(summary: string): (sources: readonly Source[]) => Account {
  const placeOf = createFinder(summary);
  return (sources) => {
    const carried: Carried[] = [];
    const lost: Lost[] = [];
    for (const { seq, text } of sources) {
      for (const specific of specificsIn(text)) {
        const at = placeOf(specific);
        if (at === null) lost.push({ ...specific, seq });
        else carried.push({ ...specific, seq, at });
      }
    }
    return { carried, lost };
  };
}

/** How many different specifics there are, and how many of them the summary carries. */
export function countSpecifics({ carried, lost }: Account): { readonly specifics: number; readonly kept: number } {
  const kept = new Set(carried.map(keyOf));
  return { specifics: kept.union(new Set(lost.map(keyOf))).size, kept: kept.size };
}

/** The share of the different specifics that the summary carries. 1 without any. */
export function keptShare(account: Account): number {
  const { specifics, kept } = countSpecifics(account);
  return specifics === 0 ? 1 : kept / specifics;
}

/** Maximum number of entries of one kind in the index; the newest are kept. */
const MAX_INDEXED = 200;

export function lossIndexOf(lost: readonly Pick<Lost, 'kind' | 'seq'>[]): LossIndex {
  const index: Partial<Record<SpecificKind, readonly number[]>> = {};
  for (const [kind, same] of Map.groupBy(lost, (one) => one.kind)) index[kind] = newest(same.map(({ seq }) => seq));
  return index;
}

/** One index of several. */
export function mergeLosses(indexes: readonly LossIndex[]): LossIndex {
  const merged: Partial<Record<SpecificKind, readonly number[]>> = {};
  for (const kind of SPECIFIC_KINDS) {
    const seqs = newest(indexes.flatMap((index) => index[kind] ?? []));
    if (seqs.length > 0) merged[kind] = seqs;
  }
  return merged;
}

function newest(seqs: readonly number[]): readonly number[] {
  return [...new Set(seqs)].sort((a, b) => a - b).slice(-MAX_INDEXED);
}

/** Each lost specific once, with all messages that have it. */
export function lostOnce(lost: readonly Lost[]): readonly (Specific & { readonly seqs: readonly number[] })[] {
  return [...Map.groupBy(lost, keyOf).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, seqs: [...new Set(same.map(({ seq }) => seq))] }];
  });
}

function keyOf({ kind, key, unit }: Specific): string {
  return `${kind} ${key} ${unit ?? ''}`;
}

type Finder = (specific: Specific) => Span | null;

function createFinder(summary: string): Finder {
  const said = Map.groupBy(specificsIn(summary), ({ key }) => key);
  const words = new Map<string, Span>();
  for (const { 0: word, index } of summary.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const span = { start: index, end: index + word.length };
    for (const form of [fold(word), cachedStem(fold(word))]) if (!words.has(form)) words.set(form, span);
  }
  return (specific) => {
    if (specific.kind === 'prohibition' || specific.kind === 'promise') return sentencePlace(specific, words);
    const alike = said.get(specific.key);
    if (alike === undefined) return wordsPlace(specific, words);
    // Without a unit, it may count the same.
    const same = alike.findLast(({ unit }) => unit === specific.unit || unit === null || specific.unit === null);
    return same === undefined ? null : { start: same.start, end: same.end };
  };
}

/** Where the words of a name or a number are, if the summary has all of them. */
function wordsPlace({ text }: Specific, words: ReadonlyMap<string, Span>): Span | null {
  const places = wordsOf(text.replace(/['’]s$/u, '')).map((word) => words.get(word));
  return places.every((place) => place !== undefined) ? (places[0] ?? null) : null;
}

function sentencePlace({ text }: Specific, words: ReadonlyMap<string, Span>): Span | null {
  const telling = tellingWords(tokensOf(text));
  const places = telling.map((word) => words.get(cachedStem(word))).filter((place) => place !== undefined);
  return places.length >= MIN_SHARE * telling.length ? (places[0] ?? null) : null;
}
