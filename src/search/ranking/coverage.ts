import type { Question } from './question.ts';

/** How much of the topic of a question was said. Pure. */

/** A shorter conversation counts as one with this many lines. */
const MIN_COMPARED = 100;
/** A question for a reason that mentions nobody's past is about the past only if most of its words were said there. */
const EXPLAINED = 0.4;
/** Scripts without spaces whose characters are letters: many pairs of letters are the same by chance. */
const LETTERS = /^[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
const BY_CHANCE = 0.6;

/** What each term of the topic counts when the topic is looked for; zero for all others. */
export function topicRarities(question: Question, holding: readonly number[], total: number): readonly number[] {
  return holding.map((lines, term) => (question.isTopic[term] ? rarityOf(lines, comparedWith(question, total)) : 0));
}

/** In a short conversation, every word seems common. */
function comparedWith({ isForeign }: Question, total: number): number {
  return isForeign ? Math.max(MIN_COMPARED, total) : total;
}

interface Covered {
  readonly topic: readonly number[];
  readonly mostTopic: number;
  readonly total: number;
}

/**
 * Outside English, general questions share more words with any conversation, because more words change their endings
 * and fewer stop words are known. So the rarest word, which occurs nowhere, counts the most.
 */
export function coverageOf(question: Question, { topic, mostTopic, total }: Covered): number {
  const terms = question.isTopic.filter((isTopic) => isTopic).length;
  const missing = terms - topic.filter((value) => value > 0).length;
  const found = topic.reduce((sum, value) => sum + value, 0);
  if (found === 0) return 0;
  if (!question.isForeign) return (1 - missing / terms) * (mostTopic / found);
  const share = mostTopic / (found + missing * rarityAmong(0, comparedWith(question, total)));
  const byChance = LETTERS.test(question.terms[0] ?? '') ? BY_CHANCE : 1;
  return share * Math.min(question.asksWhy ? EXPLAINED : 1, byChance);
}

/** Zero for terms that occur nowhere, because they do not distinguish any line. */
export function rarityOf(holding: number, total: number): number {
  return holding === 0 ? 0 : rarityAmong(holding, total);
}

function rarityAmong(holding: number, total: number): number {
  return Math.log(1 + (total - holding + 0.5) / (holding + 0.5));
}
