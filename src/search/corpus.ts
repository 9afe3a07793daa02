import type { Line } from './passages.ts';
import type { Question } from './query.ts';
import { wordsOf } from './words.ts';

const SESSION_GAP_MS = 3 * 60 * 60 * 1000;
/** Share of a neighbour's words that count for a line. */
const NEIGHBOURS = [
  [-2, 0.3],
  [-1, 0.6],
  [1, 0.4],
  [2, 0.2],
] as const;
const CONTEXT_LINES = 10;

/** The proposed lines, with the facts that depend on all of them together. */
export interface Pool {
  readonly question: Question;
  readonly lines: readonly Line[];
  readonly at: ReadonlyMap<number, number>;
  readonly rarity: readonly number[];
  readonly totalRarity: number;
  readonly mostRarity: number;
  readonly own: Scores;
  readonly ownShort: Scores;
  readonly window: Scores;
  readonly windowCoverage: readonly number[];
  readonly context: Scores;
  readonly session: Scores;
  readonly hasBot: boolean;
  /** Whether the question names the speaker, by any word of the name. */
  isNamed(speaker: string): boolean;
}

/** Values with their maximum, for shares of the best. */
interface Scores {
  readonly values: readonly number[];
  readonly best: number;
}

/** `lines` ascending by seq; `total` is the number of entries of the conversation. */
export function measure(lines: readonly Line[], question: Question, total: number): Pool {
  const at = new Map(lines.map((line, index) => [line.entry.seq, index]));
  const rarity = question.terms.map((_, term) => rarityOf(countLines(lines, term), Math.max(total, lines.length)));
  const totalRarity = sum(rarity, (value) => value) || 1;
  const sessions = sessionsOf(lines);
  const around = lines.map((_, index) => windowCounts(lines, index));
  const relative = relativeLengths(lines);
  const bm25 = (counts: readonly number[], flat: number) =>
    sum(counts, (count, term) => (count === 0 ? 0 : (rarity[term] ?? 0) * saturate(count, flat)));
  return {
    question,
    lines,
    at,
    rarity,
    totalRarity,
    mostRarity: Math.max(...rarity, Number.EPSILON),
    own: scores(lines.map((line, i) => bm25(line.counts, 0.9 * (0.6 + 0.4 * (relative[i] ?? 1))))),
    ownShort: scores(lines.map((line, i) => bm25(line.counts, 1.2 * (0.25 + 0.75 * (relative[i] ?? 1))))),
    window: scores(around.map((counts) => bm25(counts, 0.9))),
    windowCoverage: around.map(
      (counts) => sum(counts, (count, term) => (count > 0 ? (rarity[term] ?? 0) : 0)) / totalRarity,
    ),
    context: scores(contextCounts(lines, sessions).map((counts) => bm25(counts, 3))),
    session: scores(sessionScores(lines, question, sessions)),
    hasBot: lines.some((line) => line.isBot),
    isNamed: createNameCheck(question),
  };
}

function createNameCheck(question: Question): (speaker: string) => boolean {
  const asked = new Set(wordsOf(question.folded));
  const known = new Map<string, boolean>();
  return (speaker) => {
    const cached = known.get(speaker);
    if (cached !== undefined) return cached;
    const isNamed = wordsOf(speaker).some((word) => word.length > 1 && asked.has(word));
    known.set(speaker, isNamed);
    return isNamed;
  };
}

function windowCounts(lines: readonly Line[], index: number): readonly number[] {
  const counts = [...(lines[index]?.counts ?? [])];
  for (const [offset, share] of NEIGHBOURS) {
    const neighbour = lineAt(lines, index, offset);
    if (neighbour === undefined || !neighbour.hasTerms) continue;
    neighbour.counts.forEach((count, term) => {
      counts[term] = (counts[term] ?? 0) + share * Math.min(2, count);
    });
  }
  return counts;
}

/** The line that many seqs away. Lines ascend by seq, so it is at most as many indexes away. */
function lineAt(lines: readonly Line[], index: number, offset: number): Line | undefined {
  const seq = (lines[index]?.entry.seq ?? 0) + offset;
  const step = Math.sign(offset);
  for (let to = index + offset; to !== index; to -= step) if (lines[to]?.entry.seq === seq) return lines[to];
  return undefined;
}

/** Terms of the surrounding lines within the session, fading with distance. Only lines with terms spread theirs. */
function contextCounts(lines: readonly Line[], sessions: readonly number[]): readonly (readonly number[])[] {
  const counts = lines.map(({ counts: own }) => new Array<number>(own.length).fill(0));
  lines.forEach((line, from) => {
    if (!line.hasTerms) return;
    const near = (to: number) => Math.abs((lines[to]?.entry.seq ?? Number.NaN) - line.entry.seq);
    const spread = (to: number) => {
      const target = sessions[to] === sessions[from] ? counts[to] : undefined;
      if (target !== undefined) addFaded(target, line.counts, 1 - near(to) / (CONTEXT_LINES + 1));
    };
    for (let to = from; near(to) <= CONTEXT_LINES; to -= 1) spread(to);
    for (let to = from + 1; near(to) <= CONTEXT_LINES; to += 1) spread(to);
  });
  return counts;
}

function addFaded(target: number[], counts: readonly number[], share: number): void {
  for (let term = 0; term < counts.length; term += 1) {
    const count = counts[term] ?? 0;
    if (count > 0) target[term] = (target[term] ?? 0) + share * Math.min(2, count);
  }
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
function relativeLengths(lines: readonly Line[]): readonly number[] {
  const usual = (isBot: boolean) => {
    const own = lines.filter((line) => line.isBot === isBot);
    return Math.max(1, sum(own, (line) => line.words) / Math.max(1, own.length));
  };
  const [person, bot] = [usual(false), usual(true)];
  return lines.map((line) => line.words / (line.isBot ? bot : person));
}

function countLines(lines: readonly Line[], term: number): number {
  return lines.filter((line) => (line.counts[term] ?? 0) > 0).length;
}

/** Zero for terms that occur nowhere, because they do not distinguish any line. */
function rarityOf(holding: number, total: number): number {
  return holding === 0 ? 0 : Math.log(1 + (total - holding + 0.5) / (holding + 0.5));
}

function saturate(count: number, flat: number): number {
  return (count * (flat + 1)) / (count + flat);
}

function scores(values: readonly number[]): Scores {
  return { values, best: Math.max(...values, Number.EPSILON) };
}

export function shareAt({ values, best }: Scores, index: number | undefined): number {
  return index === undefined ? 0 : (values[index] ?? 0) / best;
}

export function sum<Item>(items: readonly Item[], value: (item: Item, index: number) => number): number {
  let total = 0;
  for (const [index, item] of items.entries()) total += value(item, index);
  return total;
}
