import { DAY_MS } from '../../util/time/time.ts';
import * as said from './line-features.ts';
import type { Line } from './lines.ts';
import { indexAt, type Pool, shareAt } from './pool.ts';

/** The value of one feature of a line. It is computed only where it has a weight. */
type Feature = (pool: Pool, line: Line, index: number) => number;

export type FeatureName = keyof typeof FEATURES;
export type Weights = readonly (readonly [FeatureName, number])[];

const own: Feature = (pool, _line, index) => shareAt(pool.own, index);
const standing: Feature = (_pool, line) => person(line) && Number(said.isStanding(line.said));
const preference: Feature = ({ question }, line) =>
  Number(!line.isBot && question.asksAdvice && said.isPreference(line.said));

/** Features in favour of a line, mostly 0..1. The weights are in `weights.ts`. */
const FEATURES = {
  /** BM25 of the line relative to the best line, with a mild and with the usual length penalty. */
  own,
  ownShort: (pool, _line, index) => shareAt(pool.ownShort, index),
  /** The line with two neighbours on each side, and the share of the question's rarity in their terms. */
  window: (pool, _line, index) => shareAt(pool.window, index),
  windowCoverage: (pool, _line, index) => pool.windowCoverage[index] ?? 0,
  /** The ten lines around. */
  context: (pool, _line, index) => shareAt(pool.context, index),
  /** The session, if the times show sessions. */
  session: (pool, _line, index) => shareAt(pool.session, index),
  rarest: (pool, line) => rarestTerm(pool, line) / pool.mostRarity,
  pairs: (pool, line) => pairedShare(pool, line.pairs, Math.max),
  near: (pool, line) => pairedShare(pool, line.near, Math.min),
  before1: (pool, _line, index) => ownAt(pool, index, -1),
  before2: (pool, _line, index) => ownAt(pool, index, -2),
  after1: (pool, _line, index) => ownAt(pool, index, 1),
  /** The previous line is a matching question by somebody else. */
  answersQuestion: (pool, line, index) => (isAnswer(line, pool.lines[index - 1]) ? ownAt(pool, index, -1) : 0),
  speakerNamed: (pool, line) => Number(pool.isNamed(line.entry.author?.name ?? '')),
  isQuestion: (_pool, line) => person(line) && Number(said.isQuestion(line.said)),
  isReaction: (_pool, line) => person(line) && Number(said.isReaction(line.said)),
  long: (_pool, line) => person(line) && Math.max(0, Math.log(line.said.plainWords / 60)),
  brief: (_pool, line) => person(line) && Math.max(0, Math.log(15 / Math.max(1, line.said.plainWords))),
  code: (_pool, line) => person(line) && said.codeShare(line.said),
  bot: (_pool, line) => Number(line.isBot),
  botOwn: (pool, line, index) => (line.isBot ? own(pool, line, index) : 0),
  botAsked: ({ question }, line) => Number(line.isBot && question.asksBot),
  botOverview: ({ question }, line) => Number(line.isBot && question.asksOverview),
  selfOwn: (pool, line, index) => (pool.hasBot && !line.isBot && pool.question.asksSelf ? own(pool, line, index) : 0),
  times: ({ question }, line) => (question.asksWhen ? person(line) && said.times(line.said) : 0),
  numbers: ({ question }, line) => (question.asksNumber ? person(line) && said.numbers(line.said) : 0),
  digits: (_pool, line) => person(line) && said.digits(line.said),
  names: (_pool, line) => person(line) && said.names(line.said),
  standing,
  standingAdvice: (pool, line, index) => (pool.question.asksAdvice ? standing(pool, line, index) : 0),
  standingOwn: (pool, line, index) => own(pool, line, index) && standing(pool, line, index) * own(pool, line, index),
  preferenceAdvice: preference,
  preferenceOwn: (pool, line, index) =>
    own(pool, line, index) && preference(pool, line, index) * own(pool, line, index),
  month: ({ question: { date } }, { entry }) => Number(date !== null && isInMonth(date, new Date(entry.at))),
  day: ({ question: { date } }, { entry }) => (date === null || date.day === null ? 0 : nearnessTo(date, entry.at)),
} satisfies Record<string, Feature>;

/** The weighted sum of the features of each line. */
export function scoresOf(pool: Pool, weights: Weights): readonly number[] {
  const weighed = weights.map(([name, weight]) => ({ feature: FEATURES[name], weight }));
  return pool.lines.map((line, index) => {
    let score = 0;
    for (const { feature, weight } of weighed) score += weight * feature(pool, line, index);
    return score;
  });
}

function person({ isBot }: Line): 0 | 1 {
  return isBot ? 0 : 1;
}

/** Most lines have no pairs. */
function pairedShare(pool: Pool, pairs: Line['pairs'], of: (a: number, b: number) => number): number {
  let total = 0;
  // A function for the pairs would be garbage for each line.
  for (const [a, b] of pairs) total += of(rarityOf(pool, a), rarityOf(pool, b));
  return total === 0 ? 0 : total / pool.totalRarity;
}

function rarityOf({ rarity }: Pool, term: number): number {
  return rarity[term] ?? 0;
}

function rarestTerm({ rarity }: Pool, { counts }: Line): number {
  let most = 0;
  for (let term = 0; term < counts.length; term += 1) {
    if ((counts[term] ?? 0) > 0) most = Math.max(most, rarity[term] ?? 0);
  }
  return most;
}

/** The share of the line that many messages away. */
function ownAt({ own: scores, lines }: Pool, index: number, offset: number): number {
  return shareAt(scores, indexAt(lines, index, offset));
}

/** Whether somebody else asks in the message right before. */
function isAnswer(line: Line, before: Line | undefined): boolean {
  if (line.isBot || before === undefined || before.entry.seq !== line.entry.seq - 1) return false;
  const isSameSpeaker = !before.isBot && before.entry.author?.id === line.entry.author?.id;
  return !isSameSpeaker && said.isQuestion(before.said);
}

type AskedDate = NonNullable<Pool['question']['date']>;

function isInMonth({ month, year }: AskedDate, at: Date): boolean {
  return month === at.getUTCMonth() && (year === null || year === at.getUTCFullYear());
}

/** 1 at noon of the day, and 0 a week before or after it. */
function nearnessTo({ month, day, year }: AskedDate, at: number): number {
  const noon = Date.UTC(year ?? new Date(at).getUTCFullYear(), month, day ?? 1, 12);
  return Math.max(0, 1 - Math.abs(at - noon) / (7 * DAY_MS));
}
