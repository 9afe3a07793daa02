import {
  type ConversationView,
  formatNumber,
  type Gauge,
  type LayerSpan,
  type MaintenanceWork,
  type Moment,
} from '../../../src/adapter-kit.ts';
import { caption, seqAxis, shareAxis, thresholdLines } from './axes.ts';
import { percent, round, SHORT_NAMES } from './gauge.ts';
import { conversationPath, html, type Markup, withParameters } from './html.ts';
import { olderJobs } from './older-jobs.ts';

const WIDTH = 1200;
const HEIGHT = 200;
const LEFT = 44;
const RIGHT = 84;
const ROW = 26;
const MARKS = 22;
const PLOT = WIDTH - LEFT - RIGHT;
const DRAWN = ['fixed', 'stack', 'tail', 'reserve'] as const;

interface Scale {
  readonly x: (seq: number) => number;
  readonly y: (share: number) => number;
}

/** The used share over the messages, with the compactions and the layers below it on the same axis. */
export function historyChart(view: ConversationView, gauge: Gauge): Markup {
  const { shown, moments, moment } = view;
  const count = Math.max(1, shown.toSeq - shown.fromSeq + 1);
  const scale: Scale = {
    x: (seq) => LEFT + ((seq - shown.fromSeq) / count) * PLOT,
    y: (share) => 8 + (1 - Math.min(1, share)) * (HEIGHT - 16),
  };
  const frame = { left: LEFT, right: WIDTH - RIGHT, y: scale.y };
  const { window } = gauge.measurement;
  const bars = barsOf(moments, scale);
  const levels = [...new Set(view.layers.map(({ level }) => level))].toSorted((a, b) => b - a);
  const height = HEIGHT + MARKS + (levels.length + 1) * ROW + 20;
  return html`<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="Used share of the window after each of the messages #${shown.fromSeq} to #${shown.toSeq}, and the layers over them">
    ${shareAxis(frame)}${thresholdLines(gauge.thresholds, frame)}${areas(bars, { scale, window })}
    ${moment === null ? '' : cursor(moment, { scale, height })}
    ${runMarks(view, scale)}${levels.map((level, index) => layerRow(view, { scale, level, top: HEIGHT + MARKS + index * ROW }))}
    ${tailRow(view, { scale, top: HEIGHT + MARKS + levels.length * ROW })}
    ${bars.map((bar) => hotspot(bar, { window }))}
    ${seqAxis({ ...frame, at: height - 4, seqAt: (share) => shown.fromSeq + share * (count - 1) })}
  </svg>${caption('The share of the window that is used after each message, and the layers that cover the messages.')}</figure>`;
}

/** A bar covers the messages since the previous one. */
interface Bar {
  readonly moment: Moment;
  readonly x: number;
  readonly width: number;
}

function barsOf(moments: readonly Moment[], { x }: Scale): readonly Bar[] {
  return moments.map((moment, index) => {
    const from = round(x((moments[index - 1]?.seq ?? moment.seq - 1) + 1));
    return { moment, x: from, width: round(x(moment.seq + 1) - from) };
  });
}

interface Drawing {
  readonly scale: Scale;
  readonly window: number;
}

function areas(bars: readonly Bar[], { scale, window }: Drawing): Markup {
  const tops = bars.map(() => 0);
  const paths = DRAWN.map((region) => {
    const d = bars.map(({ moment, x, width }, index) => {
      const from = tops[index] ?? 0;
      const to = from + moment[region] / Math.max(1, window);
      tops[index] = to;
      const [low, high] = [round(scale.y(from)), round(scale.y(to))];
      const shown = round(width > 4 ? width - 1 : width);
      return `M${x} ${low}h${shown}V${high}h-${shown}z`;
    });
    return html`<path class="l-${region}" d="${d.join('')}"/>`;
  });
  return html`${paths}`;
}

/** The chosen moment. */
function cursor({ seq }: Moment, { scale, height }: { readonly scale: Scale; readonly height: number }): Markup {
  const x = round(scale.x(seq + 0.5));
  return html`<line class="cursor" x1="${x}" x2="${x}" y1="0" y2="${height - 18}"/>`;
}

/** An invisible link over each bar: its title has the figures, a click goes to that moment. */
function hotspot({ moment, x, width }: Bar, { window }: { readonly window: number }): Markup {
  const { seq, used } = moment;
  const figures = DRAWN.map((region) => `${SHORT_NAMES[region]} ${formatNumber(moment[region])}`).join(', ');
  return html`<a href="?at=${seq}" tabindex="-1" aria-label="Look at #${seq}"><rect class="hot" x="${x}" y="0" width="${width}" height="${HEIGHT}"><title>#${seq}: ${percent(used / Math.max(1, window))} used. ${figures}</title></rect></a>`;
}

const MARK_NAMES: Readonly<Record<MaintenanceWork, string>> = {
  compact: 'compaction',
  fill: 'summary of a gap',
  rewrite: 'rewritten summary',
  condense: 'condensed summaries',
  extract: 'memories',
};

