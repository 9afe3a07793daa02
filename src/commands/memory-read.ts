import { StrataError } from '../domain/errors.ts';
import type { ExportReach } from '../memory/export.ts';
import { isSameName } from '../memory/people/people.ts';
import type { Requester } from '../memory/rights/permissions.ts';
import type { OriginMessage } from '../memory/service.ts';
import { MEMORY_KINDS, MEMORY_STATES, type Memory, type MemoryEvent, type MemoryKind } from '../ports/memory-store.ts';
import type { WithheldMemory } from '../ports/provenance-store.ts';
import type { CommandReply, ReplyField } from '../ports/reply.ts';
import { withinTime } from '../util/async/within.ts';
import { counted, excerpt, formatTime } from '../util/text/text.ts';
import { type Call, commandTo, mayModerate, optionOf, pageOf, requiredOption, sameCommand } from './command.ts';
import { shownName } from './format-entry.ts';
import { withheldFor, withheldLine, withheldRow } from './memory-withheld.ts';
import { makeReply, takePage } from './reply.ts';
import { unreadIn } from './unread.ts';

/** More than anybody pages through. */
const MAX_LISTED = 1000;
const MAX_HITS = 40;

export async function list(call: Call): Promise<CommandReply> {
  const { services, reader } = call;
  const unread = await extractUnread(call);
  const isAboutAsker = optionOf(call, 'about')?.toLowerCase() === 'me';
  const kind = MEMORY_KINDS.find((known) => known === optionOf(call, 'kind'));
  const query = {
    reader,
    states: MEMORY_STATES,
    limit: MAX_LISTED,
    offset: 0,
    ...(kind === undefined ? {} : { kinds: [kind] }),
    // However many memories there are, people see all that are about them.
    ...(isAboutAsker ? { subjectId: call.invocation.author.id } : {}),
  };
  const all = (await services.memories.list(query)).filter(isAbout(call));
  const withheld = (await withheldFor(call)).filter((memory) => kind === undefined || memory.kind === kind);
  const found = all.length === 0 ? nothing(kind) : countLine(all.length);
  const shown = isAboutAsker ? withheld : [];
  const text = sentences(found, withheldLine(call, withheld.length - shown.length), unread);
  return listing(call, [...all, ...shown], text);
}

function sentences(...given: readonly string[]): string {
  return given.filter((sentence) => sentence !== '').join(' ');
}

function countLine(count: number): string {
  return count === 1 ? 'There is one memory here.' : `${count} memories here, the most important first.`;
}

/** How long a person waits until the newest messages have been read for memories. */
const READ_LIMIT_MS = 5000;

/**
 * Extracts the memories of new messages now instead of when the conversation pauses. Only for moderators, because each
 * extraction costs a model call. Returns a sentence about the messages that are still unread; empty if there are none.
 */
export async function extractUnread(call: Call): Promise<string> {
  const { services, conversation, invocation } = call;
  if (conversation === null || unreadIn(conversation) === 0) return '';
  if (!mayModerate(invocation)) return stillUnread(unreadIn(conversation));
  const reading = services.extract(conversation).catch(() => null);
  await withinTime(reading, { clock: services.clock, ms: READ_LIMIT_MS });
  const now = await services.store.conversations.get(conversation.id);
  return now === null ? '' : stillUnread(unreadIn(now));
}

function stillUnread(count: number): string {
  if (count === 0) return '';
  return `The newest ${count === 1 ? 'message is' : `${count} messages are`} read for memories when the conversation pauses.`;
}

export async function search(call: Call): Promise<CommandReply> {
  const { services, reader } = call;
  const text = requiredOption(call, 'query');
  const unread = await extractUnread(call);
  const found = await services.memories.search({ reader, text, limit: MAX_HITS });
  const shown = `"${excerpt(text, 80)}"`;
  const count =
    found.length === 0
      ? `No memory matches ${shown}.`
      : `${counted(found.length, 'memory matches', 'memories match')} ${shown}.`;
  return listing(call, found, sentences(count, unread));
}

