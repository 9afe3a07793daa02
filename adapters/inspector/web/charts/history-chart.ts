import {
  type ConversationView,
  formatNumber,
  type Gauge,
  type LayerSpan,
  type MaintenanceRun,
  type MaintenanceWork,
  type Moment,
} from '../../../../src/adapter-kit.ts';
import { conversationPath, type Markup, withParameters } from '../markup/html.ts';
import { percent, REGION_NAMES, SHORT_NAMES } from './gauge.ts';
import { olderJobs } from './older-jobs.ts';
import { type Item, type Plot, plotData, type Row, shareOf } from './plot.ts';
import { plotFigure } from './plot-svg.ts';

const WIDTH = 1200;
const HEIGHT = 200;
const DRAWN = ['fixed', 'stack', 'tail', 'reserve'] as const;

/** The used share over the messages, with the compactions and the layers below it on the same axis. */
export function historyChart(view: ConversationView, gauge: Gauge): Markup {
  return plotFigure(historyPlot(view, gauge), { isDrawn: true });
}

/** The same for the script, which has the layers already. */
export function historyPoints(view: ConversationView, gauge: Gauge): Markup {
  return plotData({ ...historyPlot(view, gauge), rows: [] }, { withTexts: true });
}

function historyPlot(view: ConversationView, { measurement: { window }, thresholds }: Gauge): Plot {
  const { shown, moments, moment } = view;
  const [first] = moments;
  const levels = [...new Set(view.layers.map(({ level }) => level))].toSorted((a, b) => b - a);
  return {
    label: `Used share of the window after each of the messages #${shown.fromSeq} to #${shown.toSeq}, and the layers over them`,
    caption: 'The share of the window that is used after each message, and the layers that cover the messages.',
    unit: 'share',
    style: 'bars',
    axis: 'messages',
    width: WIDTH,
    height: HEIGHT,
    most: 1,
    opens: true,
    thresholds,
    range: [shown.fromSeq - 0.5, Math.max(shown.fromSeq, shown.toSeq) + 0.5],
    // A bar covers the messages since the previous one.
    edges: first === undefined ? [] : [first.seq - 0.5, ...moments.map(({ seq }) => seq + 0.5)],
    points: moments.map(({ seq }) => seq),
    texts: moments.map((each) => textOf(each, window)),
    chosen: moment === null ? null : [moment.seq - 0.5, moment.seq + 0.5],
    series: DRAWN.map((key) => ({
      key,
      kind: 'stacked',
      name: REGION_NAMES[key],
      values: moments.map((each) => shareOf(each[key], window)),
    })),
    ...finerOf(view),
    rows: [jobRow(view), ...levels.map((level) => layerRow(view, level)), tailRow(view)],
  };
}

/** Not every message has a bar. */
function finerOf({ row, shown, moments, moment }: ConversationView): Pick<Plot, 'finer'> {
  if (moments.length > shown.toSeq - shown.fromSeq) return {};
  return { finer: withParameters(conversationPath(row.key, '/history'), { at: moment?.seq ?? shown.toSeq }) };
}

function textOf(moment: Moment, window: number): string {
  const figures = DRAWN.map((region) => `${SHORT_NAMES[region]} ${formatNumber(moment[region])}`).join(', ');
  return `#${moment.seq}: ${percent(moment.used / Math.max(1, window))} used. ${figures}`;
}

const MARK_NAMES: Readonly<Record<MaintenanceWork, string>> = {
  compact: 'compaction',
  fill: 'summary of a gap',
  rewrite: 'rewritten summary',
  condense: 'condensed summaries',
  extract: 'memories',
};

/** Where the view changed. Failed runs are hollow. */
function jobRow(view: ConversationView): Row {
  const { runs, moments } = view;
  const since = moments[0]?.at ?? Number.POSITIVE_INFINITY;
  const markAt = (at: number, style: string, text: string): Item => {
    const seq = (moments.findLast((moment) => moment.at <= at)?.seq ?? 0) + 0.5;
    return { from: seq, to: seq, style, text, id: null };
  };
  const known = runs
    .filter(({ startedAt, work }) => startedAt >= since && work !== 'extract')
    .map((run) => markAt(run.startedAt, runStyle(run), runText(run)));
  const older = olderJobs(view)
    .filter((job) => job.since >= since)
    .map((job) => markAt(job.since, 'mark', 'earlier summaries'));
  const places = new Map(older.map((mark) => [mark.from, mark]));
  return { name: 'jobs', path: '', items: [...places.values(), ...known] };
}

function runStyle({ outcome, trigger }: MaintenanceRun): string {
  return `mark${outcome === 'committed' ? '' : ' hollow'}${trigger === 'emergency' ? ' urgent' : ''}`;
}

function runText({ work, fromSeq, toSeq, trigger, outcome, tokensBefore, tokensAfter }: MaintenanceRun): string {
  return `${MARK_NAMES[work]} of #${fromSeq}–#${toSeq} (${trigger}), ${outcome}: ~${formatNumber(tokensBefore)} to ~${formatNumber(tokensAfter)} tokens`;
}

/** The layers of one level. Those that a higher one replaced are pale. */
function layerRow({ layers, shown, row }: ConversationView, level: number): Row {
  const items = layers
    .filter((layer) => layer.level === level)
    .map((layer) => ({
      from: Math.max(layer.fromSeq, shown.fromSeq) - 0.5,
      to: Math.min(layer.toSeq, shown.toSeq) + 0.5,
      style: layer.leftAt === null ? `layer ${layer.kind}` : 'layer summary pale',
      text: layerText(layer),
      id: layer.id,
    }));
  return { name: `L${level}`, path: conversationPath(row.key, '/s/'), items };
}

function layerText({ level, fromSeq, toSeq, kind, leftAt, tokens }: LayerSpan): string {
  const state = kind === 'gap' ? 'gap' : leftAt === null ? 'in view' : 'replaced';
  return `Level ${level}, #${fromSeq}–#${toSeq}, ${state}, ~${formatNumber(tokens)} tokens`;
}

function tailRow({ shown, layers, row }: ConversationView): Row {
  const covered = layers.filter(({ leftAt }) => leftAt === null).reduce((upto, { toSeq }) => Math.max(upto, toSeq), 0);
  const fromSeq = Math.max(covered + 1, shown.fromSeq);
  const tail: Item = {
    from: fromSeq - 0.5,
    to: shown.toSeq + 0.5,
    style: 'layer tail',
    text: `Messages #${fromSeq}–#${shown.toSeq}, seen in full`,
    id: String(shown.toSeq),
  };
  return { name: 'whole', path: `${conversationPath(row.key)}?at=`, items: fromSeq > shown.toSeq ? [] : [tail] };
}