/** Triangles where the view changed. Failed runs are hollow. */
function runMarks(view: ConversationView, scale: Scale): Markup {
  const { runs, moments } = view;
  const [first] = moments;
  const xOf = (at: number) => round(scale.x((moments.findLast((moment) => moment.at <= at)?.seq ?? 0) + 1));
  const marks = runs
    .filter(({ startedAt, work }) => first !== undefined && startedAt >= first.at && work !== 'extract')
    .map((run) => {
      const text = `${MARK_NAMES[run.work]} of #${run.fromSeq}–#${run.toSeq} (${run.trigger}), ${run.outcome}: ~${formatNumber(run.tokensBefore)} to ~${formatNumber(run.tokensAfter)} tokens`;
      return html`<path class="mark ${run.outcome === 'committed' ? '' : 'hollow'} ${run.trigger === 'emergency' ? 'urgent' : ''}" d="${triangle(xOf(run.startedAt))}"><title>${text}</title></path>`;
    });
  const older = olderJobs(view).filter(({ since }) => first !== undefined && since >= first.at);
  const places = [...new Set(older.map(({ since }) => xOf(since)))].map(triangle).join('');
  const others = places === '' ? '' : html`<path class="mark" d="${places}"><title>earlier summaries</title></path>`;
  return html`<text x="${LEFT - 6}" y="${HEIGHT + 14}" class="end">jobs</text>${others}${marks}`;
}

function triangle(x: number): string {
  return `M${x} ${HEIGHT + 4}l5 10h-10z`;
}

interface Row {
  readonly scale: Scale;
  readonly top: number;
}

/** The layers of one level. Those that a higher one replaced are pale. */
function layerRow(view: ConversationView, { level, ...row }: Row & { readonly level: number }): Markup {
  const layers = view.layers
    .filter((layer) => layer.level === level)
    .map((layer) => ({ layer, ...spanOf(view, layer, row) }));
  const narrow = layers.filter(({ width }) => width < MIN_LINK);
  const paths = NARROW_STYLES.map((style) => {
    const d = narrow
      .filter(({ layer }) => style === (layer.leftAt === null ? layer.kind : 'summary pale'))
      .map(({ from, width }) => `M${from} ${row.top + 2}h${width}v${ROW - 4}h-${width}z`);
    return d.length === 0 ? '' : html`<path class="layer ${style}" d="${d.join('')}"/>`;
  });
  return html`<text x="${LEFT - 6}" y="${row.top + 17}" class="end">L${level}</text>${paths}${layers.filter(({ width }) => width >= MIN_LINK).map((box) => layerBox(view, box, row))}`;
}

/** Narrower layers are too small to be clicked; each message below leads to its own. */
const MIN_LINK = 14;
const NARROW_STYLES = ['summary pale', 'summary', 'gap'] as const;

interface Box {
  readonly layer: LayerSpan;
  readonly from: number;
  readonly width: number;
}

function spanOf({ shown }: ConversationView, layer: LayerSpan, { scale }: Row): Omit<Box, 'layer'> {
  const from = scale.x(Math.max(layer.fromSeq, shown.fromSeq));
  const to = scale.x(Math.min(layer.toSeq, shown.toSeq) + 1);
  return { from: round(from), width: round(Math.max(2, to - from - 1)) };
}

function layerBox({ row }: ConversationView, { layer, from, width }: Box, { top }: Row): Markup {
  const range = `#${layer.fromSeq}–#${layer.toSeq}`;
  const state = layer.kind === 'gap' ? 'gap' : layer.leftAt === null ? 'in view' : 'replaced';
  const label =
    width > range.length * 7 + 8
      ? html`<text x="${round(from + width / 2)}" y="${top + 17}" class="mid on-layer ${state === 'replaced' ? 'pale' : ''}">${range}</text>`
      : '';
  const name = `Level ${layer.level}, ${range}, ${state}, ~${formatNumber(layer.tokens)} tokens`;
  return html`<a href="${conversationPath(row.key, `/s/${layer.id}`)}"><title>${name}</title><rect class="layer ${layer.kind} ${layer.leftAt === null ? '' : 'pale'}" x="${from}" y="${top + 2}" width="${width}" height="${ROW - 4}" rx="3"/>${label}</a>`;
}

function tailRow({ shown, layers, row }: ConversationView, { scale, top }: Row): Markup {
  const covered = layers.filter(({ leftAt }) => leftAt === null).reduce((upto, { toSeq }) => Math.max(upto, toSeq), 0);
  const fromSeq = Math.max(covered + 1, shown.fromSeq);
  if (fromSeq > shown.toSeq) return html``;
  const [from, to] = [scale.x(fromSeq), scale.x(shown.toSeq + 1)];
  return html`<text x="${LEFT - 6}" y="${top + 17}" class="end">whole</text><a href="${withParameters(conversationPath(row.key), { at: shown.toSeq })}" aria-label="Messages #${fromSeq} to #${shown.toSeq}, seen in full"><rect class="layer tail" x="${round(from)}" y="${top + 2}" width="${round(Math.max(2, to - from))}" height="${ROW - 4}" rx="3"><title>Messages #${fromSeq}–#${shown.toSeq}, seen in full</title></rect></a>`;
}
