import { placeOf } from '../../domain/key.ts';
import type { ConversationKey, Entry } from '../../domain/message.ts';
import { MEMORY_STATES, type Memory, type Redaction } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { readerFor } from '../rights/policy.ts';
import { createReadAdditions } from './additions.ts';
import { incomparableAnswers } from './answers.ts';
import { type Statement, statementOfMemory } from './derived.ts';
import { conversationsOf, createAreaReader, type KnownTexts } from './forget-area.ts';
import { hasText, redactionOf, withDerived } from './forget-derived.ts';
import { beginningsFrom, type KeptQuote, quotesInReplies } from './kept-quotes.ts';
import { quotedIn, quotesPlaces } from './quoted-elsewhere.ts';

type Removers = Pick<Services, 'store' | 'search' | 'provenance' | 'agents'>;

interface Removal {
  readonly conversation: Conversation;
  /** The messages that are deleted, with their text. */
  readonly entries: readonly Entry[];
}

interface Look extends Removal, Pick<KnownTexts, 'additions'> {}

const MAX_MEMORIES = 1000;
const LOOKS = 2;

/**
 * Deletes the text of messages that were deleted on their platform, and everything that repeats it: replies, tool calls
 * and summaries, here and in conversations whose replies were given a memory of it. The memories themselves are deleted
 * with their last source. A reply that is committed during the first search is found by the second, when no running
 * turn knows the text any more.
 */
export async function removeMessages(
  services: Removers & Pick<Services, 'clock'>,
  conversation: Conversation,
  externalIds: readonly string[],
): Promise<{ readonly seqs: readonly number[]; readonly elsewhere: readonly Conversation[] }> {
  const { store, clock } = services;
  const known = await entriesOf(services, conversation, externalIds);
  const entries = known.filter(({ redactedAt }) => redactedAt === null);
  if (entries.length === 0) {
    // An earlier deletion may not be on the disk yet. A further write resolves only after it.
    if (known.length > 0)
      await store.transcript.redact(conversation.id, { externalIds, derived: [], now: clock.now() });
    return { seqs: [], elsewhere: [] };
  }
  let statements = await statementsOf(services, { conversation, entries });
  const additions = createReadAdditions(services);
  const seqs: number[] = [];
  const touched = new Set<number>();
  for (let look = 0; look < LOOKS; look += 1) {
    const derived = await derivedFrom(services, { conversation, entries, additions }, statements);
    // Where the memories were given to replies during the search is known only as long as they are.
    statements = await withNewReadings(services, statements);
    for (const redaction of derived.filter(hasText)) touched.add(redaction.conversationId);
    seqs.push(...(await store.transcript.redact(conversation.id, { externalIds, derived, now: clock.now() })));
  }
  touched.delete(conversation.id);
  const elsewhere = await Promise.all([...touched].map((id) => store.conversations.get(id)));
  return { seqs, elsewhere: elsewhere.filter((other) => other !== null) };
}

/**
 * Deletes what threads keep of the messages from which they start, and replies of those that they answer, and what the
 * bot repeated of it there. Returns their conversations.
 */
export async function removeKeptQuotes(
  services: Removers & Pick<Services, 'clock'>,
  key: ConversationKey,
  externalIds: readonly string[],
): Promise<readonly Conversation[]> {
  const threads = await beginningsFrom(services, key, externalIds);
  const quotes = [...threads, ...(await quotesInReplies(services, key, externalIds))];
  for (const quote of quotes) {
    for (let look = 0; look < LOOKS; look += 1) await removeKeptQuote(services, quote);
  }
  return quotes.map(({ conversation }) => conversation);
}

async function removeKeptQuote(
  services: Removers & Pick<Services, 'clock'>,
  { conversation, entry, sentence, statement }: KeptQuote,
): Promise<void> {
  const { id: conversationId } = conversation;
  const areas = createAreaReader(services, { additions: createReadAdditions(services) });
  const statements = [statement];
  const decision = { area: await areas.load(conversation, statements), seqs: new Set<number>(), sentences: [sentence] };
  const derived = await withDerived(services, { statements, areas }, decision);
  const answers = await incomparableAnswers(services, conversationId, [entry]);
  const redaction = redactionOf({ ...derived, entries: [...derived.entries, ...answers] });
  const { text, kind, about } = sentence;
  await services.store.memories.forget({
    memoryIds: [],
    tombstones: [],
    redactions: [redaction].filter(hasText),
    sentences: [{ conversationId, seq: entry.seq, sentences: [{ id: '', text }], kind, about }],
    actor: 'channel',
    now: services.clock.now(),
  });
}

async function entriesOf(
  { store }: Pick<Services, 'store'>,
  { id }: Conversation,
  externalIds: readonly string[],
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (const externalId of externalIds) {
    const entry = await store.transcript.byExternalId(id, externalId);
    if (entry !== null) found.push(entry);
  }
  return found;
}

/** Memories that say what the deleted messages said and have them as last sources. */
async function statementsOf(
  { store, provenance, agents }: Removers,
  { conversation, entries }: Removal,
): Promise<readonly Statement[]> {
  const seqs = entries.map(({ seq }) => seq);
  // Nobody is shown them, so those from before the place was opened count, too.
  const reader = { ...readerFor(conversation, agents.agentFor(conversation.key)), audience: 'dm' } as const;
  const restingOn = { conversationId: conversation.id, seqs };
  const query = { reader, restingOn, states: MEMORY_STATES, limit: MAX_MEMORIES, offset: 0 };
  const hasNoOther = ({ sources }: Memory) =>
    sources.every((source) => source.conversationId === conversation.id && seqs.includes(source.seq));
  const gone = (await store.memories.list(query)).filter(hasNoOther);
  const readings = await provenance.readings(gone.map(({ id }) => id));
  return gone.map((memory) => statementOfMemory(memory, { audience: conversation.audience, readings }));
}

async function withNewReadings(
  { provenance }: Removers,
  statements: readonly Statement[],
): Promise<readonly Statement[]> {
  const ids = statements.flatMap(({ memory }) => (memory === null ? [] : [memory.id]));
  const found = await provenance.readings(ids);
  return statements.map((statement) => {
    const own = found.filter(({ memoryId }) => memoryId === statement.memory?.id);
    return { ...statement, readings: [...statement.readings, ...own] };
  });
}

/** What repeats the messages. */
async function derivedFrom(
  services: Removers,
  { conversation, entries, additions }: Look,
  statements: readonly Statement[],
): Promise<readonly Redaction[]> {
  const read = statements.flatMap(({ readings }) => readings.map(({ conversationId }) => conversationId));
  const redactions: Redaction[] = [];
  const areas = createAreaReader(services, { additions });
  const places = quotesPlaces(services, conversation) ? [placeOf(conversation.key)] : [];
  for (const place of await conversationsOf(services, { places, ids: [conversation.id, ...read] })) {
    const all = [...statements, ...quotedIn(services, { here: place, conversation, entries })];
    const gone = place.id === conversation.id ? entries : [];
    const area = await areas.load(place, all);
    const decision = {
      area: { ...area, entries: new Map([...area.entries, ...gone.map((entry) => [entry.seq, entry] as const)]) },
      seqs: new Set(gone.map(({ seq }) => seq)),
      sentences: [],
    };
    redactions.push(redactionOf(await withDerived(services, { statements: all, areas }, decision)));
  }
  return redactions;
}
