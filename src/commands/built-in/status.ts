import { callBudgetOf } from '../../compaction/job/call-budget.ts';
import { modelsOf } from '../../config/directory.ts';
import { owesReply } from '../../conversation/state/snapshot.ts';
import { answeredBy } from '../../conversation/turn/answered-by.ts';
import { lastFailureOf } from '../../conversation/turn/last-failure.ts';
import { delayedTurnOf } from '../../conversation/turn/waiting/turn-retries.ts';
import { formatCache, formatCost, formatTokens, sumOf } from '../../costs/format.ts';
import { StrataError } from '../../domain/errors.ts';
import { pausedModels } from '../../models/breaker.ts';
import type { MaintenanceRun } from '../../ports/journal.ts';
import type { CommandReply, ReplyField } from '../../ports/reply.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { counted, formatDuration, formatNumber, formatTime } from '../../util/text/text.ts';
import { type Call, type Command, commandTo } from '../command.ts';
import { makeReply } from '../reply.ts';
import { singleAction } from '../spec.ts';
import { approximate, PICTURE, thresholdLine, usageLine } from './context.ts';
import { inspectorFields } from './context-fields.ts';
import { unreadNote } from './unread.ts';

export const status: Command = {
  spec: singleAction('status', 'State of the conversation: model, context, summaries, memories, jobs and problems'),
  run: { '': show },
};

async function show(call: Call): Promise<CommandReply> {
  const { conversation } = call;
  const own = conversation === null ? [] : await conversationFields(call, conversation);
  return makeReply('Status', {
    text: conversation === null ? 'There are no messages here yet.' : '',
    fields: [...own, ...(await troubleFields(call)), ...(conversation === null ? [] : inspectorFields(call))],
    actions: [
      { label: 'What the model sees', command: commandTo('context list'), style: 'plain' },
      { label: 'The summaries', command: commandTo('summaries list'), style: 'plain' },
      ...(conversation === null ? [] : [PICTURE]),
    ],
  });
}

async function conversationFields(call: Call, conversation: Conversation): Promise<readonly ReplyField[]> {
  const { agent, reader } = call;
  const { store } = call.services;
  const memories = await store.memories.list({ reader, states: ['active'], limit: MAX_MEMORIES, offset: 0 });
  const runs = await store.journal.runs(conversation.id, RUNS);
  return [
    { name: 'Agent', value: agent.id },
    ...(await contextFields(call, conversation)),
    { name: 'Messages', value: messagesLine(conversation) },
    ...(await replyFields(call, conversation)),
    {
      name: 'Memories',
      value: `${formatNumber(memories.length)}${memories.length === MAX_MEMORIES ? ' or more' : ''}${unreadNote(conversation)}`,
    },
    { name: 'Last compaction', value: lastCompaction(runs) },
    { name: 'Job', value: jobLine(call, conversation) },
    ...(await costFields(call, conversation)),
  ];
}

/** If the model cannot be used, the rest of the status is still shown. */
async function contextFields({ services, agent }: Call, conversation: Conversation): Promise<readonly ReplyField[]> {
  const stack = await services.store.summaries.live(conversation.id);
  try {
    const { modelId, measurement, thresholds, summary } = await services.inspect(conversation);
    const by = await answeredBy(services.state, conversation.id);
    return [
      { name: 'Model', value: [modelId, ...modelsOf(agent).slice(1)].join(', otherwise ') },
      ...(by === null || modelsOf(agent).length === 1 ? [] : [{ name: 'Last reply by', value: by }]),
      { name: 'Window', value: `${formatNumber(measurement.window)} tokens` },
      { name: 'Used', value: usageLine(measurement) },
      { name: 'Compacts', value: thresholdLine(measurement.window, thresholds) },
      {
        name: 'Stack',
        value: `${stackLine(stack)}, ${approximate(measurement.stack, measurement)} tokens${readyLine(summary.ready.length)}`,
      },
    ];
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    return [
      { name: 'Model', value: `${modelsOf(agent).join(', ')}: ${error.message}` },
      { name: 'Stack', value: stackLine(stack) },
    ];
  }
}

const MAX_MEMORIES = 1000;
const RUNS = 20;

function messagesLine({ nextSeq, compactedUpto, contextFrom }: Conversation): string {
  const whole = nextSeq - 1 - Math.max(compactedUpto, contextFrom - 1);
  return `${formatNumber(nextSeq - 1)} stored, the last ${formatNumber(Math.max(0, whole))} seen in full`;
}

