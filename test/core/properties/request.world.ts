import type { Entry, ModelMessage, ModelRequest } from '../../../src/adapter-kit.ts';
import { WORDS } from './story.world.ts';

/** The content of a model request, parsed from its text. */

const VOLATILE = /^\[(?:Recalled memories|The newest message replies to|Current time)/u;

/** The text of the messages, without what belongs to the newest message only. */
function bodyText({ messages }: ModelRequest): string {
  return messages.map((message) => textIn(message, (text) => !VOLATILE.test(text))).join('\n');
}

/** What belongs to the newest message only: memories, the message it replies to, the time. */
export function volatileText({ messages }: ModelRequest): string {
  return messages
    .map((message) => (message.role === 'user' ? textIn(message, (text) => VOLATILE.test(text)) : ''))
    .join('\n');
}

/** The word of the message that is answered. */
export function newestWord(request: ModelRequest): string {
  const newest = request.messages.findLast((message) => message.role === 'user');
  return (newest === undefined ? '' : textIn(newest, (text) => !VOLATILE.test(text))).match(/m\d{5}m/gu)?.at(-1) ?? '';
}

function textIn(message: ModelMessage, isWanted: (text: string) => boolean): string {
  switch (message.role) {
    case 'user':
      return message.content
        .flatMap((part) => (part.kind === 'text' && isWanted(part.text) ? [part.text] : []))
        .join('\n');
    case 'assistant':
      return message.text;
    case 'tool':
      return message.results.map(({ text }) => text).join('\n');
    default:
      return message satisfies never;
  }
}

/** I7: calls are followed by their results, all of them, under ids that are used once. */
export function pairingFault(messages: readonly ModelMessage[]): string | null {
  const ids = new Set<string>();
  if (messages[0]?.role !== 'user') return 'the first message is not a person’s';
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool' && messages[index - 1]?.role !== 'assistant') return 'results stand without calls';
    if (message.role !== 'assistant' || message.calls.length === 0) continue;
    const next = messages[index + 1];
    const answered = next?.role === 'tool' ? next.results.map(({ callId }) => callId) : [];
    const called = message.calls.map(({ callId }) => callId);
    if (called.join() !== answered.join()) return `calls ${called.join()} have the results ${answered.join()}`;
    if (called.some((id) => ids.has(id))) return `a call id is used twice: ${called.join()}`;
    for (const id of called) ids.add(id);
  }
  return null;
}

export interface Expected {
  /** The transcript, all of it. */
  readonly entries: readonly Entry[];
  /** The first message after the last reset. */
  readonly contextFrom: number;
  /** The last message that the turn has read. */
  readonly readUpto: number;
  /** The words of the tool results of the running turn. */
  readonly results: readonly string[];
}

/** The part of the transcript that is missing from the request; null if nothing is. */
export function viewFault(request: ModelRequest, { entries, contextFrom, readUpto, results }: Expected): string | null {
  const end = stackEnd(request, contextFrom);
  if (typeof end === 'string') return end;
  const inView = entries
    .filter((entry) => entry.seq > end && entry.role !== 'notice' && placeOf(entry) <= readUpto)
    .sort((a, b) => placeOf(a) - placeOf(b) || a.seq - b.seq);
  const body = bodyText(request);
  const left = Number(/\[System: (\d+) earlier messages are left out/u.exec(body)?.[1] ?? 0);
  const wanted = inView.slice(left).flatMap((entry) => (entry.redactedAt === null ? wordsOf(entry.parts) : []));
  const found = body.match(WORDS) ?? [];
  const expected = [...wanted, ...results];
  if (found.join() !== expected.join()) {
    return `the request holds ${found.join(' ')} where the transcript after #${end} up to #${readUpto} says ${expected.join(' ')}`;
  }
  if (!body.includes(`[#${readUpto} |`)) return `message #${readUpto}, which is answered, is missing`;
  return null;
}

/** The place of an entry in the view: a person's message at its seq, the bot's words after what their turn had read. */
function placeOf(entry: Entry): number {
  return entry.role === 'user' ? entry.seq : (entry.turn ?? entry.seq) + 0.5;
}

function wordsOf(parts: Entry['parts']): readonly string[] {
  return parts.flatMap((part) => {
    const text = part.kind === 'text' || part.kind === 'tool-result' ? part.text : '';
    return text.match(WORDS)?.slice(0, 1) ?? [];
  });
}

/** Where the stack of a request ends; a sentence when it is not contiguous. */
function stackEnd({ system }: ModelRequest, contextFrom: number): number | string {
  let end = contextFrom - 1;
  for (const { text } of system) {
    const summary = /^\[(?:Summary \S+ of messages|System: the summaries of messages) #(\d+) to #(\d+)/u.exec(text);
    const gap = /^\[System: (\d+) older messages were truncated due to context limits\]$/u.exec(text);
    if (gap !== null) end += Number(gap[1]);
    if (summary === null) continue;
    if (Number(summary[1]) !== end + 1) return `a layer starts at #${summary[1]} where #${end + 1} is next`;
    end = Number(summary[2]);
  }
  return end;
}
