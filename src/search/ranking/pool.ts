import { memoize } from '../../util/async/memoize.ts';
import { HOUR_MS } from '../../util/time/time.ts';
import { wordsOf } from '../words/words.ts';
import { coverageOf, rarityOf, topicRarities } from './coverage.ts';
import type { Line } from './lines.ts';
import type { Question } from './question.ts';

const SESSION_GAP_MS = 3 * HOUR_MS;
/** Share of a neighbour's words that count for a line. */
const NEIGHBOURS = [
  { offset: -2, share: 0.3 },
  { offset: -1, share: 0.6 },
  { offset: 1, share: 0.4 },
  { offset: 2, share: 0.2 },
];
const CONTEXT_LINES = 10;

/** The proposed lines, with the facts that depend on all of them together. */
export interface Pool {
  readonly question: Question;
  readonly lines: readonly Line[];
  readonly rarity: readonly number[];
  readonly totalRarity: number;
  readonly mostRarity: number;
  readonly own: Scores;
  readonly ownShort: Scores;
  readonly window: Scores;
  readonly windowCoverage: ArrayLike<number>;
  /** The largest share of the topic in one window, by the rarity of its terms. */
  readonly topicCoverage: number;
  readonly context: Scores;
  readonly session: Scores;
  readonly hasBot: boolean;
  /** Whether the question names the speaker, by any word of the name. */
  isNamed(speaker: string): boolean;
  /** The same, or whether it names something of the speaker ("Ada's boat"). */
  isMentioned(speaker: string): boolean;
}

/** Values with their maximum, for shares of the best. */
interface Scores {
  readonly values: ArrayLike<number>;
  readonly best: number;
}

/** `lines` ascending by seq; `total` is the number of entries of the conversation. */
export function poolOf(lines: readonly Line[], question: Question, total: number): Pool {
  const all = Math.max(total, lines.length);
  const holding = linesWith(lines, question.terms.length);
  const rarity = holding.map((count) => rarityOf(count, all));
  const totalRarity = sum(rarity, (value) => value) || 1;
  const sessions = sessionsOf(lines);
  const relative = relativeLengths(lines);
  const own = (flat: number, share: number) =>
    valuesOf(lines, ({ counts }, index) => bm25(counts, rarity, flat * (1 - share + share * (relative[index] ?? 1))));
  const topic = topicRarities(question, holding, all);
  const { window, windowCoverage, mostTopic } = windowsOf(lines, { rarity, topic });
  return {
    question,
    lines,
    rarity,
    totalRarity,
    mostRarity: Math.max(...rarity, Number.EPSILON),
    own: scores(own(0.9, 0.4)),
    ownShort: scores(own(1.2, 0.75)),
    window: scores(window),
    windowCoverage: windowCoverage.map((covered) => covered / totalRarity),
    topicCoverage: coverageOf(question, { topic, mostTopic, total: all }),
    context: scores(contextsOf(lines, { rarity, sessions })),
    session: scores(sessionScores(lines, question, sessions)),
    hasBot: lines.some((line) => line.isBot),
    isNamed: createNameCheck(question, ['']),
    isMentioned: createNameCheck(question, ['', 's']),
  };
}

/** As numbers without an object for each. */
function valuesOf(lines: readonly Line[], value: (line: Line, index: number) => number): Float64Array {
  const values = new Float64Array(lines.length);
  lines.forEach((line, index) => {
    values[index] = value(line, index);
  });
  return values;
}

function bm25(counts: ArrayLike<number>, rarity: readonly number[], flat: number): number {
  let score = 0;
  for (let term = 0; term < counts.length; term += 1) {
    const count = counts[term] ?? 0;
    if (count > 0) score += (rarity[term] ?? 0) * saturate(count, flat);
  }
  return score;
}

/** How many lines contain each term. */
function linesWith(lines: readonly Line[], terms: number): readonly number[] {
  const holding = new Array<number>(terms).fill(0);
  for (const { hasTerms, counts } of lines) {
    for (let term = 0; hasTerms && term < terms; term += 1) {
      if ((counts[term] ?? 0) > 0) holding[term] = (holding[term] ?? 0) + 1;
    }
  }
  return holding;
}

/** `endings` of a name in the question, whose words have no apostrophes. */
function createNameCheck(question: Question, endings: readonly string[]): (speaker: string) => boolean {
  const asked = new Set(wordsOf(question.folded));
  return memoize((speaker) =>
    wordsOf(speaker).some((word) => word.length > 1 && endings.some((end) => asked.has(word + end))),
  );
}

interface Rarities {
  readonly rarity: readonly number[];
  /** The same, and 0 for terms that name a kind of answer. */
  readonly topic: readonly number[];
}

/** BM25 of each line with its neighbours, and the rarity of all terms that they contain. */
function windowsOf(lines: readonly Line[], { rarity, topic }: Rarities) {
  const counts = new Float64Array(rarity.length);
  const window = new Float64Array(lines.length);
  const windowCoverage = new Float64Array(lines.length);
  let mostTopic = 0;
  for (let index = 0; index < lines.length; index += 1) {
    counts.set(lines[index]?.counts ?? []);
    NEIGHBOURS.forEach(({ offset, share }) => {
      addShare(counts, lines[indexAt(lines, index, offset) ?? -1], share);
    });
    window[index] = bm25(counts, rarity, 0.9);
    windowCoverage[index] = rarityIn(counts, rarity);
    mostTopic = Math.max(mostTopic, rarityIn(counts, topic));
  }
  return { window, windowCoverage, mostTopic };
}

