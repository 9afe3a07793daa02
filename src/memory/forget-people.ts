import { type Entry, textOf } from '../domain/message.ts';
import { fold, wordsOf } from '../search/words.ts';
import type { Services } from '../services.ts';
import { holdsName, isOnlyAbout, isOrdinaryIn, type Naming, sentencesOf } from './about-person.ts';
import type { Statement } from './derived.ts';
import type { Area } from './forget-area.ts';
import { mayDelete, type Requester } from './permissions.ts';
import { matchesStatement, textOfEverything } from './statement-match.ts';

/** What happens to people's messages in one conversation. */
export interface PeopleDecision {
  readonly area: Area;
  /** Deleted whole. */
  readonly seqs: ReadonlySet<number>;
  readonly sentences: readonly SentenceDecision[];
}

export interface SentenceDecision {
  readonly entry: Entry;
  readonly text: string;
  readonly kind: 'hold' | 'strike';
  readonly about: { readonly id: string; readonly name: string };
}

interface Deciding {
  readonly statements: readonly Statement[];
  readonly by: Requester;
  /** The names that people used in the place. */
  readonly spoken: readonly Entry[];
}

/** A source with this share of the statement counts as saying it. */
const SOURCE_SHARE = 0.3;
/** A sentence with this share of the statement's words says it; a name or code of the statement lowers the share. */
const SENTENCE_SHARE = 0.7;
const NAMED_SHARE = 0.4;
/** Number of messages before and after a sentence in which to look for the people it may mean. */
const LOOK_AROUND = 200;

/**
 * Decides by provenance and permissions: the source messages, as far as the person may delete them; their own other
 * messages that repeat the statements; and of everybody else's messages, single sentences about the person only.
 */
export async function decidePeople(
  { store }: Pick<Services, 'store'>,
  area: Area,
  { statements, by, spoken }: Deciding,
): Promise<PeopleDecision> {
  const seqs = new Set<number>();
  for (const statement of statements) for (const seq of wholeMessages(area, statement, by)) seqs.add(seq);
  const sentences: SentenceDecision[] = [];
  for (const statement of statements) {
    for (const candidate of sentencesIn(area, statement, by)) {
      if (seqs.has(candidate.entry.seq) || isKnown(sentences, candidate)) continue;
      const naming = await namingFor(store, { area, candidate, spoken });
      if (isOnlyAbout(candidate.text, naming)) sentences.push(candidate);
    }
  }
  return { area, seqs, sentences };
}

function isKnown(sentences: readonly SentenceDecision[], { entry, text }: SentenceDecision): boolean {
  return sentences.some((other) => other.entry.seq === entry.seq && other.text === text);
}

function wholeMessages(area: Area, statement: Statement, by: Requester): readonly number[] {
  const { memory, traits } = statement;
  const { conversation, entries } = area;
  const sources = sourcesIn(area, statement);
  const own = [...entries.values()].filter(
    ({ role, author }) => role === 'user' && author !== null && [by.author.id, memory?.subjectId].includes(author.id),
  );
  const said = own.filter((entry) => matchesStatement(entry, traits));
  // A source that the bot wrote goes with the memory made from it.
  return [...tellingSources(sources, statement), ...said]
    .filter((entry) => entry.role !== 'user' || mayDelete(entry, conversation, by))
    .map((entry) => entry.seq);
}

function sourcesIn({ conversation, entries }: Area, { sources }: Statement): readonly Entry[] {
  return sources.flatMap(({ conversationId, seq }) => {
    const entry = conversationId === conversation.id ? entries.get(seq) : undefined;
    return entry === undefined ? [] : [entry];
  });
}

/** The sources that say the statement; all of them if none can be identified, as with a memory in another language. */
function tellingSources(sources: readonly Entry[], { traits }: Statement): readonly Entry[] {
  const telling = sources.filter((entry) => traits.shareIn(textOfEverything(entry)) >= SOURCE_SHARE);
  return telling.length > 0 ? telling : sources;
}

