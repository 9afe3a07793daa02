import { type Author, type Entry, textOf } from '../../domain/message.ts';
import type { MemoryState, Trust } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { memoize } from '../../util/async/memoize.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { calledIn, isCalled } from '../people/first-names.ts';
import { isSameName, membersIn } from '../people/people.ts';
import type { MemoryCandidate } from './candidate.ts';
import { type Grounding, groundingOf, isLong, ownTexts, readSources } from './grounding.ts';
import { holdsOrder } from './orders.ts';
import { asksToRemember } from './remember-intent.ts';
import { meansSpeaker } from './speaker-words.ts';

/** As long as names in labels. */
const MAX_NAME = 64;

/** What code, never a model, decides about a statement. */
export interface Provenance {
  readonly trust: Trust;
  readonly state: MemoryState;
  readonly subject: (Pick<Author, 'name'> & { readonly id: string | null }) | null;
  /** The cited messages that contain part of the statement. */
  readonly sources: readonly Entry[];
}

/** A statement with the messages that it is based on. */
interface Said {
  readonly text: string;
  readonly sources: readonly Entry[];
}

/** Where a statement was made. */
interface Heard {
  readonly conversation: Pick<Conversation, 'audience'>;
  /** Everybody who is known in the place, whether the model was shown their messages or not. */
  readonly people: readonly Author[];
}

/** Trust, subject and state, or the reason for a refusal. */
export function provenanceOf(
  candidate: Pick<MemoryCandidate, 'kind' | 'about'>,
  said: Said,
  { conversation, people }: Heard,
): Provenance | { readonly reason: string } {
  const subject = subjectOf(candidate.about, said, people);
  const names = namesOf(people);
  const isDirect = conversation.audience === 'dm';
  const compared = groundingOf(said.text, { sources: said.sources, subjectName: subject?.name ?? '', names });
  const grounding = isDirect ? hintsOfQuotations(compared, names) : compared;
  const isMistakable = !isDirect && subject !== null && hasNamesake(subject, people, candidate.about ?? '');
  const trust = trustOf(isMistakable ? null : (subject?.id ?? null), grounding, isDirect);
  const isInstruction = candidate.kind === 'instruction';
  if (isInstruction && trust === 'inferred') return { reason: 'no person gave this instruction' };
  if (holdsOrder(said.text) && !isInstruction) return { reason: 'it is an instruction, not a statement' };
  if (grounding.strength === 'absent') return { reason: 'none of its sources says it' };
  const asks = isAskedFor(said.sources, names);
  // In a DM, wrong statements can mislead only the person who made them, whomever they are about. An order in a mail that
  // they quote is not theirs, nor is one that came with an imported file.
  const isGiven = !isInstruction || ((grounding.strength !== 'quoted' || asks) && isSaidToBot(grounding.supporting));
  const own = isDirect && isGiven && isByOnePerson(grounding.supporting);
  const asked = asks && !isAboutMember(subject, people);
  const entitled = own || (!isInstruction && (trust === 'self' || asked));
  return { trust, state: entitled ? 'active' : 'candidate', subject, sources: grounding.supporting };
}

/**
 * A hint in a message that quotes may come from the quotation, above all if it is a translation. Elsewhere than in a DM a
 * hint is not trusted in any case.
 */
function hintsOfQuotations(grounding: Grounding, names: readonly string[]): Grounding {
  const quotes = ({ role, parts, ...entry }: Entry) =>
    role === 'user' && ownTexts(names)({ ...entry, role, parts, mentions: [] }) !== textOf(parts);
  const isQuotation = grounding.strength === 'hinted' && grounding.supporting.some(quotes);
  return isQuotation ? { ...grounding, strength: 'quoted' } : grounding;
}

/** The same list for the same people, so that long messages are read once. */
export const namesOf = memoize((people: readonly Author[]) => people.map(({ name }) => name), new WeakMap());

/** Reads the long messages that the candidates cite, in slices; then nothing about them takes long. */
export async function readCited({
  candidates,
  entries,
  people,
}: Pick<Heard, 'people'> & {
  readonly candidates: readonly Pick<MemoryCandidate, 'sources'>[];
  readonly entries: readonly Entry[];
}): Promise<void> {
  const cited = new Set(candidates.flatMap(({ sources }) => sources));
  const sources = entries.filter((entry) => cited.has(entry.seq) && isLong(entry));
  const names = namesOf(people);
  await readSources(sources, names);
  for (const source of sources) {
    requests(names)(source);
    await yieldToEventLoop();
  }
}

/** A person explicitly asked to remember it, in their own words. */
function isAskedFor(sources: readonly Entry[], names: readonly string[]): boolean {
  const isRequest = requests(names);
  return isByOnePerson(sources) && sources.some((entry) => entry.role === 'user' && isRequest(entry));
}

/** Many statements may cite one long message. */
const requests = memoize((names: readonly string[]) => {
  const ownTextOf = ownTexts(names);
  return memoize((entry: Entry) => asksToRemember(ownTextOf(entry)), new WeakMap());
}, new WeakMap());

