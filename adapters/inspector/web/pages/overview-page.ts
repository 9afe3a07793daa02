import {
  type ConversationRow,
  type ConversationRows,
  counted,
  type DueWork,
  formatCost,
  formatNumber,
  type Health,
} from '../../../../src/adapter-kit.ts';
import { gaugeBar, gaugeText, percent } from '../charts/gauge.ts';
import { conversationPath, html, type Markup, when, withParameters } from '../markup/html.ts';
import { emptyState } from './layout.ts';

export function overviewBody(list: ConversationRows, health: Health): Markup {
  return html`<h1>Conversations</h1>
    <div id="health" data-live="/live/health">${healthStrip(health)}</div>
    ${list.rows.length === 0 ? noConversations() : table(list)}`;
}

function noConversations(): Markup {
  return emptyState(
    'There are no conversations yet',
    html`Each channel, thread and direct message appears here after its first message. In a terminal, run <code>strata chat</code>.`,
  );
}

export function healthStrip(health: Health): Markup {
  const { queue, maintenance, replies, unsentPosts, pausedModels, today } = health;
  const cards: readonly Card[] = [
    { name: 'Owed replies', value: formatDue(replies), note: replies.count > 0 ? oldest(replies) : 'none waits' },
    {
      name: 'Due maintenance',
      value: formatDue(maintenance),
      note: maintenance.count > 0 ? oldest(maintenance) : 'nothing is due',
    },
    {
      name: 'Queue',
      value: `${queue.running} running`,
      note: queue.trouble ?? `${queue.driver}: ${queue.waiting} waiting, ${queue.delayed} later`,
      isBad: queue.trouble !== null,
    },
    {
      name: 'Unsent posts',
      value: formatNumber(unsentPosts),
      note: unsentPosts === 0 ? 'all delivered' : 'no platform has accepted them yet',
    },
    {
      name: 'Models',
      value: pausedModels.length === 0 ? 'none paused' : `${formatNumber(pausedModels.length)} paused`,
      note: pausedModels.length === 0 ? 'repeated failures pause one' : 'after repeated failures',
      isBad: pausedModels.length > 0,
    },
    {
      name: 'Spent today',
      value: formatCost(today),
      note: `${counted(today.calls, 'model call', 'model calls')}, since midnight UTC`,
    },
  ];
  return html`<ul class="cards">${cards.map(cardMarkup)}</ul>${troubles(health)}`;
}

export interface Card {
  readonly name: string;
  readonly value: string;
  readonly note: string | Markup;
  readonly isBad?: boolean;
}

export function cardMarkup({ name, value, note, isBad = false }: Card): Markup {
  return html`<li class="${isBad ? 'bad' : ''}"><span class="name">${name}</span><strong>${value}</strong><span class="dim">${note}</span></li>`;
}

function formatDue({ count, isMore }: DueWork): string {
  return `${formatNumber(count)}${isMore ? ' or more' : ''}`;
}

function oldest({ oldestAt, first }: DueWork): Markup {
  const [key] = first;
  const link = key === undefined ? '' : html`<a href="${conversationPath(key)}">the oldest</a>`;
  return html`${link} ${oldestAt === null ? '' : html`since ${when(oldestAt)}`}`;
}

function troubles({ pausedModels, configTrouble }: Health): Markup {
  const paused = pausedModels.map(
    ({ model, untilAt, message }) =>
      html`<p class="trouble"><b>${model}</b> is paused until ${when(untilAt)}: ${message}</p>`,
  );
  return html`${paused}${configTrouble === null ? '' : html`<p class="trouble">${configTrouble}</p>`}`;
}

function table({ rows, next }: ConversationRows): Markup {
  const more =
    next === null
      ? ''
      : html`<p class="pages"><a rel="next" href="${withParameters('/', { after: next })}">Older conversations →</a></p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Conversations"><table class="rows">
    <thead><tr><th scope="col">Conversation</th><th scope="col">Window</th><th scope="col">Tier</th><th scope="col" class="num">Messages</th><th scope="col" class="num">Cost</th><th scope="col">State</th><th scope="col">Last activity</th></tr></thead>
    <tbody>${rows.map(rowMarkup)}</tbody></table></div>${more}`;
}

function rowMarkup(row: ConversationRow): Markup {
  const { key, agentId, audience, entries, lastActivityAt, spent } = row;
  return html`<tr data-row><th scope="row"><a href="${conversationPath(key)}">${key}</a><span class="dim">${agentId} · ${audience}</span></th>
    ${gaugeCells(row)}
    <td class="num">${formatNumber(entries)}</td><td class="num">${formatCost(spent)}</td>
    <td>${stateOf(row)}</td><td>${when(lastActivityAt)}</td></tr>`;
}

function gaugeCells({ reading }: ConversationRow): Markup {
  const { gauge } = reading;
  if (gauge === null) return html`<td colspan="2"><span class="trouble small">${reading.problem}</span></td>`;
  const { tier, ratio, window } = gauge.measurement;
  return html`<td class="gauge-cell" title="${gaugeText(gauge)}">${gaugeBar(gauge, { width: 160, height: 16 })}<span class="dim">${percent(ratio)} of ${formatNumber(window)}</span></td><td>${tierBadge(tier)}</td>`;
}

export function tierBadge(tier: string): Markup {
  return tier === 'none'
    ? html`<span class="dim">below the thresholds</span>`
    : html`<span class="badge t-${tier}">${tier}</span>`;
}

function stateOf({ owesReply, failures, lastError, nextAttemptAt }: ConversationRow): Markup {
  const owed = owesReply ? html`<span class="badge">reply owed</span>` : '';
  if (failures === 0) return html`${owed}`;
  const next = nextAttemptAt === null ? '' : html`, next attempt ${when(nextAttemptAt)}`;
  return html`${owed} <span class="badge bad" title="${lastError ?? ''}">${counted(failures, 'failure', 'failures')}</span><span class="dim">${next}</span>`;
}
