import type { Entry } from '../../domain/message.ts';
import type { Services } from '../../services.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { mayDelete, type Requester } from '../rights/permissions.ts';
import type { Statement } from './derived.ts';
import type { Area } from './forget-area.ts';
import { type Candidate, createNames } from './names.ts';
import { matchesStatement } from './statement-match.ts';
import { sentencesIn, stemsIn } from './vocabulary.ts';

/** What happens to people's messages in one conversation. */
export interface PeopleDecision {
  readonly area: Area;
  /** Deleted whole. */
  readonly seqs: ReadonlySet<number>;
  readonly sentences: readonly SentenceDecision[];
}

export interface SentenceDecision extends Candidate {
  readonly kind: 'hold' | 'strike';
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
  for (const [at, statement] of statements.entries()) {
    if (isTurn(at, area)) await waitForOwnTurn();
    for (const seq of wholeMessages(area, statement, by)) seqs.add(seq);
  }
  const sentences = new Map<string, SentenceDecision>();
  const names = createNames(store, { area, spoken });
  for (const [at, statement] of statements.entries()) {
    if (isTurn(at, area)) await waitForOwnTurn();
    for (const candidate of sayingSentences(area, statement, by)) {
      const name = `${candidate.entry.seq} ${candidate.text}`;
      if (seqs.has(candidate.entry.seq) || sentences.has(name)) continue;
      if (await names.areOnlyAbout(candidate)) sentences.set(name, candidate);
    }
  }
  return { area, seqs, sentences: [...sentences.values()] };
}

/** A few milliseconds of comparisons. */
const COMPARED_AT_ONCE = 400;

function isTurn(at: number, { entries }: Area): boolean {
  return at % Math.max(1, Math.floor(COMPARED_AT_ONCE / Math.max(1, entries.size))) === 0;
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
  const telling = sources.filter((entry) => traits.shareIn(stemsIn(entry)) >= SOURCE_SHARE);
  return telling.length > 0 ? telling : sources;
}

/** Sentences of others that may be about the person only; whom they name is checked later. */
function sayingSentences(area: Area, statement: Statement, by: Requester): readonly SentenceDecision[] {
  const { memory } = statement;
  if (memory === null || memory.subjectId === null) return [];
  const about = { id: memory.subjectId, name: memory.subjectName ?? '' };
  const sources = new Set(sourcesIn(area, statement).map((entry) => entry.seq));
  return [...area.entries.values()].flatMap((entry) => {
    if (entry.role !== 'user' || entry.author === null || entry.author.id === about.id) return [];
    const said = sayingIn(entry, statement, sources.has(entry.seq));
    const mayStrike = said.length > 0 && mayDelete(entry, area.conversation, by);
    if (!mayStrike && about.id !== by.author.id) return [];
    const kind = mayStrike ? 'strike' : 'hold';
    return said.map((text) => ({ entry, text, kind, about }) as const);
  });
}

function sayingIn(entry: Entry, { traits }: Statement, isSource: boolean): readonly string[] {
  const sentences = sentencesIn(entry);
  const { names, secrets } = traits;
  const saying = sentences.filter(({ words, stems }) => {
    const share = traits.shareIn(stems);
    if (isSource) return share >= SOURCE_SHARE;
    return (
      share >= SENTENCE_SHARE || (share >= NAMED_SHARE && words.some((word) => names.has(word) || secrets.has(word)))
    );
  });
  return (isSource && saying.length === 0 ? sentences : saying).map(({ text }) => text);
}
