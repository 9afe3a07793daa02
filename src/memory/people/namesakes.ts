import { plainName } from '../../context/view/label.ts';
import type { Entry } from '../../domain/message.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import { looksOf } from './people.ts';

/** A person by id, with the messages that they wrote under a shared name. */
interface Namesake {
  readonly name: string;
  readonly runs: readonly Run[];
}

/** Messages of one person, without one of a namesake in between. */
interface Run {
  readonly from: number;
  to: number;
}

const MAX_NAMES = 3;
/** Of those that are only named. */
const MAX_MORE_NAMES = 12;
const MAX_PEOPLE = 4;
const OTHERS = 'and others';
/** Of each person, the newest. Whoever writes much under one name fills none of them with it. */
const MAX_RUNS = 12;

/**
 * One line for each name that several authors of these messages have, such as `Ada: #5, #9 to #14; another Ada: #3`.
 * Names that look the same count as the same. Labels mark bots, so these are told apart without it.
 */
export function namesakesIn(entries: readonly Entry[]): readonly string[] {
  const shared = writtenUnderOneName(entries).toSorted((one, other) => newestOf(other) - newestOf(one));
  return [...shared.slice(0, MAX_NAMES).map(lineOf), ...moreNames(shared.slice(MAX_NAMES))];
}

/** Whoever takes many names must not hide with the newest that they took another one before. */
function moreNames(shared: readonly (readonly Entry[])[]): readonly string[] {
  if (shared.length === 0) return [];
  const names = new Set(shared.map((written) => plainName(written.at(-1)?.author?.name ?? '')));
  const told = [...names].slice(0, MAX_MORE_NAMES);
  return [`also names of several people: ${[...told, ...(told.length < names.size ? [OTHERS] : [])].join(', ')}`];
}

function newestOf(written: readonly Entry[]): number {
  return written.at(-1)?.seq ?? 0;
}

/** Those who wrote last come first. */
function lineOf(written: readonly Entry[]): string {
  const people = namesakesOf(written).toSorted(
    (one, other) => (other.runs.at(-1)?.to ?? 0) - (one.runs.at(-1)?.to ?? 0),
  );
  const told = people
    .slice(0, MAX_PEOPLE)
    .map(({ name, runs }, index) => `${index === 0 ? '' : 'another '}${name}: ${numbered(runs)}`);
  return [...told, ...(told.length < people.length ? [OTHERS] : [])].join('; ');
}

/**
 * For the newest message of a view, so that a model takes nobody for another person of the same name. Null if every name
 * belongs to one person.
 */
export function namesakesSection(entries: readonly Entry[]): VolatileSection | null {
  const lines = namesakesIn(entries);
  if (lines.length === 0) return null;
  const heading =
    '[Several people here have the same name. Each is somebody else: what one of them said, has or may do is not true of another. Who wrote which message:]';
  return {
    key: 'namesakes',
    text: [heading, ...lines.map((line) => `- ${line}`)].join('\n'),
    source: `authors of #${entries[0]?.seq ?? 0} to #${entries.at(-1)?.seq ?? 0}`,
    reason: 'several people have the same name',
    memoryIds: [],
  };
}

/** For each name that several people have, what they wrote under it. */
function writtenUnderOneName(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const shared = sharedLooks(entries);
  if (shared.size === 0) return [];
  const byLook = new Map<string, Entry[]>(Array.from(shared, (look) => [look, []]));
  for (const entry of entries.filter(isPersons)) {
    for (const look of looksIn(entry)) byLook.get(look)?.push(entry);
  }
  // What looks alike in one way usually does in both.
  return [...new Map([...byLook.values()].map((all) => [all.map(({ seq }) => seq).join(' '), all])).values()];
}

/** The looks of names that several people have. */
function sharedLooks(entries: readonly Entry[]): ReadonlySet<string> {
  const names = new Map<string, string>();
  const firstIds = new Map<string, string>();
  const shared = new Set<string>();
  for (const entry of entries) {
    const { author } = entry;
    if (!isPersons(entry) || author === null || names.get(author.id) === author.name) continue;
    names.set(author.id, author.name);
    for (const look of looksIn(entry)) {
      if ((firstIds.get(look) ?? author.id) !== author.id) shared.add(look);
      else firstIds.set(look, author.id);
    }
  }
  return shared;
}

/** Of the name under which it was written. */
function looksIn({ author }: Entry): readonly string[] {
  return looksOf(author?.name ?? '').map((look, at) => `${at} ${look}`);
}

function isPersons({ role, author }: Entry): boolean {
  return role === 'user' && author?.kind === 'person';
}

function namesakesOf(written: readonly Entry[]): readonly Namesake[] {
  const people = new Map<string, { readonly name: string; readonly runs: Run[] }>();
  let last: string | null = null;
  for (const { seq, author } of written) {
    const { id, name } = author ?? { id: '', name: '' };
    const runs: Run[] = people.get(id)?.runs ?? [];
    const run = id === last ? runs.at(-1) : undefined;
    if (run === undefined) runs.push({ from: seq, to: seq });
    else run.to = seq;
    people.set(id, { name: plainName(name), runs });
    last = id;
  }
  return [...people.values()];
}

function numbered(runs: readonly Run[]): string {
  const newest = runs.slice(-MAX_RUNS).map(({ from, to }) => (from === to ? `#${from}` : `#${from} to #${to}`));
  return `${runs.length > newest.length ? '… ' : ''}${newest.join(', ')}`;
}