/** Owed replies and posts that are delayed: failed turns, and posts that the platform did not accept. */
async function replyFields({ services }: Call, conversation: Conversation): Promise<readonly ReplyField[]> {
  const now = services.clock.now();
  const broken = await delayedTurnOf(services.state, conversation);
  const failed = await lastFailureOf(services.state, conversation);
  const pending = await services.store.outbox.pending(conversation.id);
  const refused = pending.find(({ attempts }) => attempts > 0);
  const lines = [
    ...(failed === null ? [] : [`failed at ${formatTime(failed.at)}: ${failed.message}`]),
    ...(broken === null || !owesReply(conversation)
      ? []
      : [
          `owed, failed ${times(broken.failures)}, next attempt ${inTime(broken.nextAttemptAt - now)}: ${broken.message}`,
        ]),
    ...(refused === undefined
      ? []
      : [
          `${pending.length} not posted yet, tried ${times(refused.attempts)}: ${refused.reason ?? 'the reason is not known'}`,
        ]),
  ];
  return lines.length === 0 ? [] : [{ name: 'Reply', value: lines.join('\n') }];
}

function times(count: number): string {
  return counted(count, 'time', 'times');
}

/** `3 summaries (2 of level 0, 1 of level 1), 1 gap`. */
function stackLine(stack: readonly Summary[]): string {
  const summaries = stack.filter((layer) => layer.kind === 'summary');
  const gaps = stack.length - summaries.length;
  const levels = Map.groupBy(summaries, (layer) => layer.level);
  const byLevel = [...levels].sort(([a], [b]) => a - b).map(([level, of]) => `${of.length} of level ${level}`);
  const count = counted(summaries.length, 'summary', 'summaries');
  const detail = summaries.length === 0 ? '' : ` (${byLevel.join(', ')})`;
  return `${count}${detail}${gaps === 0 ? '' : `, ${counted(gaps, 'gap', 'gaps')}`}`;
}

/** A summary waits while the provider still has the prefix that it would change. */
function readyLine(count: number): string {
  return count === 0 ? '' : `; ${formatNumber(count)} more ready to be published`;
}

function lastCompaction(runs: readonly MaintenanceRun[]): string {
  const last = runs.find((run) => run.outcome === 'committed' && run.work !== 'extract');
  if (last === undefined) return 'none yet';
  const { work, trigger, fromSeq, toSeq, tokensBefore, tokensAfter, durationMs, inputTokens, outputTokens } = last;
  const tokens = `~${formatNumber(tokensBefore)} → ~${formatNumber(tokensAfter)} tokens`;
  const cost = `cost ${formatNumber(inputTokens)} in + ${formatNumber(outputTokens)} out`;
  const when = formatTime(last.startedAt);
  return `${work} #${fromSeq}–#${toSeq} (${trigger}): ${tokens} in ${formatDuration(durationMs)}, ${cost}, ${when}`;
}

/** What maintenance is doing, or why it is not running, and when it runs next. */
function jobLine({ services }: Call, conversation: Conversation): string {
  const now = services.clock.now();
  const { maintenanceUntil, failures, nextAttemptAt, lastError, maintainAt } = conversation;
  if (maintenanceUntil !== null && maintenanceUntil > now) return 'running';
  if (failures > 0) {
    const next = nextAttemptAt === null ? 'no retry is scheduled' : `next attempt ${inTime(nextAttemptAt - now)}`;
    return `failed ${times(failures)}, ${next}: ${lastError ?? 'for an unknown reason'}`;
  }
  if (maintainAt === null) return 'nothing to do';
  return `next check ${inTime(maintainAt - now)}`;
}

function inTime(ms: number): string {
  return ms <= 0 ? 'now' : `in ${formatDuration(ms)}`;
}

async function costFields({ services }: Call, conversation: Conversation): Promise<readonly ReplyField[]> {
  const totals = await services.store.journal.usage(conversation.id);
  if (totals.length === 0) return [];
  const budget = await callBudgetOf(services, conversation);
  const lines = totals.map(
    (total) =>
      `${total.purpose}: ${counted(total.calls, 'call', 'calls')} of ${total.model}, ${formatTokens(total)}, ${formatCost(total)}`,
  );
  if (totals.length > 1) lines.push(`together: ${formatCost(sumOf(totals))}`);
  const replies = sumOf(totals.filter(({ purpose }) => purpose === 'reply'));
  const losses = await services.store.journal.cache.losses({ since: null, conversationId: conversation.id });
  const cap = `${formatNumber(budget.calls)} of at most ${formatNumber(budget.limit)} calls for summaries in this hour`;
  return [
    { name: 'Cost', value: [...lines, cap].join('\n') },
    ...(replies.calls === 0 ? [] : [{ name: 'Prefix cache', value: formatCache(replies, losses).join('\n') }]),
  ];
}

async function troubleFields({ services }: Call): Promise<readonly ReplyField[]> {
  const now = services.clock.now();
  const { driver, waiting, running, delayed, trouble } = services.queue.stats();
  const paused = await pausedModels(services.state, now);
  const config = services.configTrouble();
  return [
    { name: 'Queue', value: trouble ?? `${driver}: ${running} running, ${waiting} waiting, ${delayed} later` },
    ...paused.map(({ model, untilAt, message }) => ({
      name: 'Paused',
      value: `${model} is paused until ${formatTime(untilAt)} (${inTime(untilAt - now)}): ${message}`,
    })),
    ...(config === null ? [] : [{ name: 'Configuration', value: config }]),
  ];
}
