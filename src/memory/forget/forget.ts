import { placeOf, workspaceOf } from '../../domain/key.ts';
import type { ConversationKey, Entry } from '../../domain/message.ts';
import type { ForgetPlan, Memory, MemoryReader } from '../../ports/memory-store.ts';
import type { MemoryReading } from '../../ports/provenance-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { tombstonesOf } from '../admission/tombstones.ts';
import type { Requester } from '../rights/permissions.ts';
import { canRead, isOpenBeside } from '../rights/policy.ts';
import { createReadAdditions } from './additions.ts';
import { type Statement, statementOfMemory } from './derived.ts';
import {
  type Area,
  type AreaReader,
  conversationsOf,
  createAreaReader,
  createReadEntries,
  type KnownTexts,
} from './forget-area.ts';
import { type AreaForgetting, hasText, redactionOf, withDerived } from './forget-derived.ts';
import { siblingsOf, withKin } from './forget-memories.ts';
import { decidePeople, type PeopleDecision, type SentenceDecision } from './forget-people.ts';
import { statementsOf } from './forget-statements.ts';
import { beginningsOf, withBeginnings } from './kept-quotes.ts';
import { quotedIn } from './quoted-elsewhere.ts';

export interface Forgetting {
  /** The memories that the person may forget. */
  readonly memories: readonly Memory[];
  /** Messages that are named directly and that the person may delete. */
  readonly messages: readonly NamedMessages[];
  readonly by: Requester;
}

export interface NamedMessages {
  readonly conversation: Conversation;
  readonly entries: readonly Entry[];
}

/** Everything that one forget request removes: shown as far as the person may read it, and carried out. */
export interface ForgetPreview {
  readonly plan: ForgetPlan;
  readonly memories: readonly Memory[];
  readonly messages: readonly { readonly conversation: ConversationKey; readonly entry: Entry }[];
  readonly sentences: readonly (SentenceDecision & { readonly conversation: ConversationKey })[];
  readonly summaries: number;
  /** What is also removed from places that the person who asks cannot read. */
  readonly withheld: { readonly memories: number; readonly messages: number; readonly sentences: number };
  /**
   * What the bot has repeated since the plan was made. To be called once that is carried out: then no running turn knows
   * the text any more. Null if there is nothing. `readings` are those of the plan's memories, from right before.
   */
  later(readings: readonly MemoryReading[]): Promise<ForgetPlan | null>;
}

type Forgetters = Pick<Services, 'store' | 'search' | 'clock' | 'random' | 'provenance' | 'agents'>;

/** A sibling may itself have siblings that say the same. */
const MAX_ROUNDS = 3;

/**
 * Deletes by provenance and permissions. Memories go with their twins, the older memories that they replaced, and
 * siblings that say the same; people's messages as decided by `decidePeople`; and what the bot derived from any of
 * that: replies, tool calls and summaries that came later and repeat it. Text that merely touches the same subject
 * stays.
 */
export async function planForget(services: Forgetters, forgetting: Forgetting): Promise<ForgetPreview> {
  const texts = { entries: createReadEntries(), additions: createReadAdditions(services) };
  const first = await look(services, forgetting, { ...texts, readings: [] });
  return {
    ...previewOf(services, first),
    async later(readings) {
      const known = { ...texts, readings: [...first.readings, ...readings] };
      const sought = { ...forgetting, memories: first.memories };
      const conversations = await conversationsOf(services, reachOf(sought, known.readings));
      if (!conversations.some((now) => hasGrown(now, first))) return null;
      const { plan } = previewOf(services, repeatedSince(first, await look(services, sought, known)));
      return plan.memoryIds.length + plan.redactions.length === 0 ? null : plan;
    },
  };
}

/** What a look may take from an earlier one, because it is deleted by then. */
interface Known extends KnownTexts {
  readonly readings: readonly MemoryReading[];
}

interface Look extends Found {
  readonly readings: readonly MemoryReading[];
}

/** Whether something was stored there since that look. */
function hasGrown({ id, nextSeq, extractedUpto, compactedUpto }: Conversation, { found }: Look): boolean {
  const before = found.find(({ conversation }) => conversation.id === id)?.conversation;
  if (before === undefined || before.nextSeq < nextSeq) return true;
  return before.extractedUpto < extractedUpto || before.compactedUpto < compactedUpto;
}

