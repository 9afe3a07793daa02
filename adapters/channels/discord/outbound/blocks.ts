/** Parts of a Markdown text that a cut must respect. Positions are UTF-16 indices. */
export interface Block {
  readonly kind: 'fence' | 'table';
  readonly start: number;
  readonly end: number;
  /** Of a fence: where its lines begin and where its closing line stands; the end where it is never closed. */
  readonly bodyStart: number;
  readonly closeStart: number;
  /** The line that opens it again in the next message. */
  readonly reopening: string;
  readonly marker: string;
}

/** A longer opening line is repeated without its language. */
const MAX_OPENING = 40;
/** Longer runs of backticks are text. */
const MAX_MARKER = 12;

const OPENING = /^\s*(`{3,}|~{3,})([^`\n]{0,100})$/;

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
  const [, marker = '', info = ''] = OPENING.exec(opening?.text ?? '') ?? [];
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
  const run = /^\s*(`{3,}|~{3,})\s*$/.exec(line)?.[1] ?? '';
  return run.startsWith(marker);
}

/** A row of heads, a row of dashes, and the rows below: a code block ends them, whatever stands beside its marker. */
function tableFrom(lines: readonly Line[], index: number): Found | null {
  const [head, rule] = [lines[index], lines[index + 1]];
  if (!head?.text.includes('|') || !/^\s*\|?[\s:|-]*-[\s:|-]*$/.test(rule?.text ?? '')) return null;
  if (!rule?.text.includes('|')) return null;
  let next = index + 2;
  while (lines[next]?.text.includes('|') && !OPENING.test(lines[next]?.text ?? '')) next += 1;
  const end = lines[next - 1]?.end ?? head.end;
  const block = { start: head.start, end, bodyStart: head.start, closeStart: end, reopening: '', marker: '' };
  return { block: { kind: 'table', ...block }, next };
}

/** What closes the code block that a cut at `at` would leave open. */
export function ownMarker(
  blocks: readonly Block[],
  { text, at }: { readonly text: string; readonly at: number },
): string {
  const open = blocks.find(
    ({ kind, bodyStart, closeStart }) =>
      kind === 'fence' && (at > bodyStart || (at === bodyStart && at === text.length)) && at < closeStart,
  );
  if (open === undefined) return '';
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
