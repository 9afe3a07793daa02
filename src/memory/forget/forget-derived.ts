import { type BlobId, type Entry, type SummaryId, textOfEverything } from '../../domain/message.ts';
import type { Redaction } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import type { Services } from '../../services.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { incomparableAnswers } from './answers.ts';
import { type BotText, isDerived, type Statement, type Surroundings, statementOfMessage } from './derived.ts';
import { changesBeforeEdits, derivedBlobs } from './derived-blobs.ts';
import type { AreaReader } from './forget-area.ts';
import type { PeopleDecision, SentenceDecision } from './forget-people.ts';

/** Deleted messages of one conversation whose text is searched for together. */
const MESSAGES_AT_ONCE = 50;

/** What is removed from one conversation. */
export interface AreaForgetting {
  readonly conversation: Conversation;
  readonly entries: readonly Entry[];
  readonly sentences: readonly SentenceDecision[];
  readonly summaryIds: readonly SummaryId[];
  readonly blobIds: readonly BlobId[];
}

/** What the bot derived there from the statements and the deleted messages. */
export async function withDerived(
  services: Pick<Services, 'store' | 'search'>,
  { statements, areas }: Pick<Origins, 'statements' | 'areas'>,
  people: PeopleDecision,
): Promise<AreaForgetting> {
  const { area, seqs, sentences } = people;
  const deleted = [...area.entries.values()].filter((entry) => seqs.has(entry.seq) && entry.role === 'user');
  const found: Derived[] = [];
  for (let from = 0; from === 0 || from < deleted.length; from += MESSAGES_AT_ONCE) {
    const some = deleted.slice(from, from + MESSAGES_AT_ONCE);
    found.push(await derivedFrom(services, { statements: from === 0 ? statements : [], areas, deleted: some }, people));
    await waitForOwnTurn();
  }
  const gone = [...seqs].flatMap((seq) => area.entries.get(seq) ?? []);
  return {
    conversation: area.conversation,
    entries: bySeq([...gone, ...found.flatMap(({ echoes }) => echoes)]),
    sentences,
    summaryIds: [...new Set(found.flatMap(({ summaryIds }) => summaryIds))],
    blobIds: [
      ...new Set([
        ...found.flatMap(({ blobIds }) => blobIds),
        ...(await changesBeforeEdits(services, area.conversation, deleted)),
      ]),
    ],
  };
}

interface Derived extends Pick<AreaForgetting, 'summaryIds' | 'blobIds'> {
  readonly echoes: readonly Entry[];
}

interface Origins {
  readonly statements: readonly Statement[];
  readonly areas: AreaReader;
  readonly deleted: readonly Entry[];
}

/** The text of a deleted message is searched for, because a reply may have repeated more of it than a memory contains. */
async function derivedFrom(
  services: Pick<Services, 'store' | 'search'>,
  { statements, areas, deleted }: Origins,
  { area: first, seqs, sentences }: PeopleDecision,
): Promise<Derived> {
  const { conversation } = first;
  const place = { audience: conversation.audience, conversationId: conversation.id };
  const all = await areas.dated([...statements, ...deleted.map((entry) => statementOfMessage(entry, place))]);
  const more = await areas.load(conversation, all);
  const entries = new Map([...first.entries, ...more.entries]);
  const summaries = new Map([...first.summaries, ...more.summaries].map((summary) => [summary.id, summary]));
  const losing = new Set(sentences.map(({ entry }) => entry.seq));
  const staying = [...entries.values()].filter(({ seq }) => !seqs.has(seq) && !losing.has(seq));
  const around = { conversationId: conversation.id, staying };
  const answers = await incomparableAnswers(services, conversation.id, deleted);
  const said = staying.filter(({ role }) => role !== 'user');
  const echoes = await echoesAmong(said, (entry) => entry, { statements: all, around });
  const repeating = await echoesAmong([...summaries.values()], asText, { statements: all, around });
  return {
    echoes: [...answers, ...echoes],
    summaryIds: repeating.map(({ id }) => id),
    blobIds: await derivedBlobs(services, { statements: all, around }),
  };
}

/** A few milliseconds of comparisons. Before the first one, the words of a text are read. */
const COMPARED_AT_ONCE = 1000;
const CHARACTERS_AS_LONG = 100;

async function echoesAmong<Item>(
  items: readonly Item[],
  textIn: (item: Item) => BotText,
  { statements, around }: { readonly statements: readonly Statement[]; readonly around: Surroundings },
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let compared = 0;
  for (const item of items) {
    const text = textIn(item);
    if (statements.some((statement) => isDerived(text, statement, around))) found.push(item);
    compared += statements.length + textOfEverything(text).length / CHARACTERS_AS_LONG;
    if (compared < COMPARED_AT_ONCE) continue;
    compared = 0;
    await waitForOwnTurn();
  }
  return found;
}

function bySeq(entries: readonly Entry[]): readonly Entry[] {
  return [...new Map(entries.map((entry) => [entry.seq, entry])).values()].sort((a, b) => a.seq - b.seq);
}

/**
 * A summary may contain anything that was read before it was written, and a stale one also what its messages no longer
 * say.
 */
function asText({ text, toSeq, stale, createdAt }: Summary): BotText {
  const seq = stale ? Number.POSITIVE_INFINITY : toSeq;
  return { seq, at: createdAt, role: 'assistant', author: null, parts: [{ kind: 'text', text }] };
}

export function redactionOf({ conversation, entries, summaryIds, blobIds }: AreaForgetting): Redaction {
  return { conversationId: conversation.id, seqs: entries.map(({ seq }) => seq), summaryIds, blobIds };
}

export function hasText({ seqs, summaryIds, blobIds = [] }: Redaction): boolean {
  return seqs.length + summaryIds.length + blobIds.length > 0;
}
