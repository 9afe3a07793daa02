import type { Author, Entry } from '../../domain/message.ts';
import type { ForgetPlan, Memory } from '../../ports/memory-store.ts';
import type { Services } from '../../services.ts';
import { namesIn } from '../people/people.ts';
import { managesPlace, type Requester } from '../rights/permissions.ts';
import { fingerprintFor, fingerprintOf, gistOf } from '../statements/fingerprint.ts';
import { peopleOf } from './provenance.ts';

/**
 * What keeps forgotten statements from returning. A person who manages a place decides for everyone in it, a member only
 * for themselves: otherwise they could keep others' statements out by saying and forgetting the same first.
 */
export function tombstonesOf(memories: readonly Memory[], by: Requester): ForgetPlan['tombstones'] {
  return memories.flatMap((memory) => {
    const isForAll = managesPlace(memory, by);
    return printsOf(memory.text).map((print) => {
      return { place: memory.place, fingerprint: isForAll ? print : fingerprintFor(by.author.id, print) };
    });
  });
}

/** A statement has some names for each of its people, and a query of a database takes only so many values. */
const LOOKED_UP_AT_ONCE = 1000;

/** A statement, and the ids of the people whom it concerns. */
export interface ConcerningStatement {
  readonly text: string;
  readonly people: readonly (string | null)[];
}

/** Those of the statements that were forgotten in the place by a person who may decide about them. */
export async function forgottenAmong<Statement extends ConcerningStatement>(
  { store }: Pick<Services, 'store'>,
  place: string,
  statements: readonly Statement[],
): Promise<ReadonlySet<Statement>> {
  const named = statements.map((statement) => ({ statement, names: namesOfTombstones(statement) }));
  const names = [...new Set(named.flatMap((one) => one.names))];
  const found = new Set<string>();
  for (let from = 0; from < names.length; from += LOOKED_UP_AT_ONCE) {
    const page = names.slice(from, from + LOOKED_UP_AT_ONCE);
    for (const name of await store.memories.forgotten(place, page)) found.add(name);
  }
  const forgotten = named.filter((one) => one.names.some((name) => found.has(name)));
  return new Set(forgotten.map(({ statement }) => statement));
}

/** The first memory that was rejected by another person than its subject, who thereby decided for everyone. */
export async function rejectedForAll(
  { store }: Pick<Services, 'store'>,
  rejected: readonly Memory[],
): Promise<Memory | null> {
  for (const memory of rejected) {
    const last = (await store.memories.events(memory.id)).findLast(({ kind }) => kind === 'rejected');
    if (last !== undefined && last.actor !== memory.subjectId) return memory;
  }
  return null;
}

function namesOfTombstones({ text, people }: ConcerningStatement): readonly string[] {
  const prints = printsOf(text);
  const ids = [...new Set(people)].filter((id) => id !== null);
  return [...prints, ...ids.flatMap((id) => prints.map((print) => fingerprintFor(id, print)))];
}

function printsOf(text: string): readonly string[] {
  return [fingerprintOf(text), gistOf(text)];
}

/**
 * Whom an extracted statement concerns: its subject, its speaker if there is only one, and the people whom it names,
 * unless the speaker talks about themself. What only the bot said may repeat anyone.
 */
export function concernedBy(
  { subjectId, trust, text }: Pick<Memory, 'subjectId' | 'trust' | 'text'>,
  sources: readonly Entry[],
  people: readonly Author[],
): readonly (string | null)[] {
  const speakers = new Set(peopleOf(sources, 'authors').map(({ id }) => id));
  if (speakers.size === 0) return [subjectId, ...people.map(({ id }) => id)];
  const isNamed = namesIn(text);
  const named = trust === 'self' ? [] : people.filter(({ name }) => isNamed(name));
  return [subjectId, ...(speakers.size === 1 ? speakers : []), ...named.map(({ id }) => id)];
}
