import { measure, type Pool, shareAt, sum } from './corpus.ts';
import type { Line } from './passages.ts';
import type { Question } from './query.ts';

/** Signals in favour of a line, mostly 0..1. The weights are in `ranker.ts`. */
export interface Evidence {
  /** BM25 of the line relative to the best line, with a mild and with the usual length penalty. */
  readonly own: number;
  readonly ownShort: number;
  /** The line with two neighbours on each side, and the share of the question's rarity in their terms. */
  readonly window: number;
  readonly windowCoverage: number;
  /** The ten lines around. */
  readonly context: number;
  /** The session, if the times show sessions. */
  readonly session: number;
  readonly rarest: number;
  readonly pairs: number;
  readonly near: number;
  readonly before1: number;
  readonly before2: number;
  readonly after1: number;
  /** The previous line is a matching question by somebody else. */
  readonly answersQuestion: number;
  readonly speakerNamed: number;
  readonly isQuestion: number;
  readonly isReaction: number;
  readonly long: number;
  readonly brief: number;
  readonly code: number;
  readonly bot: number;
  readonly botOwn: number;
  readonly botAsked: number;
  readonly botOverview: number;
  readonly selfOwn: number;
  readonly times: number;
  readonly numbers: number;
  readonly digits: number;
  readonly names: number;
  readonly standing: number;
  readonly standingAdvice: number;
  readonly standingOwn: number;
  readonly preferenceAdvice: number;
  readonly preferenceOwn: number;
  readonly month: number;
  readonly day: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** `lines` ascending by seq; `total` is the number of entries of the conversation. */
export function weigh(lines: readonly Line[], question: Question, total: number): readonly Evidence[] {
  const pool = measure(lines, question, total);
  return lines.map((line, index) => evidenceOf(pool, line, index));
}

function evidenceOf(pool: Pool, line: Line, index: number): Evidence {
  const { question } = pool;
  const near = (offset: number) => shareAt(pool.own, pool.at.get(line.entry.seq + offset));
  return {
    ...lexicalEvidence(pool, line, index),
    ...neighbourEvidence(pool, line, near),
    ...roleEvidence(pool, line, shareAt(pool.own, index)),
    ...signalEvidence(question, line, shareAt(pool.own, index)),
    ...dateEvidence(question, line),
  };
}

function lexicalEvidence(pool: Pool, line: Line, index: number) {
  const { rarity, totalRarity } = pool;
  const rarityAt = (term: number) => rarity[term] ?? 0;
  return {
    own: shareAt(pool.own, index),
    ownShort: shareAt(pool.ownShort, index),
    window: shareAt(pool.window, index),
    windowCoverage: pool.windowCoverage[index] ?? 0,
    context: shareAt(pool.context, index),
    session: shareAt(pool.session, index),
    rarest:
      line.counts.reduce((most, count, term) => (count > 0 ? Math.max(most, rarityAt(term)) : most), 0) /
      pool.mostRarity,
    pairs: sum(line.pairs, ([a, b]) => Math.max(rarityAt(a), rarityAt(b))) / totalRarity,
    near: sum(line.near, ([a, b]) => Math.min(rarityAt(a), rarityAt(b))) / totalRarity,
  };
}

function neighbourEvidence(pool: Pool, line: Line, near: (offset: number) => number) {
  const previous = pool.lines[pool.at.get(line.entry.seq - 1) ?? -1];
  const isAnswer = !line.isBot && previous?.signals.isQuestion && !isSameSpeaker(previous, line);
  return {
    before1: near(-1),
    before2: near(-2),
    after1: near(1),
    answersQuestion: isAnswer ? near(-1) : 0,
  };
}

function roleEvidence(pool: Pool, line: Line, own: number) {
  const { question } = pool;
  const bot = Number(line.isBot);
  return {
    speakerNamed: Number(pool.isNamed(line.entry.author?.name ?? '')),
    bot,
    botOwn: bot * own,
    botAsked: bot * Number(question.asksBot),
    botOverview: bot * Number(question.asksOverview),
    selfOwn: Number(pool.hasBot && !line.isBot && question.asksSelf) * own,
  };
}

function signalEvidence(question: Question, line: Line, own: number) {
  const { signals } = line;
  const person = Number(!line.isBot);
  const standing = person * Number(signals.isStanding);
  const preference = person * Number(signals.isPreference && question.asksAdvice);
  return {
    isQuestion: person * Number(signals.isQuestion),
    isReaction: person * Number(signals.isReaction),
    long: person * Math.max(0, Math.log(signals.plainWords / 60)),
    brief: person * Math.max(0, Math.log(15 / Math.max(1, signals.plainWords))),
    code: person * signals.codeShare,
    times: person * signals.times * Number(question.asksWhen),
    numbers: person * signals.numbers * Number(question.asksNumber),
    digits: person * signals.digits,
    names: person * signals.names,
    standing,
    standingAdvice: standing * Number(question.asksAdvice),
    standingOwn: standing * own,
    preferenceAdvice: preference,
    preferenceOwn: preference * own,
  };
}

function dateEvidence({ date }: Question, { entry }: Line) {
  if (!date) return { month: 0, day: 0 };
  const at = new Date(entry.at);
  const isYear = date.year === null || date.year === at.getUTCFullYear();
  const noon = date.day === null ? 0 : Date.UTC(date.year ?? at.getUTCFullYear(), date.month, date.day, 12);
  return {
    month: Number(isYear && date.month === at.getUTCMonth()),
    day: date.day === null ? 0 : Math.max(0, 1 - Math.abs(entry.at - noon) / (7 * DAY_MS)),
  };
}

function isSameSpeaker(a: Line, b: Line): boolean {
  return a.isBot === b.isBot && a.entry.author?.id === b.entry.author?.id;
}
