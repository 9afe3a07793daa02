import {
  type ConversationView,
  causeText,
  counted,
  formatNumber,
  formatPercent,
  type Turn,
} from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, nothing, when } from '../markup/html.ts';
import { percent, REGION_NAMES, type Region, SHORT_NAMES } from './gauge.ts';
import { type Item, type Plot, type Series, shareOf } from './plot.ts';
import { plotFigure } from './plot-svg.ts';

const WIDTH = 1200;
const HEIGHT = 180;
/** With fewer requests, the bars do not become wider. */
const MIN_SLOTS = 35;
const DRAWN = ['fixed', 'stack', 'tail', 'recalled', 'reserve'] as const satisfies readonly Region[];

/** A stacked bar for each request, how much of it a cache could hold, and what broke the rest. */
export function turnsSection(view: ConversationView): Markup {
  const { turns, reportsCache } = view;
  if (turns.length === 0) return nothing;
  const input = turns.reduce((sum, turn) => sum + inputOf(turn), 0);
  const reused = turns.reduce((sum, turn) => sum + turn.reused, 0);
  const first = turns[0]?.seq ?? 0;
  const reports = reportsCache ? '' : ' The provider has reported no cached tokens here yet.';
  return html`<section class="panel" aria-labelledby="turns"><h2 id="turns">Request by request</h2>
    <p class="dim">${counted(turns.length, 'request', 'requests')} up to #${turns.at(-1)?.seq ?? first}. ${formatPercent(reused / Math.max(1, input))} of their tokens were the same in the request before, so that a provider could read them from its cache.${reports}</p>
    ${chart(view)}${causes(turns)}${table(view)}</section>`;
}

function inputOf({ used, reserve }: Turn): number {
  return Math.max(0, used - reserve);
}

function chart({ turns, moment }: ConversationView): Markup {
  const bars = turns.map((turn, index) => ({ turn, index }));
  const chosen = turns.findIndex(({ seq }) => seq === moment?.seq);
  const plot: Plot = {
    label: `The parts of ${turns.length} requests, each as a share of the window. The table below has the figures.`,
    caption: 'The parts of each request, as a share of the window.',
    unit: 'share',
    style: 'bars',
    axis: 'points',
    width: WIDTH,
    height: HEIGHT,
    most: 1,
    opens: true,
    thresholds: null,
    range: [0, Math.max(MIN_SLOTS, turns.length)],
    edges: [...bars.map(({ index }) => index), bars.length],
    points: turns.map(({ seq }) => seq),
    texts: turns.map(titleOf),
    chosen: chosen < 0 ? null : [chosen, chosen + 1],
    series: [...DRAWN.map((key) => regionSeries(turns, key)), reusedSeries(turns)],
    rows: [{ name: '', path: '', items: bars.flatMap(({ turn, index }) => breakAt(turn, index)) }],
  };
  return plotFigure(plot, { keys: keys(turns), isDrawn: true });
}

function regionSeries(turns: readonly Turn[], key: (typeof DRAWN)[number]): Series {
  const values = turns.map((turn) => shareOf(turn[key], turn.window));
  return { key, name: REGION_NAMES[key], kind: 'stacked', values };
}

/** How much of each request is the same as in the one before. */
function reusedSeries(turns: readonly Turn[]): Series {
  const values = turns.map(({ reused, window }) => (reused === 0 ? null : shareOf(reused, window)));
  return { key: 'reused', name: 'as in the request before, up to here', kind: 'level', values };
}

/** Why a cache could not serve the request: its start changed, or too much time had passed. */
function breakAt({ cause }: Turn, index: number): readonly Item[] {
  if (cause === null) return [];
  const style = cause === 'expired' ? 'expired' : 'broken';
  return [{ from: index, to: index + 1, style, text: causeText(cause), id: null }];
}

function titleOf(turn: Turn): string {
  const figures = DRAWN.map((region) => `${SHORT_NAMES[region]} ~${formatNumber(turn[region])}`).join(', ');
  const share = formatPercent(turn.reused / Math.max(1, inputOf(turn)));
  const cause = turn.cause === null ? '' : `: ${causeText(turn.cause)}`;
  return `#${turn.seq}: ${percent(turn.used / Math.max(1, turn.window))} used. ${figures}. ${share} as before${cause}`;
}

/** What the marks below the bars mean. */
function keys(turns: readonly Turn[]): Markup {
  const isLate = turns.some(({ cause }) => cause === 'expired');
  return html`<li><svg width="12" height="12" aria-hidden="true"><path class="broken" d="M6 1l5 10h-10z"/></svg> the start changed</li>${isLate ? html`<li><svg width="12" height="12" aria-hidden="true"><circle class="expired" cx="6" cy="6" r="3.5"/></svg> too late for a cache</li>` : ''}`;
}

function causes(turns: readonly Turn[]): Markup {
  const found = Map.groupBy(turns, ({ cause }) => cause);
  const rows = [...found].flatMap(([cause, of]) => (cause === null ? [] : [{ cause, times: of.length }]));
  if (rows.length === 0) return html`<p class="dim small">Each request began like the one before.</p>`;
  const texts = rows
    .toSorted((a, b) => b.times - a.times)
    .map(({ cause, times }) => html`<li><b>${formatNumber(times)} ×</b> ${causeText(cause)}</li>`);
  return html`<p class="causes-title">Why the start was not the same</p><ul class="causes">${texts}</ul>`;
}

function table({ turns, row, mayReadText }: ConversationView): Markup {
  const path = conversationPath(row.key);
  const rows = turns.toReversed().map((turn) => {
    const { seq, at, reused, cause, used, window } = turn;
    const cells = DRAWN.map((region) => html`<td class="num">${formatNumber(turn[region])}</td>`);
    const why = mayReadText ? html` <a class="badge" href="${path}/r/${seq}">why?</a>` : '';
    return html`<tr><th scope="row"><a href="?at=${seq}">#${seq}</a>${why}</th><td>${when(at)}</td>${cells}<td class="num">${percent(used / Math.max(1, window))}</td><td class="num">${formatPercent(reused / Math.max(1, inputOf(turn)))}</td><td>${cause === null ? '' : causeText(cause)}</td></tr>`;
  });
  const heads = DRAWN.map((region) => html`<th scope="col" class="num">${SHORT_NAMES[region]}</th>`);
  return html`<details><summary>The same as a table, in estimated tokens</summary><div class="scroll" tabindex="0" role="region" aria-label="Requests"><table class="turns"><thead><tr><th scope="col">Reply</th><th scope="col">When</th>${heads}<th scope="col" class="num">Used</th><th scope="col" class="num">As before</th><th scope="col">Why not all</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}
