import type { MaintenanceRun } from '../../ports/journal.ts';
import type { CommandReply } from '../../ports/reply.ts';
import { withinTime } from '../../util/async/within.ts';
import { trimEndOf } from '../../util/text/scan.ts';
import { formatDuration, formatNumber } from '../../util/text/text.ts';
import { type Call, type Command, commandTo, nothingYet, optionOf, typed } from '../command.ts';
import { makeReply } from '../reply.ts';
import { singleAction, textOption } from '../spec.ts';

/** How long a person waits for the result before the answer points to `/status`. */
const WAIT_MS = 20_000;
const MAX_INSTRUCTION = 500;
/** More runs than a single command can start. */
const RUNS = 20;

export const compact: Command = {
  spec: singleAction('compact', 'Summarise the older part of the conversation now, in the background', {
    options: [textOption('instruction', 'What the summary should emphasise', { rest: true })],
    access: 'moderator',
    ephemeral: false,
  }),
  run: { '': compactNow },
};

/** Runs the maintenance job now. Running replies and waiting messages are not affected. */
async function compactNow(call: Call): Promise<CommandReply> {
  const { services, conversation } = call;
  if (conversation === null) return nothingYet('Compact');
  const instruction = optionOf(call, 'instruction')?.slice(0, MAX_INSTRUCTION) ?? null;
  const startedAt = services.clock.now();
  const outcome = await withinTime(services.compact(conversation, instruction), { clock: services.clock, ms: WAIT_MS });
  if (outcome === null)
    return shared({ text: `The summary is being written. ${typed(call, 'status')} shows when it is done.` });
  const runs = await services.store.journal.runs(conversation.id, RUNS);
  const done = runs.filter((run) => run.startedAt >= startedAt && run.outcome === 'committed');
  if (done.length === 0 && outcome.changed) return shared({ text: `Done: ${outcome.reason}.`, tone: 'success' });
  if (done.length === 0) return shared({ text: `Nothing was compacted: ${trimEndOf(outcome.reason, '.')}.` });
  return shared({ ...report(done), tone: 'success' });
}

/** The journal lists the newest run first. */
function report(done: readonly MaintenanceRun[]): Partial<CommandReply> {
  const before = done.at(-1)?.tokensBefore ?? 0;
  const after = done[0]?.tokensAfter ?? 0;
  const sum = (of: (run: MaintenanceRun) => number) => done.reduce((total, run) => total + of(run), 0);
  const from = Math.min(...done.map((run) => run.fromSeq));
  const to = Math.max(...done.map((run) => run.toSeq));
  return {
    text: `~${formatNumber(before)} → ~${formatNumber(after)} tokens`,
    fields: [
      { name: 'Messages', value: `#${from}–#${to}` },
      { name: 'Took', value: formatDuration(sum((run) => run.durationMs)) },
      { name: 'Memories', value: formatNumber(sum((run) => run.memories)) },
      { name: 'Cost', value: `${formatNumber(sum((run) => run.inputTokens + run.outputTokens))} tokens` },
    ],
    actions: [{ label: 'Read the summaries', command: commandTo('summaries list'), style: 'plain' }],
  };
}

/** Visible to everyone in the place. */
function shared(details: Partial<CommandReply>): CommandReply {
  return makeReply('Compact', { ...details, ephemeral: false });
}
