import {
  type ConversationView,
  causeText,
  counted,
  formatNumber,
  formatPercent,
  type Turn,
} from '../../../src/adapter-kit.ts';
import { percent, REGION_NAMES, type Region, round } from './gauge.ts';
import { conversationPath, html, type Markup, nothing, when, withParameters } from './html.ts';

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

function chart({ turns, row, moment }: ConversationView): Markup {
  const step = Math.min(MAX_BAR + 4, (WIDTH - LEFT - RIGHT) / turns.length);
  const y = (share: number) => 8 + (1 - Math.min(1, share)) * (HEIGHT - 8);
  const bars = turns.map((turn, index) => {
    const x = round(LEFT + index * step);
    return bar(turn, {
      x,
      width: round(Math.max(2, step - Math.min(4, step / 4))),
      y,
      key: row.key,
      isChosen: moment?.seq === turn.seq,
    });
  });
  const lines = [0, 0.5, 1].map(
    (share) =>
      html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(share)}" y2="${y(share)}"/><text x="${LEFT - 6}" y="${y(share) + 4}" class="end">${formatPercent(share)}</text>`,
  );
  const height = HEIGHT + MARKS + 18;
  return html`<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="The regions of each of ${turns.length} requests, as a share of the window. The table below has the figures.">${lines}${bars}<text x="${LEFT}" y="${height - 2}">#${turns[0]?.seq ?? ''}</text>${turns.length < 2 ? '' : html`<text x="${round(LEFT + turns.length * step)}" y="${height - 2}" class="end">#${turns.at(-1)?.seq ?? ''}</text>`}</svg></figure>`;
}

interface Place {
  readonly x: number;
  readonly width: number;
  readonly y: (share: number) => number;
  readonly key: string;
  readonly isChosen: boolean;
}

function bar(turn: Turn, { x, width, y, key, isChosen }: Place): Markup {
  const { window, seq, reused, cause } = turn;
  let below = 0;
  const parts = DRAWN.map((region) => {
    const from = y(below / window);
    below += turn[region];
    const to = y(below / window);
    return turn[region] <= 0
      ? ''
      : html`<rect class="l-${region}" x="${x}" y="${round(to)}" width="${width}" height="${round(from - to)}"/>`;
  });
  const level = round(y(reused / window));
  const line = reused === 0 ? '' : html`<path class="reused" d="M${x} ${level}h${width}"/>`;
  const mark = cause === null ? '' : breakMark(cause, { x: round(x + width / 2), y: HEIGHT + 4 });
  const chosen = isChosen
    ? html`<rect class="chosen" x="${x - 1}" y="4" width="${width + 2}" height="${HEIGHT - 3}"/>`
    : '';
  return html`<a href="${withParameters(conversationPath(key), { at: seq })}" tabindex="-1" aria-label="Look at #${seq}">${parts}${line}${mark}${chosen}<rect class="hot" x="${x}" y="0" width="${width}" height="${HEIGHT + MARKS}"><title>${titleOf(turn)}</title></rect></a>`;
}

/** A triangle for what changed, a ring for what only took too long. */
function breakMark(cause: NonNullable<Turn['cause']>, { x, y }: { readonly x: number; readonly y: number }): Markup {
  return cause === 'expired'
    ? html`<circle class="expired" cx="${x}" cy="${y + 6}" r="3.5"/>`
    : html`<path class="broken" d="M${x} ${y}l5 10h-10z"/>`;
}

function titleOf(turn: Turn): string {
  const figures = DRAWN.map((region) => `${REGION_NAMES[region]} ~${formatNumber(turn[region])}`).join(', ');
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
    return html`<tr><th scope="row"><a href="${withParameters(path, { at: seq })}">#${seq}</a>${why}</th><td>${when(at)}</td>${cells}<td class="num">${percent(used / Math.max(1, window))}</td><td class="num">${formatPercent(reused / Math.max(1, inputOf(turn)))}</td><td>${cause === null ? '' : causeText(cause)}</td></tr>`;
  });
  const heads = DRAWN.map((region) => html`<th scope="col" class="num">${SHORT[region]}</th>`);
  return html`<details><summary>The same as a table, in estimated tokens</summary><div class="scroll" tabindex="0" role="region" aria-label="Requests"><table class="turns"><thead><tr><th scope="col">Reply</th><th scope="col">When</th>${heads}<th scope="col" class="num">Used</th><th scope="col" class="num">As before</th><th scope="col">Why not all</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

const SHORT: Readonly<Record<Region, string>> = {
  fixed: 'Fixed',
  stack: 'Summaries',
  tail: 'Messages',
  recalled: 'Recalled',
  reserve: 'Answer',
};
