import type { Entry } from '../domain/message.ts';
import type { ModelMessage } from '../ports/model.ts';
import { hasToolTraffic } from './entry-message.ts';
import { viewKey } from './order.ts';

/**
 * The head of a tail as a model sees it, kept from turn to turn: what is added later stands behind it and changes none of
 * its messages. It ends where the bot has answered and a person speaks next, and holds no tool traffic, so that it is the
 * same with and without relief.
 */
export interface Head {
  /** Entries of the tail that it stands for. */
  readonly entries: number;
  /** Where its last message stands in the view. */
  readonly lastKey: number;
  readonly messages: readonly ModelMessage[];
  /** Of its messages, labels included. */
  readonly tokens: number;
  /** As stored, of the entries that are words alone. */
  readonly spokenTokens: number;
}

const NOTHING: Head = { entries: 0, lastKey: Number.NEGATIVE_INFINITY, messages: [], tokens: 0, spokenTokens: 0 };

/** By the tail itself: it leaves memory together with the copy of the view. */
const heads = new WeakMap<readonly Entry[], Head>();

/** The tail with what was just stored; what is known of its head stays known. */
export function extendTail(tail: readonly Entry[], added: readonly Entry[]): readonly Entry[] {
  const longer = [...tail, ...added];
  const head = heads.get(tail);
  if (head !== undefined) heads.set(longer, head);
  return longer;
}

/** What no relief can make smaller: words. */
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

type Render = (entries: readonly Entry[]) => Pick<Head, 'messages' | 'tokens'>;

/** The head for a turn that reads up to `readUpto`, taken as far as it goes. `render` makes messages of a part of it. */
export function headOf(tail: readonly Entry[], readUpto: number, render: Render): Head {
  const known = heads.get(tail) ?? NOTHING;
  const head = isBehind(tail, known, readUpto) ? known : NOTHING;
  const end = endOfHead(tail, head.entries, readUpto);
  if (end === null) return head;
  const added = render(tail.slice(head.entries, end.entries));
  const longer = {
    ...end,
    messages: [...head.messages, ...added.messages],
    tokens: head.tokens + added.tokens,
    spokenTokens: head.spokenTokens + spokenFrom(tail, head.entries, end.entries),
  };
  heads.set(tail, longer);
  return longer;
}

/** Whether all else stands behind the head, and a person's message that the turn reads comes first. */
function isBehind(tail: readonly Entry[], head: Head, readUpto: number): boolean {
  if (head.entries === 0) return true;
  const next = tail[head.entries];
  if (next?.role !== 'user' || next.seq > readUpto) return false;
  for (let index = head.entries; index < tail.length; index += 1) {
    const entry = tail[index];
    // An answer to what stands in the head came late: it belongs before the next message.
    if (entry !== undefined && entry.role !== 'notice' && viewKey(entry) < next.seq) return false;
  }
  return true;
}

/** The last place from `from` on where a head may end; null when there is none. */
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

/** Per index from `from` on, where the earliest of what comes then stands in the view. */
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