function addShare(counts: Float64Array, line: Line | undefined, share: number): void {
  if (line === undefined || !line.hasTerms) return;
  for (let term = 0; term < counts.length; term += 1) {
    counts[term] = (counts[term] ?? 0) + share * Math.min(2, line.counts[term] ?? 0);
  }
}

function rarityIn(counts: Float64Array, rarity: readonly number[]): number {
  let covered = 0;
  for (let term = 0; term < counts.length; term += 1) if ((counts[term] ?? 0) > 0) covered += rarity[term] ?? 0;
  return covered;
}

/** The index of the line that many seqs away. Lines ascend by seq, so it is at most as many indexes away. */
export function indexAt(lines: readonly Line[], index: number, offset: number): number | undefined {
  const seq = (lines[index]?.entry.seq ?? 0) + offset;
  const step = Math.sign(offset);
  for (let to = index + offset; to !== index; to -= step) if (lines[to]?.entry.seq === seq) return to;
  return undefined;
}

interface Sessions {
  readonly rarity: readonly number[];
  readonly sessions: readonly number[];
}

/** BM25 of the surrounding lines within the session, fading with distance. */
function contextsOf(lines: readonly Line[], { rarity, sessions }: Sessions): Float64Array {
  const counts = new Float64Array(rarity.length);
  let at = 0;
  let isEmpty = true;
  // One function for all lines, because this runs for each of them.
  const add = (from: number): boolean => {
    const line = lines[from];
    const distance = Math.abs((line?.entry.seq ?? Number.NaN) - (lines[at]?.entry.seq ?? 0));
    if (line === undefined || !(distance <= CONTEXT_LINES)) return false;
    if (!line.hasTerms || sessions[from] !== sessions[at]) return true;
    addShare(counts, line, 1 - distance / (CONTEXT_LINES + 1));
    isEmpty = false;
    return true;
  };
  const contexts = new Float64Array(lines.length);
  for (; at < lines.length; at += 1) {
    counts.fill(0);
    isEmpty = true;
    for (let from = at; add(from); from -= 1);
    for (let from = at + 1; add(from); from += 1);
    if (!isEmpty) contexts[at] = bm25(counts, rarity, 3);
  }
  return contexts;
}

/** The session number of each line: a pause of hours starts a new session. */
function sessionsOf(lines: readonly Line[]): readonly number[] {
  let session = 0;
  return lines.map((line, index) => {
    const before = lines[index - 1];
    if (before && line.entry.at - before.entry.at > SESSION_GAP_MS) session += 1;
    return session;
  });
}

function sessionScores(lines: readonly Line[], question: Question, sessions: readonly number[]): readonly number[] {
  const total = (sessions.at(-1) ?? 0) + 1;
  if (total < 2) return lines.map(() => 0);
  const counts = Array.from({ length: total }, () => question.terms.map(() => 0));
  const sizes = new Array<number>(total).fill(0);
  lines.forEach((line, index) => {
    const session = sessions[index] ?? 0;
    sizes[session] = (sizes[session] ?? 0) + 1;
    line.counts.forEach((count, term) => {
      const own = counts[session];
      if (own) own[term] = (own[term] ?? 0) + count;
    });
  });
  const usual = lines.length / total;
  const rarity = question.terms.map((_, term) => rarityOf(counts.filter((own) => (own[term] ?? 0) > 0).length, total));
  const bySession = counts.map((own, session) =>
    sum(own, (count, term) =>
      count === 0 ? 0 : (rarity[term] ?? 0) * saturate(count, 1.2 * (0.25 + (0.75 * (sizes[session] ?? 0)) / usual)),
    ),
  );
  return sessions.map((session) => bySession[session] ?? 0);
}

/** Length relative to the usual length for the role, so that a bot's long answers are compared with each other. */
function relativeLengths(lines: readonly Line[]): Float64Array {
  const usual = (isBot: boolean) => {
    const same = lines.filter((line) => line.isBot === isBot);
    return Math.max(1, sum(same, ({ words }) => words) / Math.max(1, same.length));
  };
  const [person, bot] = [usual(false), usual(true)];
  return valuesOf(lines, (line) => line.words / (line.isBot ? bot : person));
}

function saturate(count: number, flat: number): number {
  return (count * (flat + 1)) / (count + flat);
}

function scores(values: ArrayLike<number>): Scores {
  let best = Number.EPSILON;
  for (let index = 0; index < values.length; index += 1) best = Math.max(best, values[index] ?? 0);
  return { values, best };
}

export function shareAt({ values, best }: Scores, index: number | undefined): number {
  return index === undefined ? 0 : (values[index] ?? 0) / best;
}

function sum<Item>(items: readonly Item[], value: (item: Item, index: number) => number): number {
  let total = 0;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (item !== undefined) total += value(item, index);
  }
  return total;
}
