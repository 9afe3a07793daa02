import type { Origin, OriginMessage } from '../../../memory/service.ts';
import type { Memory, MemoryEvent } from '../../../ports/memory-store.ts';
import type { CommandReply, ReplyField } from '../../../ports/reply.ts';
import { counted, excerpt, formatTime } from '../../../util/text/text.ts';
import { type Call, commandTo } from '../../command.ts';
import { shownName } from '../../format-entry.ts';
import { makeReply } from '../../reply.ts';
import { findMemory } from './find.ts';

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
      { name: 'Readable', value: readableIn(call, memory) },
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

function readableIn({ reader }: Call, { scope, place, audience }: Memory): string {
  if (scope === 'global') return 'everywhere';
  return `${place === reader.place ? 'here' : `in ${place}`} (${audience})`;
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
      ...events.slice(-HISTORY).map((event) => historyOf(event, nameIn(call, { memory, sources }))),
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

function historyOf(event: MemoryEvent, nameOf: (id: string) => string): ReplyField {
  const { kind, at, actor } = event;
  return { name: formatTime(at), value: `${isUnpinning(event) ? 'unpinned' : kind} by ${nameOf(actor)}` };
}

function isUnpinning({ kind, detail }: MemoryEvent): boolean {
  const isObject = typeof detail === 'object' && detail !== null && 'pinned' in detail;
  return kind === 'pinned' && isObject && detail.pinned === false;
}

/** Events have ids. The names are those that the memory itself shows. */
function nameIn(
  { invocation: { author } }: Call,
  { memory: { subjectId, subjectName }, sources }: Pick<Origin, 'memory' | 'sources'>,
): (id: string) => string {
  return (id) => {
    if (id === author.id) return 'you';
    // What a summary found, and what a tool of an agent saved.
    if (id === 'model' || id.startsWith('agent:')) return 'the bot';
    const named = sources.find((source) => source.author?.id === id)?.author ?? null;
    if (named !== null) return shownName(named);
    return id === subjectId && subjectName !== null ? subjectName : 'somebody else';
  };
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
