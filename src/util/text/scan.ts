/**
 * Scanners for text of people, models and files. Each checks every character a fixed number of times, where a regular
 * expression would try every start with every end.
 */

/** The text without the characters at its end that `isTrimmed` accepts. */
export function trimEndWhile(text: string, isTrimmed: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isTrimmed(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without whitespace and the given marks at its end. */
export function trimEndOf(text: string, marks: string): string {
  return trimEndWhile(text, (character) => marks.includes(character) || character.trim() === '');
}

/** Finds the next occurrence of a part. If `from` never decreases between calls, the text is read once per part. */
export type Finder = (part: string, from: number) => number;

/** `Infinity` if the part does not occur any more. */
export function createFinder(text: string): Finder {
  const known = new Map<string, { readonly from: number; readonly at: number }>();
  return (part, from) => {
    const last = known.get(part);
    if (last !== undefined && from >= last.from && from <= last.at) return last.at;
    const found = text.indexOf(part, from);
    const at = found === -1 ? Number.POSITIVE_INFINITY : found;
    known.set(part, { from, at });
    return at;
  };
}

/** A text between quotation marks. */
export interface Quotation {
  /** The index of its opening mark, and of the text after its closing mark. */
  readonly start: number;
  readonly end: number;
  /** The text between the marks: never empty, and on one line. */
  readonly text: string;
}

/** What closes each quotation mark, in the languages that people type. Without `'`, which is usually an apostrophe. */
export const CLOSING_MARKS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['“', '”'],
  ['”', '”'],
  ['„', '“”'],
  ['‘', '’'],
  ['‚', '‘’'],
  ['«', '»'],
  ['»', '«»'],
  ['‹', '›'],
  ['›', '‹›'],
  ['「', '」'],
  ['『', '』'],
]);

/** The commonest quotation marks, each with its only closing mark. */
export const QUOTATION_MARKS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['“', '”'],
  ['«', '»'],
]);

/** The quotations in a text, from left to right. `pairs` has the closing mark for each opening mark. */
export function quotationsIn(text: string, pairs: ReadonlyMap<string, string>): readonly Quotation[] {
  const next = createFinder(text);
  const found: Quotation[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const closing = pairs.get(text.charAt(at));
    if (closing === undefined) continue;
    const close = next(closing, at + 1);
    if (close === Number.POSITIVE_INFINITY || close === at + 1 || next('\n', at + 1) < close) continue;
    found.push({ start: at, end: close + 1, text: text.slice(at + 1, close) });
    at = close;
  }
  return found;
}

/** The text between the first match of `before` and the next match of `after`; undefined without both. */
export function between(text: string, before: RegExp, after: RegExp): string | undefined {
  const start = before.exec(text);
  if (start === null) return undefined;
  const rest = text.slice(start.index + start[0].length);
  const end = after.exec(rest)?.index ?? 0;
  return end === 0 ? undefined : rest.slice(0, end);
}
