import { counted, excerpt, type MemoriesView, type Person, type PlacedMemory } from '../../../../src/adapter-kit.ts';
import { conversationPath, html, type Markup, nothing } from '../markup/html.ts';
import { round } from './gauge.ts';

const WIDTH = 1200;
const PEOPLE_X = 190;
const MEMORY_X = 420;
const ROW = 26;
const GAP = 36;
const TOP = 34;
const MAX_MEMORIES = 40;
const MAX_PEOPLE = 14;
const TEXT_LENGTH = 96;
const NAME_LENGTH = 22;
const LIST_LENGTH = 300;

interface Link {
  readonly personId: string;
  readonly kind: 'about' | 'said';
}

interface MemoryNode {
  readonly memory: PlacedMemory;
  readonly links: readonly Link[];
  readonly y: number;
}

interface PersonNode extends Person {
  readonly count: number;
  readonly y: number;
}

/** People on the left, memories on the right: whom each is about, and who said it. The list below says the same. */
export function memoryGraph(view: MemoriesView, addressOf: (personId: string) => string): Markup {
  const people = mostNamed(view);
  const memories = placed(view.memories.slice(0, MAX_MEMORIES), people);
  const nodes = spread(people, memories);
  const height = TOP + Math.max(memories.length * ROW, nodes.length * GAP) + 8;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const more =
    view.memories.length > MAX_MEMORIES ? `The first ${MAX_MEMORIES} of ${view.memories.length} memories. ` : '';
  return html`<section class="panel" aria-labelledby="graph"><h2 id="graph">People and memories</h2>
    <p class="dim">${more}A solid line leads to whom a memory is about, a dashed one to who said it.</p>
    <figure class="chart graph"><svg viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="${counted(nodes.length, 'person', 'people')} and ${counted(memories.length, 'memory', 'memories')}. The list below says the same."><text x="${PEOPLE_X}" y="16" class="end">people</text><text x="${MEMORY_X}" y="16">memories</text>
    ${memories.map((node) => memoryMarkup(node, byId))}${nodes.map((node) => personMarkup(node, addressOf(node.id)))}</svg></figure>
    ${asList(nodes, memories, addressOf)}</section>`;
}

function linksOf({ subjectId, sources }: PlacedMemory): readonly Link[] {
  const authors = new Set(
    sources.flatMap(({ authorId }) => (authorId === null || authorId === subjectId ? [] : [authorId])),
  );
  const said = [...authors].map((personId): Link => ({ personId, kind: 'said' }));
  return subjectId === null ? said : [{ personId: subjectId, kind: 'about' }, ...said];
}

/** Those with the most memories first. */
function mostNamed({ people, memories }: MemoriesView): readonly (Person & { readonly count: number })[] {
  const shown = memories.slice(0, MAX_MEMORIES).flatMap(linksOf);
  const counts = Map.groupBy(shown, ({ personId }) => personId);
  return people
    .map((person) => ({ ...person, count: counts.get(person.id)?.length ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MAX_PEOPLE);
}

/** Beside the others of the same person, so that few lines cross. */
function placed(memories: readonly PlacedMemory[], people: readonly Person[]): readonly MemoryNode[] {
  const order = new Map(people.map(({ id }, index) => [id, index]));
  const rankOf = (links: readonly Link[]) =>
    Math.min(...links.map(({ personId }) => order.get(personId) ?? MAX_PEOPLE), MAX_PEOPLE);
  return memories
    .map((memory) => ({ memory, links: linksOf(memory).filter(({ personId }) => order.has(personId)) }))
    .toSorted((a, b) => rankOf(a.links) - rankOf(b.links))
    .map((node, index) => ({ ...node, y: TOP + index * ROW + ROW / 2 }));
}

/** Each in the middle of their memories, as far as there is room. */
function spread(
  people: readonly (Person & { readonly count: number })[],
  memories: readonly MemoryNode[],
): readonly PersonNode[] {
  const wanted = people.map((person) => {
    const ys = memories.filter(({ links }) => links.some(({ personId }) => personId === person.id)).map(({ y }) => y);
    return { ...person, y: ys.reduce((sum, y) => sum + y, 0) / Math.max(1, ys.length) };
  });
  let below = TOP - GAP / 2;
  return wanted
    .toSorted((a, b) => a.y - b.y)
    .map((person) => {
      below = Math.max(person.y, below + GAP);
      return { ...person, y: round(below) };
    });
}

function memoryMarkup({ memory, links, y }: MemoryNode, people: ReadonlyMap<string, PersonNode>): Markup {
  const { id, kind, state, text, pinned, readableIn } = memory;
  const middle = (PEOPLE_X + MEMORY_X) / 2;
  const lines = links.map(({ personId, kind: how }) => {
    const from = people.get(personId)?.y;
    return from === undefined
      ? nothing
      : html`<path class="edge ${how}" d="M${PEOPLE_X + 14} ${from}C${middle} ${from} ${middle} ${y} ${MEMORY_X - 14} ${y}"/>`;
  });
  const isOld = state === 'superseded' || state === 'rejected';
  return html`<g class="node">${lines}<a href="${conversationPath(readableIn, `/m/${id}`)}"><circle class="${isOld ? 'old' : ''}${pinned ? ' pinned' : ''}" cx="${MEMORY_X - 8}" cy="${y}" r="5"/><text class="${isOld ? 'old' : 'said'}" x="${MEMORY_X + 4}" y="${y + 4}">${excerpt(text, TEXT_LENGTH)} <tspan class="kind">${kind}${state === 'active' ? '' : `, ${state}`}</tspan></text><title>${excerpt(text, LIST_LENGTH)}</title></a></g>`;
}

function personMarkup({ name, count, y }: PersonNode, address: string): Markup {
  return html`<a href="${address}"><circle class="person" cx="${PEOPLE_X + 8}" cy="${y}" r="${round(6 + Math.min(8, Math.sqrt(count) * 1.6))}"/><text class="said end" x="${PEOPLE_X - 12}" y="${y + 4}">${excerpt(name, NAME_LENGTH)} <tspan class="kind">${count}</tspan></text><title>${name}: ${counted(count, 'memory', 'memories')}</title></a>`;
}

function asList(
  nodes: readonly PersonNode[],
  memories: readonly MemoryNode[],
  addressOf: (personId: string) => string,
): Markup {
  const items = nodes.map(({ id, name }) => {
    const theirs = memories.flatMap(({ memory, links }) =>
      links
        .filter(({ personId }) => personId === id)
        .map(
          ({ kind }) =>
            html`<li>${kind === 'about' ? 'about them' : 'said by them'}: <a href="${conversationPath(memory.readableIn, `/m/${memory.id}`)}">${excerpt(memory.text, LIST_LENGTH)}</a></li>`,
        ),
    );
    return html`<li><a href="${addressOf(id)}">${name}</a><ul>${theirs}</ul></li>`;
  });
  const others = memories.filter(({ links }) => links.length === 0);
  const rest =
    others.length === 0
      ? ''
      : html`<li>nobody in particular<ul>${others.map(({ memory: { readableIn, id, text } }) => html`<li><a href="${conversationPath(readableIn, `/m/${id}`)}">${excerpt(text, LIST_LENGTH)}</a></li>`)}</ul></li>`;
  return html`<details><summary>The same as a list</summary><ul class="people">${items}${rest}</ul></details>`;
}
