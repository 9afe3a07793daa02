import type { ModelMessage, ModelRequest, ToolCall, ToolResult } from '../../../../src/adapter-kit.ts';
import { introducedName, notedName } from '../findings/findings.ts';
import { readLabel } from '../text/label.ts';
import { sentencesOf } from '../text/sentences.ts';

/** A text in the model's view, and its source. */
export interface Statement {
  readonly text: string;
  readonly source: 'memory' | 'summary' | 'instruction' | 'message' | 'own' | 'tool';
  /** The author; empty if the source does not tell. */
  readonly author: string;
  /** `2026-11-20 10:00`, or another time given by the source; empty if there is none. */
  readonly when: string;
  /** Position in the view: later ones win. */
  readonly order: number;
}

/** The content of a request, as far as this model understands it. */
export interface View {
  /** The author of the newest message, as labelled. */
  readonly asker: string;
  /** How they want to be called, if the view says so. */
  readonly name: string;
  readonly newest: string;
  readonly statements: readonly Statement[];
  /** Tool calls since the newest message, with their results. */
  readonly calls: readonly { readonly call: ToolCall; readonly result: ToolResult | null }[];
  readonly clock: string | null;
}

const MEMORY_LINE = /^- \[([^\]]+)\] ([^:[]{0,80})(?: \[[^\]]{0,80}\])?: (.+)$/;
const SUMMARY_HEAD = /^\[Summary (\S+) of messages #(\d+) to #(\d+)(?:[^\d\]][^\]]*)?\]/;
const CLOCK_LINE = /^\[Current time: ([^\]]+)\]/;

/** Parses a request as Strata renders it, and tolerates other renderings: unknown lines are plain text. */
export function readView(request: ModelRequest): View {
  const newestAt = request.messages.findLastIndex((message) => message.role === 'user');
  const spoken = request.messages.flatMap((message, index) => linesOf(message, index));
  const newestLines = spoken.filter(({ at }) => at === newestAt);
  const people = newestLines.filter(({ kind }) => kind === 'message');
  const newest = people.at(-1);
  const earlier = spoken.filter((line) => line !== newest);
  const statements = [...systemStatements(request), ...earlier.flatMap(toStatements)];
  const asker = newest?.author ?? '';
  return {
    asker,
    name: nameOf(asker, statements, newest?.text ?? ''),
    newest: newest?.text ?? '',
    statements: statements.map((statement, order) => ({ ...statement, order })),
    calls: callsAfter(request.messages, newestAt),
    clock: newestLines.find(({ kind }) => kind === 'clock')?.text ?? null,
  };
}

interface SpokenLine {
  readonly at: number;
  readonly kind: 'message' | 'own' | 'memory' | 'clock' | 'tool' | 'other';
  readonly author: string;
  readonly when: string;
  readonly text: string;
}

type Unplaced = Omit<Statement, 'order'>;

function linesOf(message: ModelMessage, at: number): readonly SpokenLine[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((part) => (part.kind === 'text' ? readUserText(part.text, at) : []));
    case 'assistant':
      return [{ at, kind: 'own', author: '', when: '', text: message.text }];
    case 'tool':
      return message.results.map(({ text }) => ({ at, kind: 'tool', author: '', when: '', text }));
    default:
      return message satisfies never;
  }
}

/** Messages of people begin with a label; a text without one is a single message by an unnamed person. */
function readUserText(text: string, at: number): readonly SpokenLine[] {
  const lines: SpokenLine[] = [];
  for (const raw of text.split('\n')) {
    const line = readLine(raw, at);
    const last = lines.at(-1);
    const continues = line.kind === 'other' && last !== undefined && (last.kind === 'message' || last.kind === 'other');
    if (continues) lines[lines.length - 1] = { ...last, text: `${last.text}\n${raw.replace(/^ {2}/, '')}` };
    else if (raw.trim() !== '') lines.push(line);
  }
  return lines.map((line) =>
    line.kind === 'other' && !line.text.startsWith('[') ? { ...line, kind: 'message' } : line,
  );
}

function readLine(raw: string, at: number): SpokenLine {
  const clock = CLOCK_LINE.exec(raw);
  if (clock !== null) return { at, kind: 'clock', author: '', when: '', text: clock[1] ?? '' };
  const memory = MEMORY_LINE.exec(raw);
  if (memory !== null) return { at, kind: 'memory', author: '', when: dateIn(memory[2] ?? ''), text: memory[3] ?? '' };
  const label = readLabel(raw);
  if (label === null) return { at, kind: 'other', author: '', when: '', text: raw };
  const { author, when, text } = label;
  // An earlier answer that is quoted beside the question.
  const kind = author === '<you>' ? 'own' : 'message';
  return { at, kind, author: author ?? '', when: withoutWeekday(when ?? ''), text };
}

/** The weekday of a label is English, and answers may not be. */
export function withoutWeekday(when: string): string {
  return when.replace(/ [A-Z][a-z]{2} /u, ' ');
}

function dateIn(text: string): string {
  return /\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? '';
}

function toStatements({ kind, author, when, text }: SpokenLine): readonly Unplaced[] {
  if (kind === 'clock' || kind === 'other') return [];
  // The records of an earlier search: what they quote is found again where it was said.
  if (kind === 'tool' && /^\s*[[{]/u.test(text)) return [];
  if (kind === 'memory') return [{ text, source: 'memory', author, when }];
  return sentencesOf(text).map((sentence) => ({ text: sentence, source: kind, author, when }));
}

/** Only summaries and standing instructions in the system text are about this conversation. */
function systemStatements({ system }: ModelRequest): readonly Unplaced[] {
  return system.flatMap(({ text }) => {
    const head = SUMMARY_HEAD.exec(text);
    if (head !== null) {
      const when = `#${head[2]} to #${head[3]}`;
      const body = text.slice(head[0].length).trim();
      return sentencesOf(body).map((sentence): Unplaced => ({ text: sentence, source: 'summary', author: '', when }));
    }
    if (!/^Standing instructions/i.test(text)) return [];
    return text.split('\n').flatMap(toInstruction);
  });
}

const GIVEN_BY = ' (given by ';

/** `- [#7] Answer in German. (given by Ada)` */
function toInstruction(line: string): readonly Unplaced[] {
  const said = /^- \[[^\]]+\] (.+)/.exec(line)?.[1];
  if (said === undefined) return [];
  const given = said.endsWith(')') ? said.lastIndexOf(GIVEN_BY) : -1;
  const author = given === -1 ? '' : said.slice(given + GIVEN_BY.length, -1);
  return [{ text: given === -1 ? said : said.slice(0, given), source: 'instruction', author, when: '' }];
}

/** The last name given by the asker, or by a note about them. */
function nameOf(asker: string, statements: readonly Unplaced[], newest: string): string {
  const own = statements.filter(({ source, author }) => source === 'message' && author === asker);
  const names = [newest, ...own.map(({ text }) => text).toReversed()].map(introducedName);
  const introduced = names.find((name) => name !== null);
  if (introduced !== undefined && introduced !== null) return introduced;
  return (
    notedName(
      asker,
      statements.map(({ text }) => text),
    ) ?? asker
  );
}

function callsAfter(messages: readonly ModelMessage[], newestAt: number): View['calls'] {
  const since = messages.slice(newestAt + 1);
  const results = since.flatMap((message) => (message.role === 'tool' ? message.results : []));
  return since
    .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
    .map((call) => ({ call, result: results.find(({ callId }) => callId === call.callId) ?? null }));
}
