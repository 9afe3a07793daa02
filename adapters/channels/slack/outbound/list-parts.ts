/** A code block inside an item of a list. Positions are UTF-16 indices. */
interface NestedCode {
  readonly bodyStart: number;
  /** Where the line begins that closes it; the end of the text if it is never closed. */
  readonly closeStart: number;
  /** The lines that reopen it in the next message and close it in this one. */
  readonly reopening: string;
  readonly closing: string;
}

const OPENING = /^((?:[ \t]|[-*+] |\d{1,9}[.)] )*)(`{3,12}|~{3,12})([^\n`~]*)$/;
const CLOSING = /^[ \t]*(`{3,}|~{3,})[ \t]*$/;
/** A longer line opens no block. */
const MAX_LINE = 200;
const MAX_LANGUAGE = 20;

/**
 * A list in parts, each of which begins a message. Code is closed and reopened with the same marker and language, and a
 * part that begins with an indented line is moved to the left: without its list, it would be shown as code.
 */
export function listParts(raw: string, { limit, nextCut }: Cutting): readonly string[] {
  const codes = nestedCodes(raw).filter((code) => addedBy(code) < limit / 2);
  const added = codes.reduce((most, code) => Math.max(most, addedBy(code)), 0);
  const parts: string[] = [];
  for (let from = 0; from < raw.length; ) {
    const reopening = codeAt(codes, from)?.reopening ?? '';
    const isLast = reopening.length + raw.length - from <= limit;
    const to = isLast ? raw.length : nextCut(raw, { from, limit: limit - added });
    const part = reopening + raw.slice(from, to) + (isLast ? '' : endOf(raw, { codes, at: to }));
    const isAtLine = reopening !== '' || (from > 0 && raw.charAt(from - 1) === '\n');
    parts.push(isAtLine ? outdented(part) : part);
    from = to;
  }
  return parts;
}

export interface Cutting {
  readonly limit: number;
  readonly nextCut: (text: string, cut: { readonly from: number; readonly limit: number }) => number;
}

function addedBy({ reopening, closing }: NestedCode): number {
  return reopening.length + closing.length + 1;
}

function endOf(raw: string, { codes, at }: { readonly codes: readonly NestedCode[]; readonly at: number }): string {
  const closing = codeAt(codes, at)?.closing ?? '';
  return closing === '' || raw.charAt(at - 1) === '\n' ? closing : `\n${closing}`;
}

/** The code blocks of a list, from left to right. */
function nestedCodes(list: string): readonly NestedCode[] {
  const codes: NestedCode[] = [];
  let open: (Omit<NestedCode, 'closeStart'> & { readonly marker: string }) | null = null;
  for (let start = 0; start < list.length; ) {
    const feed = list.indexOf('\n', start);
    const next = feed === -1 ? list.length : feed + 1;
    const line = next - start > MAX_LINE ? '' : list.slice(start, next).trimEnd();
    if (open === null) open = openedBy(line, next);
    else if (CLOSING.exec(line)?.[1]?.startsWith(open.marker)) {
      codes.push({ ...open, closeStart: start });
      open = null;
    }
    start = next;
  }
  return open === null ? codes : [...codes, { ...open, closeStart: list.length }];
}

function openedBy(line: string, bodyStart: number) {
  const [, before = '', marker = '', info = ''] = OPENING.exec(line) ?? [];
  if (marker === '') return null;
  const indent = before.replace(/\S/g, ' ');
  const [language = ''] = info.trim().split(/\s/);
  const shown = language.length > MAX_LANGUAGE ? '' : language;
  return { bodyStart, marker, reopening: `${indent}${marker}${shown}\n`, closing: `${indent}${marker}` };
}

/** The code among whose lines the position is, the closing one included: alone, that line would open another block. */
function codeAt(codes: readonly NestedCode[], at: number): NestedCode | null {
  let [low, high] = [0, codes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((codes[middle]?.bodyStart ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  const last = codes[low - 1];
  return last !== undefined && at <= last.closeStart ? last : null;
}

/** Moves the lines to the left, by the indentation of the first one that is not blank. */
function outdented(text: string): string {
  const lines = text.split('\n');
  const indent = indentOf(lines.find((line) => line.trim() !== '') ?? '');
  return indent === 0 ? text : lines.map((line) => line.slice(Math.min(indent, indentOf(line)))).join('\n');
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
