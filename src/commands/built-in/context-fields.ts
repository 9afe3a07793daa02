import { type ContextHistory, MAX_RUNS } from '../../context/history.ts';
import type { FocusReport } from '../../context/inspection.ts';
import type { ContextPart, Measurement } from '../../ports/engine.ts';
import type { ReplyField } from '../../ports/reply.ts';
import { counted, formatNumber, formatPercent } from '../../util/text/text.ts';
import type { Call } from '../command.ts';

/** The conversation in the inspector, for those who may sign in there: moderators and operators. */
export function inspectorFields({ services, invocation }: Call): readonly ReplyField[] {
  const address = invocation.rights === 'member' ? null : services.inspectorLink(invocation.conversation);
  return address === null ? [] : [{ name: 'Inspector', value: address }];
}

/** What the newest message is about, and how the view came to its size: for `/context` and `strata context`. */
export function historyFields(focus: FocusReport | null, history: ContextHistory): readonly ReplyField[] {
  const { compactions, peak } = history;
  return [
    ...(focus === null ? [] : [{ name: 'Focus', value: focusLine(focus) }]),
    { name: 'Jobs', value: jobsLine(compactions) },
    { name: 'Peak', value: `${formatNumber(peak.tokens)} tokens (${formatPercent(peak.ratio)})` },
    { name: 'Trend', value: trendLine(history.trend) },
  ];
}

function focusLine({ people, names, intents }: FocusReport): string {
  const lists = { people: people.map(({ name }) => name), words: names, intents };
  const said = Object.entries(lists).flatMap(([name, items]) =>
    items.length === 0 ? [] : [`${name}: ${items.join(', ')}`],
  );
  return said.length === 0 ? 'nothing in particular' : said.join('; ');
}

function jobsLine({ committed, failed, isAll, ...totals }: ContextHistory['compactions']): string {
  const { freedTokens, memories, inputTokens, outputTokens } = totals;
  const done = `${formatNumber(committed)} done, ${formatNumber(failed)} failed`;
  if (committed + failed === 0) return 'none yet';
  const which = isAll ? '' : `the newest ${MAX_RUNS}: `;
  const spent = `read ${formatNumber(inputTokens)} and wrote ${formatNumber(outputTokens)} tokens`;
  return `${which}${done}; freed ${formatNumber(freedTokens)} tokens, ${spent}, saved ${counted(memories, 'memory', 'memories')}`;
}

function trendLine({ tokensPerMessage, messagesLeft }: ContextHistory['trend']): string {
  if (tokensPerMessage === null) return 'no messages since the last summary';
  const pace = `about ${formatNumber(tokensPerMessage)} tokens a message`;
  if (messagesLeft === null) return pace;
  return messagesLeft === 0
    ? `${pace}, a compaction is due`
    : `${pace}, about ${counted(messagesLeft, 'message', 'messages')} until a compaction`;
}

/** The part before any cut, its limit and its rank, for people. */
export function sizeOf(
  { originalTokens, budget, priority, protected: isProtected }: ContextPart,
  { estimated }: Pick<Measurement, 'estimated'>,
): { readonly whole: string; readonly budget: string; readonly priority: string } {
  return {
    whole: `${estimated ? '~' : ''}${formatNumber(originalTokens)}`,
    budget: budget === null ? 'none' : `${formatNumber(budget.tokens)} (${budget.of})`,
    priority: priority === null ? 'none' : `${priority}${isProtected ? ', protected' : ''}`,
  };
}
