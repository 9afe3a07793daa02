import {
  AUDIENCES,
  counted,
  excerpt,
  formatNumber,
  MEMORY_KINDS,
  MEMORY_STATES,
  type MemoriesView,
  type Memory,
  type MemoryFilter,
  type PlacedMemory,
  shownName,
  type TokenedPreview,
  textOf,
} from '../../../../src/adapter-kit.ts';
import { memoryGraph } from '../charts/memory-graph.ts';
import { conversationPath, html, type Markup, when, withParameters } from '../markup/html.ts';
import { moreNote, shownTexts } from '../markup/shown-text.ts';
import { emptyState } from './layout.ts';

export interface MemoriesOptions {
  readonly filter: MemoryFilter;
  /** As a graph of people and memories instead of a table. */
  readonly asGraph: boolean;
}

export function memoriesBody(view: MemoriesView, options: MemoriesOptions): Markup {
  const { memories, isMore, places } = view;
  const head = html`<h1>Memories</h1>`;
  if (places.length === 0)
    return html`${head}${emptyState('There is nothing that you may read', html`Memories appear with the conversations that they came from.`)}`;
  const more = isMore ? ' shown; narrow the filter for the others' : '';
  return html`${head}${filters(view, options)}<p class="dim">${counted(memories.length, 'memory', 'memories')}${more} that can be read in ${placeText(view)}.</p>${memories.length === 0 ? nothingFound() : results(view, options)}`;
}

function nothingFound(): Markup {
  return emptyState(
    'Nothing matches',
    html`Memories are saved with each summary, by the agent's tool <code>memory_save</code>, and by <code>/memory remember</code>.`,
  );
}

function results(view: MemoriesView, options: MemoriesOptions): Markup {
  const address = (asGraph: boolean) => withParameters('/memories', parametersOf(view, { ...options, asGraph }));
  const choice = (asGraph: boolean, name: string) =>
    html`<a class="button" href="${address(asGraph)}" ${asGraph === options.asGraph ? html`aria-current="true"` : ''}>${name}</a>`;
  const filterBy = (personId: string) =>
    withParameters('/memories', parametersOf(view, { ...options, filter: { ...options.filter, personId } }));
  return html`<p class="ranges">${choice(false, 'Table')}${choice(true, 'People and memories')}</p>${options.asGraph ? memoryGraph(view, filterBy) : table(view)}`;
}

function parametersOf({ conversation }: MemoriesView, { filter, asGraph }: MemoriesOptions) {
  const { text, kind, state, personId, audience, maxAgeDays } = filter;
  return {
    place: conversation?.key ?? null,
    q: text === '' ? null : text,
    kind,
    state,
    person: personId,
    audience,
    age: maxAgeDays,
    view: asGraph ? 'graph' : null,
  };
}

function placeText({ conversation, hasOlderPlaces, places }: MemoriesView): Markup {
  if (conversation !== null) return html`<a href="${conversationPath(conversation.key)}">${conversation.key}</a>`;
  const text = counted(places.length, 'place', 'places');
  return hasOlderPlaces ? html`the ${text} with the newest activity` : html`${text}`;
}

