import { estimateText } from '../../context/measure/tokens.ts';
import { shorten } from '../../context/measure/truncate.ts';
import { labelOf, plainName, timeLabel } from '../../context/view/label.ts';
import { isLookup } from '../../domain/lookups.ts';
import type { Entry, Part, ToolResultPart } from '../../domain/message.ts';
import type { Random } from '../../ports/clock.ts';
import { underLabel, visibleText } from '../../util/text/foreign-text.ts';
import { UTC } from '../../util/time/local-time.ts';

const INPUT_TOKENS = 60;
const RESULT_TOKENS = 1200;

/** An entry as shown in a transcript: one line, with continuation lines that can't be mistaken for an entry. */
export interface TranscriptLine {
  readonly seq: number;
  readonly text: string;
  /** Estimated. */
  readonly tokens: number;
}

export interface LineOptions {
  /** Seq of a platform message, if the transcript contains it: for "reply to". */
  readonly seqOf: (externalId: string) => number | null;
  /** Maximum tokens of one entry's text; longer texts are cut in the middle, with a marker. */
  readonly longest: number;
  /** Time zone of the times in labels. Default: UTC. */
  readonly timeZone?: string;
}

/** The `longest` of the lines that are shown in full. */
export const WHOLE = Number.MAX_SAFE_INTEGER;

/** Entries never change, so a line that depends only on its time zone is cached for the lifetime of its entry. */
const wholeLines = new Map<string, WeakMap<Entry, TranscriptLine>>();

/** `[#12 | 2026-11-20 Fri 10:00 | Ada] text`. Null for entries that no model sees: notices, and deleted text. */
export function transcriptLine(entry: Entry, options: LineOptions): TranscriptLine | null {
  if (options.longest !== WHOLE || entry.replyTo !== null) return makeLine(entry, options);
  const timeZone = options.timeZone ?? UTC;
  const known = wholeLines.get(timeZone) ?? new WeakMap<Entry, TranscriptLine>();
  wholeLines.set(timeZone, known);
  const line = known.get(entry) ?? makeLine(entry, options);
  if (line !== null) known.set(entry, line);
  return line;
}

/** Renders the line of an entry in advance, and returns whether there is one. */
export function hasLine(entry: Entry, timeZone: string): boolean {
  return transcriptLine(entry, { seqOf: () => null, longest: WHOLE, timeZone }) !== null;
}

function makeLine(entry: Entry, options: LineOptions): TranscriptLine | null {
  const text = textFor(entry);
  if (text === '') return null;
  const line = underLabel(headFor(entry, options), shorten(visibleText(text), options.longest));
  return { seq: entry.seq, text: line, tokens: estimateText(line) };
}

/** Whether the entry contains anything a summary or a memory could use. */
export function saysSomething(entry: Entry): boolean {
  return textFor(entry) !== '';
}

/** A random word that occurs nowhere in the texts, so that none of them can close the transcript. */
export function nonceFor(texts: readonly string[], random: Random): string {
  for (;;) {
    const nonce = random.id().slice(-12);
    if (!texts.some((text) => text.includes(nonce))) return nonce;
  }
}

function textFor(entry: Entry): string {
  if (entry.role === 'notice' || entry.redactedAt !== null) return '';
  return entry.parts.flatMap(partText).join('\n').trim();
}

/** Names can't contain angle brackets, so nobody can pass for the bot or a tool. */
function headFor(entry: Entry, { seqOf, timeZone }: LineOptions): string {
  if (entry.role === 'user') return labelOf(entry, entry.replyTo === null ? null : seqOf(entry.replyTo), timeZone);
  return `[#${entry.seq} | ${timeLabel(entry.at, timeZone)} | ${entry.role === 'assistant' ? '<assistant>' : '<tools>'}] `;
}

function partText(part: Part): readonly string[] {
  switch (part.kind) {
    case 'text':
      return [part.text];
    case 'attachment':
      return [`(attachment: ${plainName(part.name)}, ${part.mediaType}, ${part.sizeBytes} bytes)`];
    case 'tool-call':
      return [`(called ${part.tool} ${shorten(JSON.stringify(part.input), INPUT_TOKENS)})`];
    case 'tool-result':
      return [resultText(part)];
    default:
      return part satisfies never;
  }
}

function resultText({ tool, text, isError }: ToolResultPart): string {
  // A summariser would save it a second time.
  if (isLookup(tool)) return `(${tool} looked up what was known already)`;
  return `(${tool} ${isError ? 'failed' : 'gave'}: ${shorten(text, RESULT_TOKENS)})`;
}