/** Sentences of others that may be about the person only; whom they name is checked later. */
function sentencesIn(area: Area, statement: Statement, by: Requester): readonly SentenceDecision[] {
  const { memory } = statement;
  if (memory === null || memory.subjectId === null) return [];
  const about = { id: memory.subjectId, name: memory.subjectName ?? '' };
  const sources = new Set(sourcesIn(area, statement).map((entry) => entry.seq));
  return [...area.entries.values()].flatMap((entry) => {
    if (entry.role !== 'user' || entry.author === null || entry.author.id === about.id) return [];
    const mayStrike = mayDelete(entry, area.conversation, by);
    if (!mayStrike && about.id !== by.author.id) return [];
    const kind = mayStrike ? 'strike' : 'hold';
    const said = sayingSentences(entry, statement, sources.has(entry.seq));
    return said.map((text) => ({ entry, text, kind, about }) as const);
  });
}

function sayingSentences(entry: Entry, { traits }: Statement, isSource: boolean): readonly string[] {
  const sentences = sentencesOf(textOf(entry.parts));
  const saying = sentences.filter((sentence) => {
    const share = traits.shareIn(sentence);
    if (isSource) return share >= SOURCE_SHARE;
    const words = new Set(wordsOf(sentence));
    const isTold = traits.names.union(traits.secrets).intersection(words).size > 0;
    return share >= SENTENCE_SHARE || (share >= NAMED_SHARE && isTold);
  });
  return isSource && saying.length === 0 ? sentences : saying;
}

/**
 * The names in use when the sentence was written. A name counts for the person only if they used it there before, or
 * the message mentions them. Otherwise somebody could claim others' sentences by taking a name afterwards.
 */
async function namingFor(
  store: Services['store'],
  { area, candidate, spoken }: Pick<Deciding, 'spoken'> & { readonly area: Area; readonly candidate: SentenceDecision },
): Promise<Naming> {
  const { entry, about } = candidate;
  const range = { fromSeq: Math.max(1, entry.seq - LOOK_AROUND), toSeq: entry.seq + LOOK_AROUND };
  const around = await store.transcript.read(area.conversation.id, { ...range, limit: 2 * LOOK_AROUND + 1 });
  const here = new Set([...around, ...area.entries.values()]);
  const elsewhere = spoken.filter((other) => !here.has(other));
  const known = [...here, ...elsewhere];
  const earlier = [
    ...[...here].filter((other) => other.seq < entry.seq),
    ...elsewhere.filter((other) => other.at <= entry.at),
  ];
  const people = [...known, entry].flatMap(({ author, mentions }) => [...(author ? [author] : []), ...mentions]);
  const used = earlier.flatMap(({ author }) => (author?.id === about.id ? [author.name] : []));
  const own = used.filter((name) => !isOrdinary(name, { known: [...known, entry], personId: about.id }));
  const mentioned = entry.mentions.filter(({ id }) => id === about.id).map(({ name }) => name);
  const others = people.filter(({ id }) => id !== about.id).map(({ name }) => name);
  return { names: [...new Set([...own, ...mentioned])], others: [...new Set(others)] };
}

/** Others use it as a word of the language, or had used it before the person took it in the place of another name. */
function isOrdinary(
  name: string,
  { known, personId }: { readonly known: readonly Entry[]; readonly personId: string },
): boolean {
  const own = known.filter(({ author }) => author?.id === personId);
  const others = known.filter(({ role, author }) => role === 'user' && author !== null && author.id !== personId);
  if (others.some(({ parts }) => isOrdinaryIn(textOf(parts), name))) return true;
  const takenAt = Math.min(...own.filter(({ author }) => author?.name === name).map(({ at }) => at));
  const isTaken = own.some(({ author, at }) => at < takenAt && author !== null && isOtherName(author.name, name));
  return isTaken && others.some(({ parts, at }) => at < takenAt && holdsName(textOf(parts), name));
}

/** "Ada" for "ada_l" is the same name. */
function isOtherName(before: string, now: string): boolean {
  const [one, other] = [fold(before), fold(now)];
  return !one.includes(other) && !other.includes(one);
}
