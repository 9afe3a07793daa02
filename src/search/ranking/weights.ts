import type { Weights } from './features.ts';

/**
 * Fitted by a softmax over each question's lines on half of LoCoMo (people) and ten chats of BEAM (a bot), validated by
 * leaving out each conversation in turn, and rounded. `bench/recall.ts` shows their quality. Conversations among people
 * and with a bot differ most in line length and in who tells what, so there are two columns.
 */
export const AMONG_PEOPLE: Weights = [
  ['own', 0.4],
  ['ownShort', 0.4],
  ['window', 1.6],
  ['windowCoverage', 1.8],
  ['context', 1.4],
  ['session', 1.4],
  ['rarest', 0.2],
  ['pairs', 1],
  ['near', 1],
  ['before1', -0.6],
  ['before2', 0.6],
  ['answersQuestion', 2.6],
  ['speakerNamed', 1.2],
  ['isQuestion', -0.8],
  ['isReaction', -0.4],
  ['brief', -0.4],
  ['times', 1.8],
  ['numbers', 1.2],
  ['digits', 1.2],
  ['names', 1.6],
  ['month', 4],
  ['day', 3.2],
];

export const WITH_BOT: Weights = [
  ['own', 1.2],
  ['ownShort', 1.2],
  ['context', 0.6],
  ['session', 0.6],
  ['rarest', 0.8],
  ['pairs', 1.2],
  ['near', 1.2],
  ['before1', 0.2],
  ['after1', 1.6],
  ['speakerNamed', 0.6],
  ['bot', -1.6],
  ['botOwn', -0.6],
  ['botAsked', 0.4],
  ['botOverview', 0.8],
  ['selfOwn', 2],
  ['long', -1.6],
  ['code', -0.4],
  ['times', 1.2],
  ['numbers', 0.6],
  ['digits', 0.4],
  ['names', 0.2],
  ['standing', 1.4],
  ['standingAdvice', 2],
  ['standingOwn', 0.4],
  ['preferenceAdvice', 1.4],
  ['preferenceOwn', 0.4],
  ['month', 2],
  ['day', 1.6],
];