/** Without messages of people: those were not shown before the deletion was confirmed. */
function repeatedSince(first: Look, now: Look): Found {
  const known = new Set(first.memories.map(({ id }) => id));
  return {
    by: now.by,
    memories: now.memories.filter(({ id }) => !known.has(id)),
    found: now.found.map((area) => {
      const before = first.found.find(({ conversation }) => conversation.id === area.conversation.id);
      const seqs = new Set(before?.entries.map(({ seq }) => seq));
      return {
        conversation: area.conversation,
        entries: area.entries.filter(({ seq, role }) => role !== 'user' && !seqs.has(seq)),
        sentences: [],
        summaryIds: area.summaryIds.filter((id) => !before?.summaryIds.includes(id)),
        blobIds: area.blobIds.filter((id) => !before?.blobIds.includes(id)),
      };
    }),
  };
}

async function look(services: Forgetters, forgetting: Forgetting, known: Known): Promise<Look> {
  const { by } = forgetting;
  const areas = createAreaReader(services, known);
  const draftFor = (memories: readonly Memory[]) => draftOf(services, { areas, known }, { ...forgetting, memories });
  let memories = await withKin(services, forgetting.memories, by);
  let draft = await draftFor(memories);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const siblings = await newSiblings(services, draft, { memories, by });
    if (siblings.length === 0) break;
    memories = await withKin(services, [...memories, ...siblings], by);
    draft = await draftFor(memories);
  }
  const found: AreaForgetting[] = [];
  const beginnings = await beginningsOf(services, draft.people);
  const deleting = draft.people.filter(({ seqs }) => seqs.size > 0);
  for (const people of draft.people) {
    const { conversation } = people.area;
    const begun = beginnings.filter((one) => one.conversation.id === conversation.id);
    const elsewhere = quotedElsewhere(services, deleting, conversation);
    const statements = [...draft.statements, ...elsewhere, ...begun.map(({ statement }) => statement)];
    found.push(await withDerived(services, { statements, areas }, await withBeginnings(areas, people, begun)));
  }
  return { memories, found, by, readings: draft.readings };
}

/** The deleted messages of the other conversations of a place, if replies here may have been given them. */
function quotedElsewhere(
  services: Pick<Services, 'agents'>,
  people: readonly PeopleDecision[],
  here: Conversation,
): readonly Statement[] {
  return people.flatMap(({ area: { conversation, entries }, seqs }) =>
    quotedIn(services, { here, conversation, entries: [...seqs].flatMap((seq) => entries.get(seq) ?? []) }),
  );
}

export interface Draft {
  readonly readings: readonly MemoryReading[];
  readonly statements: readonly Statement[];
  readonly people: readonly PeopleDecision[];
}

/** The statements, and what happens to people's messages. */
async function draftOf(
  services: Forgetters,
  { areas: reader, known }: { readonly areas: AreaReader; readonly known: Known },
  { memories, messages, by }: Forgetting,
): Promise<Draft> {
  const stored = await services.provenance.readings(memories.map((memory) => memory.id));
  const readings = [...known.readings, ...stored];
  const conversations = await conversationsOf(services, reachOf({ memories, messages }, readings));
  const statements = await statementsOf(memories, { conversations, readings });
  const areas: Area[] = [];
  for (const conversation of conversations) areas.push(await reader.load(conversation, statements));
  const spoken = areas.flatMap((area) => [...area.entries.values()]);
  const people: PeopleDecision[] = [];
  for (const area of areas) {
    const decision = await decidePeople(services, area, { statements, by, spoken });
    people.push(withNamed(decision, messages));
  }
  return { readings, statements, people };
}

/** The places and conversations that may contain what is being forgotten. */
function reachOf(
  { memories, messages }: Pick<Forgetting, 'memories' | 'messages'>,
  readings: readonly MemoryReading[],
): Parameters<typeof conversationsOf>[1] {
  const named = messages.map(({ conversation }) => placeOf(conversation.key));
  return {
    places: [...memories.map(({ place }) => place), ...named],
    ids: [...readings, ...memories.flatMap(({ sources }) => sources)].map(({ conversationId }) => conversationId),
  };
}