/** A statement about another person who is present needs more than a request. */
function isAboutMember(subject: Provenance['subject'], people: readonly Author[]): boolean {
  if (subject === null) return false;
  return (
    subject.id !== null || people.some((person) => isNamed(person, subject.name) || isCalled(person.name, subject.name))
  );
}

/**
 * The least trusted source decides. Repetitions by the bot do not lower the trust. Nobody vouches for what they quote,
 * and a hint is the model's own conclusion. The exception is a DM, where only the person could be misled by it.
 */
function trustOf(subjectId: string | null, { supporting, strength }: Grounding, isDirect: boolean): Trust {
  const people = supporting.flatMap((entry) => (entry.role === 'user' && entry.author ? [entry.author] : []));
  if (people.length === 0 || (strength === 'hinted' && !isDirect)) return 'inferred';
  const own = subjectId !== null && people.every((author) => author.id === subjectId && author.kind === 'person');
  return own && strength !== 'quoted' ? 'self' : 'other';
}

function isByOnePerson(sources: readonly Entry[]): boolean {
  const people = sources.flatMap((entry) => (entry.role === 'user' && entry.author ? [entry.author] : []));
  return new Set(people.map((author) => author.id)).size === 1 && people.every((author) => author.kind === 'person');
}

/** Imported messages, and those that were read long after they were sent, ask for no reply. */
function isSaidToBot(sources: readonly Entry[]): boolean {
  return sources.every(({ role, wantsReply }) => role !== 'user' || wantsReply);
}

/**
 * The person a statement is about. If the model names nobody, or only "the user", statements of one person about their
 * own affairs are about them, unless the text names another person who is known here.
 */
function subjectOf(named: string | null | undefined, said: Said, known: readonly Author[]): Provenance['subject'] {
  const { text, sources } = said;
  const about = nameIn(named ?? '');
  const speakers = [...new Map(peopleOf(sources, 'authors').map((person) => [person.id, person])).values()];
  const speaker = speakers.length === 1 ? (speakers[0] ?? null) : null;
  const called = about === '' ? null : (personCalled(about, sources, known) ?? speakerCalled(about, speaker));
  if (called !== null) return called;
  if (about !== '' && !meansSpeaker(about)) return strangerCalled(about);
  if (speaker === null) return null;
  const isMentioned = membersIn(text);
  const others = known.filter((person) => person.id !== speaker.id);
  const other = others.find(({ name }) => isMentioned(name));
  if (other !== undefined) return personCalled(other.name, sources, known) ?? { id: null, name: other.name };
  const firstName = calledIn(text, speaker, others);
  return firstName === null ? speaker : { id: null, name: firstName };
}

/** Without the signs around it. The number of a message tells namesakes apart in transcripts, and the sources know more. */
function nameIn(about: string): string {
  return oneLine(about)
    .replace(/^@/u, '')
    .replace(/ ?\(#\d+\)$/u, '');
}

/** Nobody here has the name. A text may have told the model to put something else in its place. */
function strangerCalled(name: string): Provenance['subject'] {
  return name.length > MAX_NAME || holdsOrder(name) ? null : { id: null, name };
}

function speakerCalled(name: string, speaker: Author | null): Author | null {
  return speaker !== null && isCalled(speaker.name, name) ? speaker : null;
}

/**
 * The only person with this name: among those who say it, then among those whom they mention, then among all. Null for
 * none or several, because the person whom a statement is about may change it, and anyone may take a name.
 */
function personCalled(name: string, sources: readonly Entry[], known: readonly Author[]): Author | null {
  const mentioned = sources.flatMap(({ mentions }) => mentions);
  for (const people of [peopleOf(sources, 'authors'), mentioned, known]) {
    const called = new Map(people.filter((person) => isNamed(person, name)).map((person) => [person.id, person]));
    const [first = null] = called.values();
    if (called.size > 0) return called.size === 1 ? first : null;
  }
  return null;
}

/** Whether another person here has the same name, or a name that the text may mean: readers could not tell them apart. */
function hasNamesake(
  { id, name }: NonNullable<Provenance['subject']>,
  people: readonly Author[],
  said: string,
): boolean {
  const called = nameIn(said);
  const isAlike = (other: string) => isSameName(other, name) || (called !== '' && isCalled(other, called));
  return people.some((person) => person.id !== id && isAlike(person.name));
}

/** The authors of the messages, and with `all` also the people whom these mention. */
export function peopleOf(entries: readonly Entry[], which: 'authors' | 'all' = 'all'): readonly Author[] {
  return entries.flatMap((entry) => {
    const author = entry.role === 'user' && entry.author ? [entry.author] : [];
    return which === 'authors' ? author : [...author, ...entry.mentions];
  });
}

function isNamed(person: Author, about: string): boolean {
  return person.id === about || isSameName(person.name, about);
}
