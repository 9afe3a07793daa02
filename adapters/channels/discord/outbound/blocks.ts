/** Parts of a Markdown text that a cut must respect. Positions are UTF-16 indices. */
export interface Block {
  readonly kind: 'fence' | 'table';
  readonly start: number;
  readonly end: number;
  /** For fences: where the lines begin and where the closing line starts; the end of the text if it is never closed. */
  readonly bodyStart: number;
  readonly closeStart: number;
  /** The line that reopens it in the next message. */
  readonly reopening: string;
  readonly marker: string;
}

/** A longer opening line is repeated without its language. */
const MAX_OPENING = 40;
/** Longer runs of backticks are text. */
const MAX_MARKER = 12;
/** The marker on a line of its own. */
export const MAX_CLOSING = MAX_MARKER + 1;

/** What may follow the marker on its line. */
const MAX_INFO = 100;
/** A longer line opens no block. */
export const MAX_MARKER_LINE = 400;
const MARKER = /^(?:`{3,}|~{3,})/;

interface Opening {
  readonly marker: string;
  readonly info: string;
}

/** The marker at the start of a line, and what follows it; null if the line opens no block. */
function openingOf(line: string): Opening | null {
  const bare = line.length > MAX_MARKER_LINE ? '' : line.trimStart();
  const marker = MARKER.exec(bare)?.[0] ?? '';
  const info = bare.slice(marker.length);
  return marker === '' || info.length > MAX_INFO || info.includes('`') ? null : { marker, info };
}

/** Whether a line, or the start of one, would open a code block. */
export function opensFence(line: string): boolean {
  return openingOf(line) !== null;
}

interface Line {
  readonly text: string;
  readonly start: number;
  /** After the line break. */
  readonly end: number;
}

export function findBlocks(text: string): readonly Block[] {
  const lines = linesOf(text);
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; ) {
    const found = fenceFrom(lines, index) ?? tableFrom(lines, index);
    if (found === null) {
      index += 1;
      continue;
    }
    blocks.push(found.block);
    index = found.next;
  }
  return blocks;
}

interface Found {
  readonly block: Block;
  /** Index of the line after it. */
  readonly next: number;
}

function fenceFrom(lines: readonly Line[], index: number): Found | null {
  const opening = lines[index];
  const { marker, info } = openingOf(opening?.text ?? '') ?? { marker: '', info: '' };
  if (opening === undefined || marker === '' || marker.length > MAX_MARKER) return null;
  let closing = index + 1;
  while (closing < lines.length && !closes(lines[closing]?.text ?? '', marker)) closing += 1;
  const isClosed = closing < lines.length;
  const last = isClosed ? closing : lines.length - 1;
  const end = lines[last]?.end ?? opening.end;
  const reopening = `${marker}${marker.length + info.length > MAX_OPENING ? '' : info.trimEnd()}\n`;
  const closeStart = isClosed ? (lines[closing]?.start ?? end) : Number.POSITIVE_INFINITY;
  return {
    block: { kind: 'fence', start: opening.start, end, bodyStart: opening.end, closeStart, reopening, marker },
    next: last + 1,
  };
}

function closes(line: string, marker: string): boolean {
  const run = line.trim();
  return run.startsWith(marker) && MARKER.exec(run)?.[0] === run;
}

/** A header row, a row of dashes, and the rows below. A code block ends the table, whatever follows its marker. */
function tableFrom(lines: readonly Line[], index: number): Found | null {
  const [head, rule] = [lines[index], lines[index + 1]];
  if (!head?.text.includes('|') || !isRule(rule?.text ?? '')) return null;
  if (!rule?.text.includes('|')) return null;
  let next = index + 2;
  while (lines[next]?.text.includes('|') && !opensFence(lines[next]?.text ?? '')) next += 1;
  const end = lines[next - 1]?.end ?? head.end;
  const block = { start: head.start, end, bodyStart: head.start, closeStart: end, reopening: '', marker: '' };
  return { block: { kind: 'table', ...block }, next };
}

function isRule(line: string): boolean {
  return line.includes('-') && /^[\s:|-]+$/.test(line);
}

/** The code block among whose lines the position is, or at whose first one; null if there is none. */
export function fenceAt(blocks: readonly Block[], at: number): Block | null {
  let [low, high] = [0, blocks.length];
  // A long reply may have thousands of blocks, and each of its messages asks for several positions.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.bodyStart ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  const last = blocks[low - 1];
  return last?.kind === 'fence' && at < last.closeStart ? last : null;
}

/** The marker that closes the code block which a cut at `at` would leave open. */
export function ownMarker(
  blocks: readonly Block[],
  { text, at }: { readonly text: string; readonly at: number },
): string {
  const open = fenceAt(blocks, at);
  if (open === null || (at === open.bodyStart && at < text.length)) return '';
  return text.charAt(at - 1) === '\n' ? open.marker : `\n${open.marker}`;
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed + 1;
    lines.push({ text: text.slice(start, feed === -1 ? end : feed), start, end });
    start = end;
  }
  return lines;
}