function withNamed(decision: PeopleDecision, messages: readonly NamedMessages[]): PeopleDecision {
  const { id } = decision.area.conversation;
  const named = messages.filter(({ conversation }) => conversation.id === id).flatMap(({ entries }) => entries);
  if (named.length === 0) return decision;
  const entries = new Map([...decision.area.entries, ...named.map((entry) => [entry.seq, entry] as const)]);
  const seqs = new Set([...decision.seqs, ...named.map(({ seq }) => seq)]);
  return { ...decision, area: { ...decision.area, entries }, seqs };
}

/** Memories of the same messages that say the same in other words. Memories of named messages have no other source. */
async function newSiblings(
  services: Forgetters,
  { statements, people }: Draft,
  { memories, by }: Pick<Forgetting, 'memories' | 'by'>,
): Promise<readonly Memory[]> {
  const known = new Set<string>(memories.map(({ id }) => id));
  const stems = statements.reduce<ReadonlySet<string>>((all, statement) => all.union(statement.stems), new Set());
  const found: Memory[] = [];
  for (const { area, seqs } of people) {
    const { conversation } = area;
    for (const memory of await siblingsOf(services, { conversation, seqs: [...seqs] }, by)) {
      if (known.has(memory.id)) continue;
      const own = statementOfMemory(memory, { audience: conversation.audience, readings: [] }).stems;
      const isOrphan = memory.sources.every(
        (source) => source.conversationId === conversation.id && seqs.has(source.seq),
      );
      if (!own.isDisjointFrom(stems) || (statements.length === 0 && isOrphan)) found.push(memory);
      known.add(memory.id);
    }
  }
  return found;
}

interface Found {
  readonly memories: readonly Memory[];
  readonly found: readonly AreaForgetting[];
  readonly by: Requester;
}

function previewOf({ clock, random }: Forgetters, { memories, found, by }: Found): Omit<ForgetPreview, 'later'> {
  const plan: ForgetPlan = {
    memoryIds: memories.map((memory) => memory.id),
    tombstones: tombstonesOf(memories, by),
    redactions: found.map(redactionOf).filter(hasText),
    sentences: found.flatMap(({ conversation: { id: conversationId }, sentences }) =>
      sentences.map(({ entry: { seq }, text, kind, about }) => {
        return { conversationId, seq, sentences: [{ id: random.id(), text }], kind, about };
      }),
    ),
    actor: by.author.id,
    now: clock.now(),
  };
  return { plan, ...shownOf({ memories, found, by }) };
}

function shownOf({ memories, found, by: { reader } }: Found): Omit<ForgetPreview, 'plan' | 'later'> {
  const readable = memories.filter((memory) => canRead(memory, reader));
  const open = found.filter(({ conversation }) => canReadMessages(conversation, reader));
  const messages = open.flatMap(({ conversation, entries }) =>
    entries
      .filter(({ seq }) => isOpenBeside(seq, conversation, reader))
      .map((entry) => ({ conversation: conversation.key, entry })),
  );
  const sentences = open.flatMap(({ conversation, sentences: own }) =>
    own
      .filter(({ entry }) => isOpenBeside(entry.seq, conversation, reader))
      .map((sentence) => ({ ...sentence, conversation: conversation.key })),
  );
  const withheld = {
    memories: memories.length - readable.length,
    messages: sumOf(found, ({ entries }) => entries.length) - messages.length,
    sentences: sumOf(found, ({ sentences: own }) => own.length) - sentences.length,
  };
  const summaries = sumOf(found, ({ summaryIds }) => summaryIds.length);
  return { memories: readable, messages, sentences, summaries, withheld };
}

function sumOf(found: readonly AreaForgetting[], count: (area: AreaForgetting) => number): number {
  return found.reduce((sum, area) => sum + count(area), 0);
}

/** Messages are shown in their own place, and public ones wherever public memories are shown. */
function canReadMessages({ key, audience }: Conversation, reader: MemoryReader): boolean {
  const place = placeOf(key);
  if (place === reader.place) return true;
  const { agentId } = reader;
  return canRead({ scope: 'place', place, workspace: workspaceOf(key), audience, agentId }, reader);
}
