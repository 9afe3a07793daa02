import { fillUpto, nextWork, type Work } from '../compaction/job/next-work.ts';
import { isDue } from '../context/cuts/due.ts';
import type { Entry } from '../domain/message.ts';
import type { Summary } from '../ports/summary-store.ts';
import { type Summarising, writeCondensed, writeSummary } from './summarising.ts';
import { type Moment, measureAt, snapshotAt, type ViewContext } from './view.ts';

/** What maintenance has done and spent so far. */
export interface MaintenanceTotals {
  compactions: number;
  condensations: number;
  inputTokens: number;
  outputTokens: number;
}

export interface MaintainContext extends ViewContext, Summarising {
  /** Whether the provider reports cached tokens. */
  readonly isCached: boolean;
}

/** As many jobs as one run of maintenance does. */
const MAX_ROUNDS = 40;

/** The moment after all due jobs. Each job takes no time and succeeds. */
export function maintain(context: MaintainContext, before: Moment, upkeep: MaintenanceTotals): Moment {
  if (!isDue(context.profile, snapshotAt(context, before), measureAt(context, before).used)) return before;
  let moment = before;
  let open: Pick<Work, 'toSeq' | 'trigger'> | null = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const work = workAt(context, moment, { open, settling: round > 0 });
    if (work === null) break;
    moment = perform(context, { moment, work, upkeep });
    open = work.kind === 'compact' ? { toSeq: work.toSeq, trigger: work.trigger } : null;
  }
  return moment;
}

function workAt(
  context: MaintainContext,
  moment: Moment,
  run: { readonly open: Pick<Work, 'toSeq' | 'trigger'> | null; readonly settling: boolean },
): Work | null {
  const { profile, correction, isCached } = context;
  const snapshot = snapshotAt(context, moment);
  const measurement = measureAt(context, moment);
  return nextWork({
    snapshot,
    profile,
    correction,
    isCached,
    ...run,
    measurement,
    shownTokens: Math.min(measurement.used, profile.windowTokens),
    trigger: 'queue',
    asked: null,
    canWait: false,
    idleMs: Number.POSITIVE_INFINITY,
    now: 0,
  });
}

function perform(
  context: MaintainContext,
  { moment, work, upkeep }: { readonly moment: Moment; readonly work: Work; readonly upkeep: MaintenanceTotals },
): Moment {
  const { stack } = moment;
  if (work.kind === 'extract') return moment;
  if (work.kind === 'condense') {
    const { summary, inputTokens, outputTokens } = writeCondensed(context, work.condensation);
    upkeep.condensations += 1;
    spend(upkeep, { inputTokens, outputTokens });
    return { ...moment, stack: replaced(stack, summary) };
  }
  const kind = work.kind === 'compact' ? 'compact' : 'fill';
  const read = entriesIn(context, work.fromSeq, work.toSeq);
  const end = work.kind === 'fill' ? fillUpto(work.gaps, read, context) : work.toSeq;
  const range = read.filter(({ seq }) => seq <= end);
  const { summary, inputTokens, outputTokens } = writeSummary(context, range, { kind, hasStack: stack.length > 0 });
  upkeep.compactions += 1;
  spend(upkeep, { inputTokens, outputTokens });
  if (work.kind !== 'compact') return { ...moment, stack: filled(stack, summary) };
  return { ...moment, start: summary.toSeq + 1 - context.recording.firstSeq, stack: [...stack, summary] };
}

function spend(
  upkeep: MaintenanceTotals,
  { inputTokens, outputTokens }: Pick<MaintenanceTotals, 'inputTokens' | 'outputTokens'>,
): void {
  upkeep.inputTokens += inputTokens;
  upkeep.outputTokens += outputTokens;
}

function entriesIn({ recording }: ViewContext, fromSeq: number, toSeq: number): readonly Entry[] {
  const { entries, firstSeq } = recording;
  return entries.slice(fromSeq - firstSeq, toSeq + 1 - firstSeq);
}

/** The stack with the summary in place of everything that it covers. */
function replaced(stack: readonly Summary[], summary: Summary): readonly Summary[] {
  const covers = ({ fromSeq, toSeq }: Summary) => fromSeq >= summary.fromSeq && toSeq <= summary.toSeq;
  const at = stack.findIndex(covers);
  return stack.toSpliced(at, stack.filter(covers).length, summary);
}

/** The part of the gaps that one call could not read stays a gap. */
function filled(stack: readonly Summary[], summary: Summary): readonly Summary[] {
  const { fromSeq, toSeq } = summary;
  return stack.flatMap((item) => {
    if (item.toSeq < fromSeq || item.fromSeq > toSeq) return [item];
    const rest = item.toSeq > toSeq ? [{ ...item, fromSeq: toSeq + 1 }] : [];
    return item.fromSeq === fromSeq ? [summary, ...rest] : rest;
  });
}
