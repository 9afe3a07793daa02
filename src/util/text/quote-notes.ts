import { quoted } from './foreign-text.ts';

const HEADING = 'the thread is about this message of ';
const REPLY_START = '[in reply to ';

/** The first message of a thread, as it is put before the first stored one. */
export function threadNote(name: string, text: string): string {
  return quoted(`${HEADING}${name}`, text);
}

/** What a message replies to, on one line. */
export function replyNote(name: string, text: string): string {
  return `${REPLY_START}${name}: ${text}]`;
}

export interface QuoteNote {
  /** The quotation as it is in the text. */
  readonly marked: string;
  readonly words: string;
}

/** The first message of a thread in a text that begins with it, or has it below other notes; null if there is none. */
export function threadNoteIn(text: string): QuoteNote | null {
  const lines = text.split('\n');
  const heading = lines.findIndex((line) => line.startsWith(`[${HEADING}`));
  if (heading < 0) return null;
  const rest = lines.slice(heading + 1);
  const end = rest.findIndex((line) => !line.startsWith('> '));
  const marked = rest.slice(0, end < 0 ? rest.length : end);
  if (marked.length === 0) return null;
  return { marked: marked.join('\n'), words: marked.map((line) => line.slice(2)).join('\n') };
}

/** What the message replies to, if its text quotes it. */
export function replyNoteIn(text: string): QuoteNote | null {
  const line = text.split('\n').find((one) => one.startsWith(REPLY_START) && one.endsWith(']'));
  const words = line?.slice(REPLY_START.length, -1) ?? '';
  return words === '' ? null : { marked: words, words };
}
