import {
  type ConversationView,
  causeText,
  counted,
  formatNumber,
  formatPercent,
  type Turn,
} from '../../../src/adapter-kit.ts';
import { caption, seqAxis, shareAxis } from './axes.ts';
import { percent, REGION_NAMES, type Region, round, SHORT_NAMES } from './gauge.ts';
import { conversationPath, html, type Markup, nothing, when } from './html.ts';

const WIDTH = 1200;
const HEIGHT = 180;
const LEFT = 44;
const RIGHT = 84;
const MARKS = 18;
const MAX_BAR = 28;
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
    ${chart(view)}${key(turns)}${causes(turns)}${table(view)}</section>`;
}

function inputOf({ used, reserve }: Turn): number {
  return Math.max(0, used - reserve);
}

function chart({ turns, moment }: ConversationView): Markup {
  const step = Math.min(MAX_BAR + 4, (WIDTH - LEFT - RIGHT) / turns.length);
  const width = round(Math.max(2, step - Math.min(4, step / 4)));
  const bars = turns.map((turn, index) => ({ turn, width, x: round(LEFT + index * step) }));
  const frame = { left: LEFT, right: WIDTH - RIGHT, y };
  const height = HEIGHT + MARKS + 18;
  const seqAt = (share: number) => turns[Math.round(share * (turns.length - 1))]?.seq ?? 0;
  return html`<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="The regions of each of ${turns.length} requests, as a share of the window. The table below has the figures.">${shareAxis(frame)}${areas(bars)}${marks(bars)}${bars.map(({ turn, x }) => (moment?.seq === turn.seq ? html`<rect class="chosen" x="${x - 1}" y="4" width="${width + 2}" height="${HEIGHT - 3}"/>` : ''))}${bars.map(hotspot)}${seqAxis({ left: LEFT, right: round(LEFT + turns.length * step), at: height - 2, seqAt })}</svg>${caption('The parts of each request, as a share of the window.')}</figure>`;
}

interface Bar {
  readonly turn: Turn;
  readonly x: number;
  readonly width: number;
}

function y(share: number): number {
  return round(8 + (1 - Math.min(1, share)) * (HEIGHT - 8));
}

/** One path for each region, which keeps the page small. */
function areas(bars: readonly Bar[]): Markup {
  const below = bars.map(() => 0);
  const paths = DRAWN.map((region) => {
    const parts = bars.map(({ turn, x, width }, index) => {
      const from = below[index] ?? 0;
      below[index] = from + turn[region];
      const to = y((from + turn[region]) / turn.window);
      return turn[region] <= 0 ? '' : `M${x} ${y(from / turn.window)}h${width}V${to}h-${width}z`;
    });
    return html`<path class="l-${region}" d="${parts.join('')}"/>`;
  });
  return html`${paths}`;
}

/** A line up to where each began like the one before. Below it a triangle for what changed, a ring for what only took too long. */
function marks(bars: readonly Bar[]): Markup {
  const reused = bars.map(({ turn, x, width }) =>
    turn.reused === 0 ? '' : `M${x} ${y(turn.reused / turn.window)}h${width}`,
  );
  const middle = ({ x, width }: Bar) => round(x + width / 2);
  const late = bars.filter(({ turn }) => turn.cause === 'expired');
  const broken = bars.filter(({ turn }) => turn.cause !== null && turn.cause !== 'expired');
  return html`<path class="reused" d="${reused.join('')}"/><path class="broken" d="${broken.map((bar) => `M${middle(bar)} ${HEIGHT + 4}l5 10h-10z`).join('')}"/>${late.map((bar) => html`<circle class="expired" cx="${middle(bar)}" cy="${HEIGHT + 10}" r="3.5"/>`)}`;
}

function hotspot({ turn, x, width }: Bar): Markup {
  return html`<a href="?at=${turn.seq}" tabindex="-1" aria-label="Look at #${turn.seq}"><rect class="hot" x="${x}" y="0" width="${width}" height="${HEIGHT + MARKS}"><title>${titleOf(turn)}</title></rect></a>`;
}

function titleOf(turn: Turn): string {
  const figures = DRAWN.map((region) => `${SHORT_NAMES[region]} ~${formatNumber(turn[region])}`).join(', ');
  const share = formatPercent(turn.reused / Math.max(1, inputOf(turn)));
  const cause = turn.cause === null ? '' : `: ${causeText(turn.cause)}`;
  return `#${turn.seq}: ${percent(turn.used / Math.max(1, turn.window))} used. ${figures}. ${share} as before${cause}`;
}

function key(turns: readonly Turn[]): Markup {
  const isLate = turns.some(({ cause }) => cause === 'expired');
  const regions = DRAWN.map((region) => html`<li><span class="swatch l-${region}"></span>${REGION_NAMES[region]}</li>`);
  return html`<ul class="legend">${regions}<li><svg width="16" height="12" aria-hidden="true"><path class="reused" d="M0 6h16"/></svg> as in the request before, up to here</li><li><svg width="12" height="12" aria-hidden="true"><path class="broken" d="M6 1l5 10h-10z"/></svg> the start changed</li>${isLate ? html`<li><svg width="12" height="12" aria-hidden="true"><circle class="expired" cx="6" cy="6" r="3.5"/></svg> too late for a cache</li>` : ''}</ul>`;
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