function filters({ conversation, places, people }: MemoriesView, { filter, asGraph }: MemoriesOptions): Markup {
  const named = people.map(({ id, name }) => ({ value: id, label: name }));
  const ages = [1, 7, 30, 365].map((days) => ({
    value: String(days),
    label: `at most ${counted(days, 'day', 'days')} old`,
  }));
  const keys = [...new Set([...(conversation === null ? [] : [conversation.key]), ...places])];
  const inPlace = keys.map(
    (key) => html`<option value="${key}" ${key === conversation?.key ? html`selected` : ''}>${key}</option>`,
  );
  return html`<form class="filters" action="/memories"><label>Place<select name="place" data-submits><option value="">all that you may read</option>${inPlace}</select></label>
    <label>Words<input type="search" name="q" value="${filter.text}" maxlength="200"></label>
    ${choice('kind', 'Kind', { of: optionsOf(MEMORY_KINDS), chosen: filter.kind })}${choice('state', 'State', { of: optionsOf(MEMORY_STATES), chosen: filter.state })}
    ${choice('person', 'Person', { of: named, chosen: filter.personId })}${choice('audience', 'Audience', { of: optionsOf(AUDIENCES), chosen: filter.audience })}
    ${choice('age', 'Age', { of: ages, chosen: filter.maxAgeDays === null ? null : String(filter.maxAgeDays) })}${asGraph ? html`<input type="hidden" name="view" value="graph">` : ''}<button>Apply</button></form>`;
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

const TEXT_LENGTH = 400;
const TEXT_BYTES = 60_000;

function table({ memories, conversation, people }: MemoriesView): Markup {
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const isMany = conversation === null;
  const texts = shownTexts(
    memories.map(({ text }) => excerpt(text, TEXT_LENGTH)),
    { bytes: TEXT_BYTES },
  );
  const heads = ['What', 'Kind', 'About', 'Said by', ...(isMany ? ['Place'] : []), 'State', 'Audience'].map(
    (head) => html`<th scope="col">${head}</th>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Memories"><table class="rows"><thead><tr>${heads}<th scope="col" class="num">Recalled</th><th scope="col">Since</th></tr></thead><tbody>${memories.map((memory, index) => row({ ...memory, text: texts[index]?.text ?? '' }, { names, isMany }))}</tbody></table></div>`;
}

function row(
  memory: PlacedMemory,
  { names, isMany }: { readonly names: ReadonlyMap<string, string>; readonly isMany: boolean },
): Markup {
  const { id, text, kind, subjectName, audience, recallCount, validFrom, readableIn, sources, scope } = memory;
  const authors = new Set(
    sources.map(({ authorId }) => (authorId === null ? shownName(null) : (names.get(authorId) ?? authorId))),
  );
  const place = isMany ? html`<td>${scope === 'global' ? 'everywhere' : readableIn}</td>` : '';
  return html`<tr data-row><th scope="row"><a href="${conversationPath(readableIn, `/m/${id}`)}">${text}</a></th><td>${kind}</td><td>${subjectName ?? ''}</td><td>${[...authors].join(', ')}</td>${place}<td>${stateBadge(memory)}</td><td>${audience}</td><td class="num">${recallCount}</td><td>${when(validFrom)}</td></tr>`;
}

export function stateBadge({ state, pinned }: Pick<Memory, 'state' | 'pinned'>): Markup {
  return html`<span class="badge ${state === 'rejected' ? 'bad' : ''}">${state}</span>${pinned ? html` <span class="badge">pinned</span>` : ''}`;
}

interface Asked {
  readonly key: string;
  readonly id: string;
  readonly formToken: string;
}

const MAX_LISTED = 200;

function listed(items: readonly { readonly text: string; readonly name: string | null }[]): Markup {
  const first = items.slice(0, MAX_LISTED);
  const texts = shownTexts(
    first.map(({ text }) => text),
    { bytes: TEXT_BYTES },
  );
  const rows = first.map(({ name }, index) => {
    const shown = texts[index] ?? { text: '', more: 0 };
    return html`<li>${name === null ? '' : html`<span class="dim">${name}</span>`}<p>${shown.text}${moreNote(shown)}</p></li>`;
  });
  return html`${rows}${items.length === first.length ? '' : html`<li class="dim">and ${formatNumber(items.length - first.length)} more</li>`}`;
}

/** What would be deleted, before it is. */
export function forgetBody(preview: TokenedPreview, { key, id, formToken }: Asked): Markup {
  const { memories, messages, sentences, summaries, withheld } = preview;
  const path = conversationPath(key, `/m/${id}`);
  const elsewhere = withheld.memories + withheld.messages + withheld.sentences;
  return html`<p class="crumbs"><a href="${path}">The memory</a> ›</p><h1>Forget this?</h1>
    <p class="trouble">This cannot be undone. It deletes ${counted(memories.length, 'memory', 'memories')} and the text of ${counted(messages.length, 'message', 'messages')}, removes ${counted(sentences.length, 'sentence', 'sentences')} from others, and rewrites ${counted(summaries, 'summary', 'summaries')}${elsewhere === 0 ? '' : `; ${elsewhere} of these are in places that cannot be shown here`}. What was forgotten is not remembered again.</p>
    <h2>Memories</h2><ul class="found">${listed(memories.map(({ text }) => ({ text, name: null })))}</ul>
    ${messages.length === 0 ? '' : html`<h2>Messages</h2><ul class="found">${listed(messages.map(({ conversation, entry }) => ({ text: textOf(entry.parts), name: `${conversation}#${entry.seq}` })))}</ul>`}
    <form method="post" action="${path}/forget" class="actions"><input type="hidden" name="token" value="${formToken}"><input type="hidden" name="confirm" value="${preview.token}"><button class="danger">Delete for good</button><a class="button" href="${path}">Keep it</a></form>
    <p class="dim small">The same as <code>strata memory forget ${id} --conversation ${key}</code></p>`;
}