function listing(call: Call, memories: readonly (Memory | WithheldMemory)[], text: string): CommandReply {
  const { items, page } = takePage(memories, pageOf(call), { command: sameCommand(call) });
  const first = items.find(isReadable);
  const rows = items.map((item) => (isReadable(item) ? rowOf(item) : withheldRow(item, call)));
  const why = first && { label: 'Where a memory comes from', command: commandTo('memory why', { id: first.id }) };
  return makeReply('Memory', {
    text,
    rows: rows.length === 0 ? null : { columns: ['ID', 'KIND', 'WHAT', 'ABOUT', 'STATE'], cells: rows },
    page,
    actions: why ? [{ ...why, style: 'plain' }] : [],
  });
}

function isReadable(memory: Memory | WithheldMemory): memory is Memory {
  return 'text' in memory;
}

function rowOf(memory: Memory): readonly string[] {
  const state = `${memory.state}${memory.pinned ? ', pinned' : ''}`;
  return [memory.id, memory.kind, excerpt(memory.text, 120), memory.subjectName ?? '', state];
}

function nothing(kind: MemoryKind | undefined): string {
  return kind === undefined ? 'There are no memories here yet.' : `There are no memories of kind ${kind} here.`;
}

function isAbout(call: Call): (memory: Memory) => boolean {
  const about = optionOf(call, 'about');
  if (about === null || about.toLowerCase() === 'me') return () => true;
  return ({ subjectName }) => subjectName !== null && isSameName(subjectName, about);
}

export async function show(call: Call): Promise<CommandReply> {
  const memory = await findMemory(call);
  const { validFrom, validUntil, extractedBy, supersededBy } = memory;
  return makeReply(`Memory ${memory.id}`, {
    text: memory.text,
    fields: [
      { name: 'Kind', value: memory.kind },
      { name: 'About', value: memory.subjectName ?? 'nobody in particular' },
      { name: 'State', value: `${memory.state}${memory.pinned ? ', pinned' : ''}` },
      { name: 'Trust', value: memory.trust },
      { name: 'Importance', value: `${memory.importance.toFixed(2)}, confidence ${memory.confidence.toFixed(2)}` },
      { name: 'Readable', value: memory.scope === 'global' ? 'everywhere' : `in ${memory.place} (${memory.audience})` },
      {
        name: 'Valid',
        value: `from ${formatTime(validFrom)}${validUntil === null ? '' : ` until ${formatTime(validUntil)}`}`,
      },
      { name: 'Recalled', value: recalls(memory) },
      {
        name: 'Saved by',
        value: extractedBy === null ? 'a person' : `${extractedBy.model}, prompt ${extractedBy.promptHash}`,
      },
      ...(supersededBy === null ? [] : [{ name: 'Replaced by', value: supersededBy }]),
    ],
    actions: [
      { label: 'Where it comes from', command: commandTo('memory why', { id: memory.id }), style: 'plain' },
      { label: 'Correct it', command: commandTo('memory edit', { id: memory.id }), style: 'plain' },
      { label: 'Forget it', command: commandTo('memory forget', { id: memory.id }), style: 'danger' },
    ],
  });
}

function recalls({ recallCount, lastRecalledAt }: Memory): string {
  if (recallCount === 0 || lastRecalledAt === null) return 'never';
  return `${counted(recallCount, 'time', 'times')}, last ${formatTime(lastRecalledAt)}`;
}

export async function why(call: Call): Promise<CommandReply> {
  const { id } = await findMemory(call);
  const { memory, sources, events, replacedBy } = await call.services.memories.why(id, call.reader);
  const rows = await Promise.all(sources.map((source) => sourceRow(call, source)));
  const isLinked = rows.some((row) => row.at(-1) !== '');
  return makeReply(`Memory ${memory.id}`, {
    text: memory.text,
    fields: [
      ...(replacedBy === null ? [] : [{ name: 'Replaced by', value: `${replacedBy.id}: ${replacedBy.text}` }]),
      ...events.slice(-HISTORY).map(historyOf),
    ],
    rows:
      rows.length === 0
        ? null
        : {
            columns: ['#', 'WHEN', 'WHO', 'WHAT', ...(isLinked ? ['LINK'] : [])],
            cells: isLinked ? rows : rows.map((row) => row.slice(0, -1)),
          },
  });
}

