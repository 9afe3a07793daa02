import { counted, formatPercent, type MemoryView, type OriginMessage, shownName } from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, nothing, when } from '../markup/html.ts';
import { type ShownText, saidText, shownTexts } from '../markup/shown-text.ts';
import { stateBadge } from './memories-page.ts';

/** One memory with its sources, its history, and what can be done with it. */
export function memoryBody(view: MemoryView, formToken: string): Markup {
  const { memory, conversation, sources, replacedBy } = view;
  const list = `/memories?place=${encodeURIComponent(conversation.key)}`;
  const replaced =
    replacedBy === null
      ? ''
      : html`<p class="notice">Replaced by <a href="${conversationPath(conversation.key, `/m/${replacedBy.id}`)}">${replacedBy.text}</a></p>`;
  return html`<p class="crumbs"><a href="${list}">Memories of ${conversation.key}</a> ›</p><h1>${memory.text}</h1><p>${stateBadge(memory)}</p>${replaced}${facts(view)}
    <h2>Where it came from</h2>${sources.length === 0 ? html`<p class="dim">An operator added it.</p>` : html`<ol class="sources">${sourceItems(sources)}</ol>`}
    ${history(view)}${view.mayChange ? actions(view, formToken) : html`<p class="dim">Your role does not change memories here.</p>`}`;
}

function facts({ memory }: MemoryView): Markup {
  const {
    kind,
    subjectName,
    audience,
    place,
    trust,
    importance,
    recallCount,
    lastRecalledAt,
    validFrom,
    validUntil,
    extractedBy,
  } = memory;
  const rows: readonly (readonly [string, string | Markup])[] = [
    ['Kind', kind],
    ['About', subjectName ?? 'nobody in particular'],
    ['Readable in', `${place === '' ? 'every place' : place}, ${audience}`],
    ['Trust', trust],
    ['Importance', formatPercent(importance)],
    [
      'Recalled',
      html`${counted(recallCount, 'time', 'times')}${lastRecalledAt === null ? '' : html`, last ${when(lastRecalledAt)}`}`,
    ],
    ['Valid', html`since ${when(validFrom)}${validUntil === null ? '' : html`, until ${when(validUntil)}`}`],
    ['Found by', extractedBy === null ? 'a person' : `${extractedBy.model}, prompt ${extractedBy.promptHash}`],
  ];
  return html`<dl class="facts-list panel">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const TEXT_BYTES = 60_000;
const MAX_SOURCES = 100;
const MAX_EVENTS = 100;

function sourceItems(sources: readonly OriginMessage[]): Markup {
  const shown = sources.slice(0, MAX_SOURCES);
  const texts = shownTexts(
    shown.map(({ text }) => text ?? ''),
    { bytes: TEXT_BYTES },
  );
  const more = sources.length - shown.length;
  return html`${shown.map((source, index) => sourceMarkup(source, texts[index]))}${more === 0 ? '' : html`<li class="dim">and ${counted(more, 'more message', 'more messages')}</li>`}`;
}

function sourceMarkup({ conversation, seq, author, at, text }: OriginMessage, shown: ShownText | undefined): Markup {
  return html`<li data-row><div class="meta"><a href="${`${conversationPath(conversation)}?at=${seq}#m${seq}`}">${conversation}#${seq}</a> <b>${shownName(author)}</b> ${at === null ? '' : when(at)}</div>${text === null ? html`<p class="dim">deleted</p>` : saidText(shown ?? { text: '', more: 0 })}</li>`;
}

function history({ events }: MemoryView): Markup {
  const items = events
    .slice(-MAX_EVENTS)
    .map(
      ({ kind, at, actor }) =>
        html`<li class="event memory"><div class="meta"><b>${kind}</b> ${when(at)} <span class="dim">by ${actor}</span></div></li>`,
    );
  return items.length === 0 ? nothing : html`<h2>History</h2><ol class="timeline">${items}</ol>`;
}

interface Step {
  readonly action: string;
  readonly label: string;
  readonly from: readonly string[];
}

const STEPS: readonly Step[] = [
  { action: 'promote', label: 'Approve', from: ['candidate'] },
  { action: 'demote', label: 'Disable', from: ['active'] },
  { action: 'reject', label: 'Mark as wrong', from: ['candidate', 'active', 'superseded'] },
  { action: 'restore', label: 'Restore', from: ['superseded'] },
];

function actions({ memory, conversation }: MemoryView, formToken: string): Markup {
  const path = conversationPath(conversation.key, `/m/${memory.id}`);
  const pin = memory.pinned ? { action: 'unpin', label: 'Unpin' } : { action: 'pin', label: 'Pin' };
  const steps = [pin, ...STEPS.filter(({ from }) => from.includes(memory.state))];
  const buttons = steps.map(({ action, label }) => html`<button name="action" value="${action}">${label}</button>`);
  return html`<section class="panel" aria-labelledby="change"><h2 id="change">Change it</h2>
    <form method="post" action="${path}" class="stacked"><input type="hidden" name="token" value="${formToken}"><input type="hidden" name="action" value="edit"><label for="text">Wording</label><textarea id="text" name="text" maxlength="2000" required>${memory.text}</textarea><div><button class="primary">Save the wording</button></div></form>
    <form method="post" action="${path}" class="actions"><input type="hidden" name="token" value="${formToken}">${buttons}<a class="button" href="${path}/forget">Forget …</a></form>
    <p class="dim small">In chat: <code>/memory edit ${memory.id}</code>, <code>/memory ${pin.action} ${memory.id}</code>, <code>/memory forget ${memory.id}</code>. A disabled memory is not recalled until it is confirmed again. Marking one as wrong cannot be undone: the bot does not learn it again.</p></section>`;
}
