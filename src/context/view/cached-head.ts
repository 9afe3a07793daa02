import type { Entry } from '../../domain/message.ts';
import type { ModelMessage } from '../../ports/model.ts';
import { hasToolTraffic } from './entry-message.ts';
import { viewKey } from './order.ts';

/**
 * The start of the rendered tail, cached between turns. Later messages come after it and change none of it. It ends
 * where the bot has answered and a person speaks next, and contains no tool traffic, so it looks the same with and
 * without a reduction.
 */
export interface Head {
  /** Time zone of the times in its labels. */
  readonly timeZone: string;
  /** Number of entries that it covers. */
  readonly entries: number;
  /** The view key of its last message. */
  readonly lastKey: number;
  readonly messages: readonly ModelMessage[];
  /** Tokens of its messages, labels included. */
  readonly tokens: number;
  /** Stored tokens of its text-only entries. */
  readonly spokenTokens: number;
}

const NOTHING: Head = {
  timeZone: '',
  entries: 0,
  lastKey: Number.NEGATIVE_INFINITY,
  messages: [],
  tokens: 0,
  spokenTokens: 0,
};

/** Keyed by the tail itself, so a head is garbage collected with its view. */
const heads = new WeakMap<readonly Entry[], Head>();

/** Appends new entries to the tail and keeps its cached head. */
export function extendTail(tail: readonly Entry[], added: readonly Entry[]): readonly Entry[] {
  // Spreading would grow the list step by step, and every turn copies it.
  const longer = tail.concat(added);
  const head = heads.get(tail);
  if (head !== undefined) heads.set(longer, head);
  return longer;
}

/** Tokens of plain text, which no reduction makes smaller. */
export function spokenTokens(tail: readonly Entry[]): number {
  const head = heads.get(tail) ?? NOTHING;
  return head.spokenTokens + spokenFrom(tail, head.entries, tail.length);
}

function spokenFrom(tail: readonly Entry[], from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) {
    const entry = tail[index];
    if (entry !== undefined && entry.role !== 'notice' && entry.parts.every(isText)) sum += entry.tokens;
  }
  return sum;
}

function isText({ kind }: Entry['parts'][number]): boolean {
  return kind === 'text';
}

interface Rendering {
  readonly timeZone: string;
  readonly render: (entries: readonly Entry[]) => Pick<Head, 'messages' | 'tokens'>;
}

/** The longest head for a turn that reads up to `readUpto`. `render` creates the messages for new entries. */
export function headOf(tail: readonly Entry[], readUpto: number, { timeZone, render }: Rendering): Head {
  const known = heads.get(tail) ?? NOTHING;
  const isUsable = known.timeZone === timeZone && isBehind(tail, known, readUpto);
  const head = isUsable ? known : NOTHING;
  const end = endOfHead(tail, head.entries, readUpto);
  if (end === null) return head;
  const added = render(tail.slice(head.entries, end.entries));
  const longer = {
    ...end,
    timeZone,
    messages: head.messages.concat(added.messages),
    tokens: head.tokens + added.tokens,
    spokenTokens: head.spokenTokens + spokenFrom(tail, head.entries, end.entries),
  };
  heads.set(tail, longer);
  return longer;
}

/** Whether all other entries come after the head, starting with a message of a person that the turn reads. */
function isBehind(tail: readonly Entry[], head: Head, readUpto: number): boolean {
  if (head.entries === 0) return true;
  const next = tail[head.entries];
  if (next?.role !== 'user' || next.seq > readUpto) return false;
  for (let index = head.entries; index < tail.length; index += 1) {
    const entry = tail[index];
    // This late answer belongs to a message in the head, so it comes before the next message.
    if (entry !== undefined && entry.role !== 'notice' && viewKey(entry) < next.seq) return false;
  }
  return true;
}

/** The last position at or after `from` where a head may end; null if there is none. */
function endOfHead(tail: readonly Entry[], from: number, readUpto: number): Pick<Head, 'entries' | 'lastKey'> | null {
  const earliest = earliestKeys(tail, from);
  let end: Pick<Head, 'entries' | 'lastKey'> | null = null;
  let last: Entry | null = null;
  let lastKey = Number.NEGATIVE_INFINITY;
  for (let index = from; index < tail.length; index += 1) {
    const entry = tail[index];
    if (entry === undefined || hasToolTraffic(entry)) break;
    const isNext = entry.role === 'user' && entry.seq <= readUpto && (earliest[index - from] ?? 0) >= entry.seq;
    if (isNext && last?.role === 'assistant') end = { entries: index, lastKey };
    if (entry.role === 'notice' || viewKey(entry) < lastKey) continue;
    last = entry;
    lastKey = viewKey(entry);
  }
  return end;
}

/** For each index at or after `from`, the smallest view key of the entries from there on. */
function earliestKeys(tail: readonly Entry[], from: number): Float64Array {
  const keys = new Float64Array(tail.length - from);
  let earliest = Number.POSITIVE_INFINITY;
  for (let index = tail.length - 1; index >= from; index -= 1) {
    const entry = tail[index];
    if (entry !== undefined && entry.role !== 'notice') earliest = Math.min(earliest, viewKey(entry));
    keys[index - from] = earliest;
  }
  return keys;
}
