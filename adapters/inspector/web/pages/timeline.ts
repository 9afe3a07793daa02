import {
  type ConversationView,
  counted,
  formatDuration,
  formatNumber,
  type LayerSpan,
  type MaintenanceRun,
  type MaintenanceWork,
  type MemoryLine,
  type MessageLine,
  type Turn,
  type Whereabouts,
} from '../../../../src/adapter-kit.ts';
import { olderJobs } from '../charts/older-jobs.ts';
import { conversationPath, html, type Markup, when } from '../markup/html.ts';
import { type ShownText, saidText, shownTexts } from '../markup/shown-text.ts';

/** What the timeline can show; the address names those that are left out. */
export const EVENT_KINDS = [
  'messages',
  'compactions',
  'condensings',
  'emergencies',
  'gaps',
  'memories',
  'failures',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

interface Item {
  readonly at: number;
  readonly kind: EventKind;
  readonly markup: Markup;
}

/** Messages and what happened between them, oldest first. */
export function timeline(view: ConversationView, hidden: ReadonlySet<EventKind>): Markup {
  const { key } = view.row;
  const texts = shownTexts(
    view.messages.map(({ text }) => text ?? ''),
    { bytes: TEXT_BYTES },
  );
  const isShown = ({ kind, at }: Pick<Item, 'kind' | 'at'>) => !hidden.has(kind) && isNear(at, view, hidden);
  const runs = view.runs.map((run) => ({ at: run.startedAt, kind: kindOf(run), run })).filter(isShown);
  const items: readonly Item[] = [
    ...view.messages.map((line, index) => ({
      at: line.at,
      kind: 'messages' as const,
      markup: messageItem(line, { key, shown: texts[index] ?? NOTHING }),
    })),
    ...view.turns
      .filter(({ cause }) => cause === 'gap')
      .map((turn) => ({ at: turn.at, kind: 'emergencies' as const, markup: emergencyItem(turn, key) })),
    ...runs.slice(0, MAX_RUNS).map(({ run, ...item }) => ({ ...item, markup: runItem(run) })),
    ...olderJobs(view)
      .map((layer) => ({ at: layer.since, kind: layer.level === 0 ? COMPACTIONS : CONDENSINGS, layer }))
      .filter(isShown)
      .slice(-MAX_RUNS)
      .map(({ layer, ...item }) => ({ ...item, markup: olderItem(layer, key) })),
    ...view.layers
      .filter(({ kind }) => kind === 'gap')
      .map((gap) => ({ at: gap.createdAt, kind: 'gaps' as const, markup: gapItem(gap, key) })),
    ...memoryItems(view),
  ];
  const shown = items.filter(isShown);
  if (shown.length === 0) return html`<p class="dim">Nothing of the chosen kinds happened here.</p>`;
  return html`<ol class="timeline">${shown.toSorted((a, b) => a.at - b.at).map(({ markup }) => markup)}</ol>`;
}

const COMPACTIONS: EventKind = 'compactions';
const CONDENSINGS: EventKind = 'condensings';
const TEXT_BYTES = 30_000;
const MEMORY_BYTES = 10_000;
const MAX_RUNS = 60;
const NOTHING: ShownText = { text: '', more: 0 };

/** Between the shown messages; without messages, everything. */
function isNear(at: number, { messages, isPast }: ConversationView, hidden: ReadonlySet<EventKind>): boolean {
  const [first, last] = [messages[0], messages.at(-1)];
  if (hidden.has('messages') || first === undefined || last === undefined) return true;
  return at >= first.at && (!isPast || at <= last.at);
}

const KIND_OF_WORK: Readonly<Record<MaintenanceWork, EventKind>> = {
  compact: 'compactions',
  rewrite: 'compactions',
  condense: 'condensings',
  fill: 'gaps',
  extract: 'memories',
};

function kindOf({ outcome, work }: MaintenanceRun): EventKind {
  return outcome === 'failed' ? 'failures' : KIND_OF_WORK[work];
}

function messageItem(line: MessageLine, { key, shown }: { readonly key: string; readonly shown: ShownText }): Markup {
  const { seq, who, at, role, text, tokens, edited, whereabouts } = line;
  const said = text === null ? html`<p class="dim">Your role does not read messages here.</p>` : saidText(shown);
  return html`<li class="message ${role} w-${whereabouts.kind}" id="m${seq}" data-row><div class="meta"><a href="${`${conversationPath(key)}?at=${seq}#m${seq}`}">#${seq}</a> <b>${who}</b> ${when(at)} <span class="dim">~${formatNumber(tokens)} tokens${edited ? ', edited' : ''}</span>${whereaboutsBadge(whereabouts, key)}${role === 'assistant' && text !== null ? html` <a class="badge" href="${conversationPath(key, `/r/${seq}`)}">why?</a>` : ''}</div>${said}</li>`;
}

function whereaboutsBadge(whereabouts: Whereabouts, key: string): Markup {
  switch (whereabouts.kind) {
    case 'view':
      return html` <span class="badge w-view">seen in full</span>`;
    case 'reset':
      return html` <span class="badge">before the reset</span>`;
    case 'deleted':
      return html` <span class="badge bad">deleted ${when(whereabouts.since)}</span>`;
    case 'gap':
      return html` <span class="badge bad">left the view ${when(whereabouts.since)}, not summarised yet</span>`;
    case 'summary':
      return html` <a class="badge w-summary" href="${conversationPath(key, `/s/${whereabouts.layer.id}`)}">in the summary #${whereabouts.layer.fromSeq}–#${whereabouts.layer.toSeq}, since ${when(whereabouts.since)}</a>`;
    default:
      return whereabouts satisfies never;
  }
}

const WORK: Readonly<Record<MaintenanceWork, string>> = {
  compact: 'Compacted',
  fill: 'Filled the gap',
  rewrite: 'Rewrote the summary of',
  condense: 'Condensed',
  extract: 'Read for memories:',
};

function runItem(run: MaintenanceRun): Markup {
  const { work, fromSeq, toSeq, trigger, outcome, error, tokensBefore, tokensAfter, durationMs, memories, model } = run;
  const change =
    work === 'extract'
      ? ''
      : ` The view went from ~${formatNumber(tokensBefore)} to ~${formatNumber(tokensAfter)} tokens.`;
  const held = memories === 0 ? '' : ` ${counted(memories, 'memory', 'memories')}.`;
  const failed = outcome === 'committed' ? '' : html` <span class="badge bad">${outcome}</span>`;
  return html`<li class="event ${outcome}"><div class="meta"><b>${WORK[work]} #${fromSeq}–#${toSeq}</b> <span class="badge">${trigger}</span>${failed} ${when(run.startedAt)}</div><p class="dim">${formatDuration(durationMs)}, ${formatNumber(run.inputTokens)} tokens in and ${formatNumber(run.outputTokens)} out of ${model}.${change}${held}${error === null ? '' : ` ${error}`}</p></li>`;
}

/** Of a job whose figures are no longer kept. */
function olderItem({ id, level, fromSeq, toSeq, tokens, since }: LayerSpan, key: string): Markup {
  const work = WORK[level === 0 ? 'compact' : 'condense'];
  return html`<li class="event committed"><div class="meta"><b>${work} <a href="${conversationPath(key, `/s/${id}`)}">#${fromSeq}–#${toSeq}</a></b> ${when(since)}</div><p class="dim">The summary has ~${formatNumber(tokens)} tokens. Other figures are kept only for the newest jobs.</p></li>`;
}

function gapItem({ id, fromSeq, toSeq, createdAt }: LayerSpan, key: string): Markup {
  return html`<li class="event gap"><div class="meta"><b><a href="${conversationPath(key, `/s/${id}`)}">Gap #${fromSeq}–#${toSeq}</a></b> ${when(createdAt)}</div><p class="dim">These messages left the view without a summary. A job fills the gap.</p></li>`;
}

function emergencyItem({ seq }: Turn, key: string): Markup {
  return html`<li class="event gap"><div class="meta"><b>Emergency</b> <span class="dim">before <a href="${`${conversationPath(key)}?at=${seq}#m${seq}`}">#${seq}</a></span></div><p class="dim">The oldest messages left the view at once, without a summary.</p></li>`;
}

function memoryItems({ memories, row }: ConversationView): readonly Item[] {
  const texts = shownTexts(
    memories.map(({ text }) => text),
    { bytes: MEMORY_BYTES },
  );
  return memories.map((memory, index) => ({
    at: memory.at,
    kind: 'memories' as const,
    markup: memoryItem({ ...memory, text: texts[index]?.text ?? '' }, row.key),
  }));
}

function memoryItem({ id, kind, state, text, seqs, at }: MemoryLine, key: string): Markup {
  const from = seqs.map((seq) => `#${seq}`).join(', ');
  return html`<li class="event memory"><div class="meta"><b>Remembered</b> <span class="badge">${kind}</span> <span class="badge">${state}</span> ${when(at)} <span class="dim">from ${from}</span></div><p><a href="${conversationPath(key, `/m/${id}`)}">${text}</a></p></li>`;
}
