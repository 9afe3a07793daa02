/** One entry of the transcript that a summariser is given, read back from its line. */
export interface Line {
  readonly seq: number;
  /** `2026-11-20 10:00`, or null where the line tells no time. */
  readonly saidOn: string | null;
  readonly author: string;
  readonly text: string;
  /** Written by a person, not by the bot, another bot or a tool. */
  readonly byPerson: boolean;
}

export interface Transcript {
  readonly lines: readonly Line[];
  /** What earlier summaries and known memories already say. */
  readonly known: string;
}

const head = /^\[#(\d+)((?: \| [^|\]]*)*)\]\s?/;
const time = /^\d{4}-\d{2}-\d{2}/;
const machine = /<\w+>$/;

/** Reads the entries of a transcript, whatever stands around them. Lines that begin with no head continue the one before. */
export function parseTranscript(request: string): Transcript {
  const text = withoutTask(request);
  const lines: Line[] = [];
  const known: string[] = [];
  for (const raw of text.split('\n')) {
    const found = head.exec(raw);
    const last = lines.at(-1);
    if (found !== null) lines.push(toLine(found, raw.slice(found[0].length)));
    else if (/^\s{2,}/.test(raw) && last !== undefined) lines[lines.length - 1] = continued(last, raw.trim());
    else if (!/^<\/?[\w-]+>$/.test(raw.trim())) known.push(raw.trim());
  }
  return { lines, known: known.join('\n') };
}

/** Without what follows the last closing tag: the task, said again. */
export function withoutTask(text: string): string {
  const lines = text.split('\n');
  const end = lines.findLastIndex((line) => /^<\/(?:transcript|summaries)-\w+>$/.test(line.trim()));
  return end < 0 ? text : lines.slice(0, end + 1).join('\n');
}

function continued(line: Line, more: string): Line {
  return { ...line, text: `${line.text}\n${more}` };
}

function toLine(found: RegExpExecArray, text: string): Line {
  const fields = (found[2] ?? '').split(' | ').slice(1);
  const saidOn = fields.find((field) => time.test(field)) ?? null;
  const author = fields.find((field) => !time.test(field) && !/^(?:reply to #\d+|edited)$/.test(field)) ?? 'somebody';
  const byPerson = !machine.test(author);
  return { seq: Number(found[1]), saidOn, author: author.trim(), text, byPerson };
}
