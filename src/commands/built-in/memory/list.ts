import { isSameName } from '../../../memory/people/people.ts';
import { isFaded } from '../../../memory/statements/lifecycle.ts';
import {
  MEMORY_KINDS,
  MEMORY_STATES,
  type Memory,
  type MemoryKind,
  type MemoryList,
} from '../../../ports/memory-store.ts';
import type { WithheldMemory } from '../../../ports/provenance-store.ts';
import type { CommandReply, ReplyCommand } from '../../../ports/reply.ts';
import { pagesAfter } from '../../../util/async/pages.ts';
import { counted, excerpt, formatNumber } from '../../../util/text/text.ts';
import {
  type Call,
  commandTo,
  mentionedIn,
  optionOf,
  pageOf,
  requiredOption,
  sameCommand,
  typed,
} from '../../command.ts';
import { makeReply, sentences, takePage } from '../../reply.ts';
import { extractUnread } from '../unread.ts';
import { MAX_LISTED } from './find.ts';
import { withheldFor, withheldLine, withheldRow } from './withheld.ts';

const MAX_HITS = 40;

export async function list(call: Call): Promise<CommandReply> {
  const { reader } = call;
  const unread = await extractUnread(call);
  const subjectId = subjectOf(call);
  const isAboutAsker = subjectId === call.invocation.author.id;
  const kind = MEMORY_KINDS.find((known) => known === optionOf(call, 'kind'));
  const { all, isCut } = await listed(call, {
    reader,
    states: MEMORY_STATES,
    ...(kind === undefined ? {} : { kinds: [kind] }),
    ...(subjectId === null ? {} : { subjectId }),
  });
  const withheld = (await withheldFor(call)).filter((memory) => kind === undefined || memory.kind === kind);
  const more = isCut ? `There are more: ${typed(call, 'memory search')} finds them.` : '';
  const found = all.length === 0 ? nothing(call, kind) : sentences(countLine(all.length), more);
  const shown = isAboutAsker ? withheld : [];
  const text = sentences(found, withheldLine(call, withheld.length - shown.length), unread);
  return listing(call, [...all, ...shown], text);
}

/** Those of the person asked about, however many others there are. */
async function listed(
  call: Call,
  query: Omit<MemoryList, 'limit' | 'offset' | 'after'>,
): Promise<{ readonly all: readonly Memory[]; readonly isCut: boolean }> {
  const isWanted = isAbout(call);
  const { clock, store } = call.services;
  const now = clock.now();
  const all: Memory[] = [];
  // However many somebody has pinned in front of them.
  const pages = pagesAfter<Memory>(MAX_LISTED, (page) => store.memories.list({ ...query, offset: 0, ...page }));
  for await (const page of pages) {
    all.push(...page.filter((memory) => !isFaded(memory, now) && isWanted(memory)));
    if (all.length > MAX_LISTED) break;
  }
  return { all: all.slice(0, MAX_LISTED), isCut: all.length > MAX_LISTED };
}

function countLine(count: number): string {
  return count === 1 ? 'There is one memory here.' : `${formatNumber(count)} memories here, the most important first.`;
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
  const { items, page } = takePage(memories, pageOf(call), { command: listedBy(call) });
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

/** Buttons know no mentions. */
function listedBy(call: Call): ReplyCommand {
  const { path, options } = sameCommand(call);
  const person = mentionedIn(call, 'about');
  return { path, options: person === null ? options : { ...options, about: person.id } };
}

function isReadable(memory: Memory | WithheldMemory): memory is Memory {
  return 'text' in memory;
}

function rowOf(memory: Memory): readonly string[] {
  const state = `${memory.state}${memory.pinned ? ', pinned' : ''}`;
  return [memory.id, memory.kind, excerpt(memory.text, 120), memory.subjectName ?? '', state];
}

function nothing(call: Call, kind: MemoryKind | undefined): string {
  const about = optionOf(call, 'about');
  if (kind === undefined && about === null) return 'There are no memories here yet.';
  const whom = about?.toLowerCase() === 'me' ? 'you' : excerpt(about ?? '', 80);
  return `There are no memories${kind === undefined ? '' : ` of kind ${kind}`}${about === null ? '' : ` about ${whom}`} here.`;
}

/** Null if nobody is asked about, or somebody by a name. */
function subjectOf(call: Call): string | null {
  if (optionOf(call, 'about')?.toLowerCase() === 'me') return call.invocation.author.id;
  return mentionedIn(call, 'about')?.id ?? null;
}

function isAbout(call: Call): (memory: Memory) => boolean {
  const about = optionOf(call, 'about');
  if (about === null || subjectOf(call) !== null) return () => true;
  return ({ subjectId, subjectName }) =>
    subjectId === about || (subjectName !== null && isSameName(subjectName, about));
}
