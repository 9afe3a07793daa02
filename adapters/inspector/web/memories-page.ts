import {
  AUDIENCES,
  counted,
  MEMORY_KINDS,
  MEMORY_STATES,
  type MemoriesView,
  type Memory,
  type MemoryFilter,
  type TokenedPreview,
  textOf,
} from '../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, when } from './html.ts';
import { emptyState } from './layout.ts';

export function memoriesBody(view: MemoriesView, filter: MemoryFilter): Markup {
  const { conversation, memories, isMore } = view;
  const head = html`<h1>Memories</h1>`;
  if (conversation === null)
    return html`${head}${emptyState('There is nothing that you may read', html`Memories appear with the conversations that they came from.`)}`;
  const { key } = conversation;
  const list =
    memories.length === 0
      ? emptyState(
          'Nothing matches',
          html`Memories are saved with each summary, by the agent's tool <code>memory_save</code>, and by <code>/memory remember</code>.`,
        )
      : table(memories, key);
  return html`${head}${filters(view, filter)}<p class="dim">${counted(memories.length, 'memory', 'memories')}${isMore ? ' shown; narrow the filter for the others' : ''} that can be read in <a href="${conversationPath(key)}">${key}</a>.</p>${list}`;
}

function filters({ conversation, places, people }: MemoriesView, filter: MemoryFilter): Markup {
  const named = people.map(({ id, name }) => ({ value: id, label: name }));
  const ages = [1, 7, 30, 365].map((days) => ({
    value: String(days),
    label: `at most ${counted(days, 'day', 'days')} old`,
  }));
  const keys = [...new Set([...(conversation === null ? [] : [conversation.key]), ...places])];
  const inPlace = keys.map(
    (key) => html`<option value="${key}" ${key === conversation?.key ? html`selected` : ''}>${key}</option>`,
  );
  return html`<form class="filters" action="/memories"><label>Place<select name="place" data-submits>${inPlace}</select></label>
    <label>Words<input type="search" name="q" value="${filter.text}" maxlength="200"></label>
    ${choice('kind', 'Kind', { of: optionsOf(MEMORY_KINDS), chosen: filter.kind })}${choice('state', 'State', { of: optionsOf(MEMORY_STATES), chosen: filter.state })}
    ${choice('person', 'About', { of: named, chosen: filter.personId })}${choice('audience', 'Audience', { of: optionsOf(AUDIENCES), chosen: filter.audience })}
    ${choice('age', 'Age', { of: ages, chosen: filter.maxAgeDays === null ? null : String(filter.maxAgeDays) })}<button>Apply</button></form>`;
}

interface Option {
  readonly value: string;
  readonly label: string;
}

function optionsOf(values: readonly string[]): readonly Option[] {
  return values.map((value) => ({ value, label: value }));
}

function choice(
  name: string,
  label: string,
  { of, chosen }: { readonly of: readonly Option[]; readonly chosen: string | null },
): Markup {
  return html`<label>${label}<select name="${name}" data-submits><option value="">any</option>${of.map((option) => html`<option value="${option.value}" ${option.value === chosen ? html`selected` : ''}>${option.label}</option>`)}</select></label>`;
}

function table(memories: readonly Memory[], key: string): Markup {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Memories"><table class="rows"><thead><tr><th scope="col">What</th><th scope="col">Kind</th><th scope="col">About</th><th scope="col">State</th><th scope="col">Audience</th><th scope="col" class="num">Sources</th><th scope="col" class="num">Recalled</th><th scope="col">Since</th></tr></thead>
    <tbody>${memories.map((memory) => html`<tr data-row><th scope="row"><a href="${conversationPath(key, `/m/${memory.id}`)}">${memory.text}</a></th><td>${memory.kind}</td><td>${memory.subjectName ?? ''}</td><td>${stateBadge(memory)}</td><td>${memory.audience}</td><td class="num">${memory.sources.length}</td><td class="num">${memory.recallCount}</td><td>${when(memory.validFrom)}</td></tr>`)}</tbody></table></div>`;
}

export function stateBadge({ state, pinned }: Pick<Memory, 'state' | 'pinned'>): Markup {
  return html`<span class="badge ${state === 'rejected' ? 'bad' : ''}">${state}</span>${pinned ? html` <span class="badge">pinned</span>` : ''}`;
}

interface Asked {
  readonly key: string;
  readonly id: string;
  readonly formToken: string;
}

/** What would be deleted, before it is. */
export function forgetBody(preview: TokenedPreview, { key, id, formToken }: Asked): Markup {
  const { memories, messages, sentences, summaries, withheld } = preview;
  const path = conversationPath(key, `/m/${id}`);
  const elsewhere = withheld.memories + withheld.messages + withheld.sentences;
  return html`<p class="crumbs"><a href="${path}">The memory</a> ›</p><h1>Forget this?</h1>
    <p class="trouble">This cannot be undone. It deletes ${counted(memories.length, 'memory', 'memories')} and the text of ${counted(messages.length, 'message', 'messages')}, removes ${counted(sentences.length, 'sentence', 'sentences')} from others, and rewrites ${counted(summaries, 'summary', 'summaries')}${elsewhere === 0 ? '' : `; ${elsewhere} of these are in places that cannot be shown here`}. What was forgotten is not remembered again.</p>
    <h2>Memories</h2><ul class="found">${memories.map(({ text }) => html`<li>${text}</li>`)}</ul>
    ${messages.length === 0 ? '' : html`<h2>Messages</h2><ul class="found">${messages.map(({ conversation, entry }) => html`<li><span class="dim">${conversation}#${entry.seq}</span><p>${textOf(entry.parts)}</p></li>`)}</ul>`}
    <form method="post" action="${path}/forget" class="actions"><input type="hidden" name="token" value="${formToken}"><input type="hidden" name="confirm" value="${preview.token}"><button class="danger">Delete for good</button><a class="button" href="${path}">Keep it</a></form>
    <p class="dim small">The same as <code>strata memory forget ${id} --conversation ${key}</code></p>`;
}