const HISTORY = 10;

function historyOf({ kind, at, actor }: MemoryEvent): ReplyField {
  return { name: formatTime(at), value: `${kind} by ${actor}` };
}

/** The last cell is the address of the message, or empty if it has none. */
async function sourceRow({ services, invocation }: Call, source: OriginMessage): Promise<readonly string[]> {
  const { conversation, seq, at, author, text, externalId, link } = source;
  const address = externalId === null || text === null ? null : await services.linkTo({ conversation, externalId });
  return [
    conversation === invocation.conversation ? `#${seq}` : link,
    at === null ? '' : formatTime(at),
    shownName(author),
    text === null ? '(deleted)' : excerpt(text, 240),
    address ?? '',
  ];
}

const REACH: Readonly<Record<ExportReach, string>> = {
  place: 'from this place',
  open: 'from this place and from public ones; ask in a direct message for those from everywhere',
  everywhere: 'from everywhere',
};

/** Members export data about themselves; moderators can name another person. */
export async function exportPerson(call: Call): Promise<CommandReply> {
  const personId = optionOf(call, 'person') ?? call.invocation.author.id;
  const copy = await call.services.memories.exportFor(personId, requesterOf(call));
  const day = copy.at.slice(0, 10);
  return makeReply('Export', {
    text: sentences(
      `${counted(copy.memories.length, 'memory', 'memories')} and ${counted(copy.messages.length, 'message', 'messages')} of ${personId} ${REACH[copy.reach]}.`,
      withheldInCopy(copy.withheld.length),
    ),
    file: { name: `strata-export-${day}.json`, text: `${JSON.stringify(copy, null, 2)}\n` },
  });
}

function withheldInCopy(count: number): string {
  if (count === 0) return '';
  const which = count === 1 ? 'one more memory' : `${count} more memories`;
  return `The copy lists ${which} stored elsewhere, without the text, which you can't read from here.`;
}

/** The author of a change, with their permissions in the place. */
export function requesterOf({ reader, invocation }: Call): Requester {
  const { author, rights } = invocation;
  return { reader, author, rights };
}

/** Finds a readable memory by its id or an unambiguous prefix. Throws `NOT_FOUND`, `ACCESS_DENIED` or `USAGE`. */
export async function findMemory(call: Call, id = requiredOption(call, 'id')): Promise<Memory> {
  const wanted = id.toLowerCase().slice(0, ID_LENGTH);
  const { services, reader } = call;
  if (wanted.length < ID_LENGTH) {
    const all = await services.store.memories.list({ reader, states: MEMORY_STATES, limit: MAX_LISTED, offset: 0 });
    const [only, ...more] = all.filter((memory) => memory.id.startsWith(wanted));
    if (only !== undefined && more.length > 0) throw ambiguous(wanted, [only, ...more]);
    if (only !== undefined) return only;
  }
  return await services.memories.find(wanted, reader);
}

function ambiguous(beginning: string, memories: readonly Memory[]): StrataError {
  const shown = memories.slice(0, MAX_SHOWN_IDS).map(({ id, text }) => `${id} (${excerpt(text, 60)})`);
  const more = memories.length > shown.length ? ', …' : '';
  const problem = `${memories.length} memories have ids that begin with ${beginning}: ${shown.join(', ')}${more}. Use more characters of the id.`;
  return new StrataError('USAGE', { problem });
}

const ID_LENGTH = 26;
const MAX_SHOWN_IDS = 4;

export async function suggestIds({ services, reader }: Call) {
  const all = await services.store.memories.list({ reader, states: MEMORY_STATES, limit: 200, offset: 0 });
  return all.map((memory) => ({ label: excerpt(`${memory.kind}: ${memory.text}`, 90), value: memory.id }));
}
