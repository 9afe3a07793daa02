import { StringDecoder } from 'node:string_decoder';

const BEGIN = '\u001b[200~';
const END = '\u001b[201~';
/** Asks the terminal to mark pasted text, and to stop doing so. */
export const PASTE_ON = '\u001b[?2004h';
export const PASTE_OFF = '\u001b[?2004l';

export type Typed =
  | { readonly kind: 'keys'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  /** It was longer than `maxLength` characters. */
  | { readonly kind: 'too-long' };

export interface PasteReader {
  read(chunk: Buffer | string): readonly Typed[];
  /** Keys that are held back because they may start a mark, such as the escape key. */
  flush(): readonly Typed[];
}

/** Distinguishes keys from pasted text, however the bytes are split. */
export function createPasteReader({ maxLength }: { readonly maxLength: number }): PasteReader {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  let pasted: { texts: string[]; length: number } | null = null;

  /** The text before the next mark. The start of a mark at the end waits for the rest. */
  const before = (mark: string): { readonly text: string; readonly isEnd: boolean } => {
    const at = pending.indexOf(mark);
    const end = at === -1 ? pending.length - headLength(pending, mark) : at;
    const text = pending.slice(0, end);
    pending = pending.slice(at === -1 ? end : at + mark.length);
    return { text, isEnd: at !== -1 };
  };
  const keep = (text: string): void => {
    if (pasted === null) return;
    pasted.length += text.length;
    if (pasted.length <= maxLength) pasted.texts.push(text);
    else pasted.texts = [];
  };
  const endPaste = (): Typed => {
    const { texts, length } = pasted ?? { texts: [], length: 0 };
    pasted = null;
    return length > maxLength ? { kind: 'too-long' } : { kind: 'paste', text: texts.join('') };
  };

  return {
    read(chunk) {
      pending += typeof chunk === 'string' ? chunk : decoder.write(chunk);
      const typed: Typed[] = [];
      for (;;) {
        const isPaste = pasted !== null;
        const { text, isEnd } = before(isPaste ? END : BEGIN);
        if (isPaste) keep(text);
        else if (text !== '') typed.push({ kind: 'keys', text });
        if (!isEnd) return typed;
        if (isPaste) typed.push(endPaste());
        else pasted = { texts: [], length: 0 };
      }
    },
    flush() {
      if (pasted !== null || pending === '') return [];
      const text = pending;
      pending = '';
      return [{ kind: 'keys', text }];
    },
  };
}

/** How much of the mark the text ends with. */
function headLength(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
