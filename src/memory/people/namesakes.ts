import { plainName } from '../../context/view/label.ts';
import type { Entry } from '../../domain/message.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import { looksOf } from './people.ts';

/** A person by id, with the messages that tell them from others of the same name. */
interface Namesake {
  readonly name: string;
  readonly seqs: readonly number[];
}

const MAX_NAMES = 3;
const MAX_PEOPLE = 4;
/** Of each person, the newest. */
const MAX_SEQS = 12;

/**
 * One line for each name that several authors of these messages have, such as `Ada: #5, #9; another Ada: #3`. Names that
 * look the same count as the same. Labels mark bots, so these are told apart without it.
 */
export function namesakesIn(entries: readonly Entry[]): readonly string[] {
  const shared = sharedNames(entries);
  if (shared.length === 0) return [];
  const written = Map.groupBy(entries.filter(isPersons), ({ author }) => author?.id ?? '');
  const groups = shared.map((ids) => ids.map((id) => namesakeOf(written.get(id) ?? [])).toSorted(byNewest));
  return groups
    .toSorted(([one], [other]) => (one && other ? byNewest(one, other) : 0))
    .slice(0, MAX_NAMES)
    .map(lineOf);
}

/** Those who wrote last come first. */
function byNewest(one: Namesake, other: Namesake): number {
  return (other.seqs.at(-1) ?? 0) - (one.seqs.at(-1) ?? 0);
}

function lineOf(people: readonly Namesake[]): string {
  return people
    .slice(0, MAX_PEOPLE)
    .map(({ name, seqs }, index) => `${index === 0 ? '' : 'another '}${name}: ${numbered(seqs)}`)
    .join('; ');
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

/** The ids behind each shared name. */
function sharedNames(entries: readonly Entry[]): readonly (readonly string[])[] {
  const names = new Map<string, string>();
  const idsByLook = new Map<string, Set<string>>();
  for (const { role, author } of entries) {
    if (role !== 'user' || author?.kind !== 'person' || names.get(author.id) === author.name) continue;
    names.set(author.id, author.name);
    for (const [at, look] of looksOf(author.name).entries()) {
      const key = `${at} ${look}`;
      idsByLook.set(key, (idsByLook.get(key) ?? new Set()).add(author.id));
    }
  }
  if (names.size < 2) return [];
  const shared = [...idsByLook.values()].filter(({ size }) => size > 1).map((ids) => [...ids]);
  // The same people usually look alike in both ways.
  return [...new Map(shared.map((ids) => [ids.join(' '), ids])).values()];
}

function isPersons({ role, author }: Entry): boolean {
  return role === 'user' && author?.kind === 'person';
}

function namesakeOf(written: readonly Entry[]): Namesake {
  return { name: plainName(written.at(-1)?.author?.name ?? ''), seqs: written.map(({ seq }) => seq) };
}

function numbered(seqs: readonly number[]): string {
  const newest = seqs.slice(-MAX_SEQS).map((seq) => `#${seq}`);
  return `${seqs.length > newest.length ? '… ' : ''}${newest.join(', ')}`;
}
