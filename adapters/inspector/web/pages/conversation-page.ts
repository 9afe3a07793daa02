import {
  type ConversationView,
  counted,
  formatCost,
  formatNumber,
  type Gauge,
  type GaugeView,
} from '../../../../src/adapter-kit.ts';
import { gaugeBar, gaugeText, legend, percent } from '../charts/gauge.ts';
import { historyChart } from '../charts/history-chart.ts';
import { turnsSection } from '../charts/turns-chart.ts';
import { conversationPath, html, type Markup, nothing, when, withParameters } from '../markup/html.ts';
import { emptyState } from './layout.ts';
import { tierBadge } from './overview-page.ts';
import { EVENT_KINDS, type EventKind, timeline } from './timeline.ts';

export interface ConversationPageOptions {
  readonly hidden: ReadonlySet<EventKind>;
}

export function conversationBody(view: ConversationView, { hidden }: ConversationPageOptions): Markup {
  const { row, moment } = view;
  if (row.entries === 0) return emptyState('There are no messages yet', html`They appear here as people write them.`);
  const { gauge } = row.reading;
  return html`${heading(view)}${troubles(view)}
    ${gaugePanel(view)}
    ${gauge === null ? nothing : html`<section class="panel" aria-labelledby="history"><h2 id="history">Over time</h2>${historyChart(view, gauge)}${scrubber(view)}${moment !== null && view.isPast ? momentNote(view, gauge) : nothing}</section>`}
    ${turnsSection(view)}${timelineSection(view, hidden)}`;
}

function heading(view: ConversationView): Markup {
  const { row, summaryCalls } = view;
  const { calls, limit } = summaryCalls;
  return html`<h1>${row.key}</h1><p class="dim facts">Agent <b>${row.agentId}</b> · ${row.audience} · ${counted(row.entries, 'message', 'messages')} · ${formatCost(row.spent)} · ${formatNumber(calls)} of at most ${formatNumber(limit)} calls for summaries in this hour · last activity ${when(row.lastActivityAt)}</p><p>${view.mayReadText ? html`<a class="button" href="${conversationPath(row.key, '/context')}">What the model sees next</a> <a class="button" href="/memories?place=${encodeURIComponent(row.key)}">Memories</a> ` : ''}<a class="button" href="${conversationPath(row.key, '/what-if')}">What if</a></p>`;
}

const UNREAD = 'your role does not read why';

function troubles({ row, lastFailure, mayReadText }: ConversationView): Markup {
  const unknown = mayReadText ? 'for an unknown reason' : UNREAD;
  const failed =
    row.failures === 0
      ? ''
      : html`<p class="trouble">Maintenance has failed ${counted(row.failures, 'time', 'times')}: ${row.lastError ?? unknown}${row.nextAttemptAt === null ? '' : html`. Next attempt ${when(row.nextAttemptAt)}`}</p>`;
  const reply =
    lastFailure === null
      ? ''
      : html`<p class="trouble">A reply failed ${when(lastFailure.at)}: ${lastFailure.message ?? `${UNREAD}.`}</p>`;
  const owed = row.owesReply ? html`<p class="notice">A reply is owed.</p>` : '';
  return html`${owed}${failed}${reply}`;
}

function gaugePanel(view: ConversationView): Markup {
  return html`<section class="panel" id="gauge" data-live="/live/gauge/${encodeURIComponent(view.row.key)}" aria-label="The window now">${gaugeContent(view)}</section>`;
}

/** What follows the bot. */
export function gaugeContent({ row, messagesLeft }: GaugeView): Markup {
  const { gauge } = row.reading;
  if (gauge === null) return html`<p class="trouble">${row.reading.problem}</p>`;
  const { measurement, modelId, thresholds } = gauge;
  const tokens = (share: number) => formatNumber(measurement.window * share);
  return html`<h2 id="now">${percent(measurement.ratio)} of the window ${tierBadge(measurement.tier)}</h2>
    <div class="wide">${gaugeBar(gauge, { width: 1200, height: 32 })}</div>${legend(gauge)}
    <p class="dim small">${modelId}, ${gaugeText(gauge)}${measurement.estimated ? '; estimated until the provider counts this view' : '; as the provider counted'}. A summary is due at ${tokens(thresholds.background)}, a deeper one at ${tokens(thresholds.aggressive)}, and at ${tokens(thresholds.emergency)} the oldest half leaves at once. ${forecast(messagesLeft)}${measurement.volatile > 0 ? ' What is recalled for one message counts towards none of these.' : ''}</p>`;
}

function forecast(messagesLeft: number | null): string {
  if (messagesLeft === null) return '';
  if (messagesLeft === 0) return 'A summary is due now.';
  return `At the recent length of messages, that is in about ${counted(messagesLeft, 'message', 'messages')}.`;
}

/** Goes to any past moment; without scripts by its button. */
function scrubber({ row, shown, moment }: ConversationView): Markup {
  return html`<form class="scrub" action="${conversationPath(row.key)}"><label for="at">Look at message</label>
    <input id="at" name="at" type="range" min="1" max="${row.entries}" value="${moment?.seq ?? shown.toSeq}" data-submits><output for="at">#${moment?.seq ?? shown.toSeq}</output><button>Go</button><a href="${conversationPath(row.key)}">Newest</a></form>`;
}

function momentNote({ moment, layers }: ConversationView, gauge: Gauge): Markup {
  if (moment === null) return nothing;
  const live = layers.filter(({ id }) => moment.layerIds.includes(id));
  const summaries = live.length === 0 ? 'no summaries' : counted(live.length, 'summary or gap', 'summaries and gaps');
  return html`<p class="notice">At message #${moment.seq}, ${when(moment.at)}, about ${percent(moment.used / Math.max(1, gauge.measurement.window))} of the window was used: ${summaries}, and the messages from #${moment.tailFrom} on in full. Reconstructed from what is stored.</p>`;
}

function timelineSection(view: ConversationView, hidden: ReadonlySet<EventKind>): Markup {
  const { row, messages, shown } = view;
  const path = conversationPath(row.key);
  const [first] = messages;
  const last = messages.at(-1);
  const older =
    first === undefined || first.seq <= 1
      ? ''
      : html`<a rel="prev" href="${withParameters(path, { at: first.seq - 1, ...hiddenParameter(hidden) })}">← Older messages</a>`;
  const newer =
    last === undefined || last.seq >= row.entries
      ? ''
      : html`<a rel="next" href="${withParameters(path, { at: Math.min(row.entries, last.seq + messages.length), ...hiddenParameter(hidden) })}">Newer messages →</a>`;
  return html`<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
    <form class="filters" action="${path}"><input type="hidden" name="at" value="${last?.seq ?? shown.toSeq}"><input type="hidden" name="filtered" value="1">
    <fieldset><legend class="dim">Show</legend>${EVENT_KINDS.map((kind) => html`<label class="check"><input type="checkbox" name="show" value="${kind}" ${hidden.has(kind) ? '' : html`checked`} data-submits> ${kind}</label>`)}</fieldset><button>Apply</button></form>
    ${timeline(view, hidden)}<p class="pages">${older}${newer}</p></section>`;
}

function hiddenParameter(hidden: ReadonlySet<EventKind>): Readonly<Record<string, string | null>> {
  return { hide: hidden.size === 0 ? null : [...hidden].join(',') };
}
