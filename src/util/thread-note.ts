import { quoted } from './foreign-text.ts';

const HEADING = 'the thread is about this message of ';

/** The first message of a thread, as it is put before the first stored one. */
export function threadNote(name: string, text: string): string {
  return quoted(`${HEADING}${name}`, text);
}

export interface ThreadNote {
  /** As it is in the text: each line is marked. */
  readonly marked: string;
  readonly words: string;
}

/** The first message of a thread in a text that begins with it, or has it below other notes; null if there is none. */
export function threadNoteIn(text: string): ThreadNote | null {
  const lines = text.split('\n');
  const heading = lines.findIndex((line) => line.startsWith(`[${HEADING}`));
  if (heading < 0) return null;
  const rest = lines.slice(heading + 1);
  const end = rest.findIndex((line) => !line.startsWith('> '));
  const marked = rest.slice(0, end < 0 ? rest.length : end);
  if (marked.length === 0) return null;
  return { marked: marked.join('\n'), words: marked.map((line) => line.slice(2)).join('\n') };
}
