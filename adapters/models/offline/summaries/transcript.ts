import { type Label, readLabel } from '../text/label.ts';

/** One entry of a summariser's transcript, parsed from its line. */
export interface Line {
  readonly seq: number;
  /** `2026-11-20 10:00`, or null if the line has no time. */
  readonly saidOn: string | null;
  readonly author: string;
  readonly text: string;
  /** Written by a person, not by the bot, another bot or a tool. */
  readonly byPerson: boolean;
}

export interface Transcript {
  readonly lines: readonly Line[];
  /** Earlier summaries and known memories. */
  readonly known: string;
}

const MACHINE = /<\w+>$/;

/** Parses the entries of a transcript, whatever surrounds them. Lines without a head continue the previous one. */
export function parseTranscript(request: string): Transcript {
  const text = withoutTask(request);
  const lines: Line[] = [];
  const known: string[] = [];
  for (const raw of text.split('\n')) {
    const label = readLabel(raw);
    const last = lines.at(-1);
    if (label !== null) lines.push(toLine(label));
    else if (/^\s{2,}/.test(raw) && last !== undefined) lines[lines.length - 1] = continued(last, raw.trim());
    else if (!/^<\/?[\w-]+>$/.test(raw.trim())) known.push(raw.trim());
  }
  return { lines, known: known.join('\n') };
}

/** Without the repeated task after the last closing tag. */
export function withoutTask(text: string): string {
  const lines = text.split('\n');
  const end = lines.findLastIndex((line) => /^<\/(?:transcript|summaries)-\w+>$/.test(line.trim()));
  return end < 0 ? text : lines.slice(0, end + 1).join('\n');
}

function continued(line: Line, more: string): Line {
  return { ...line, text: `${line.text}\n${more}` };
}

function toLine({ seq, author, when, text }: Label): Line {
  const writer = author ?? 'somebody';
  return { seq, saidOn: when, author: writer.trim(), text, byPerson: !MACHINE.test(writer) };
}
