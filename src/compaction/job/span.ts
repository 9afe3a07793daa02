import { type CutPoint, cutPoints, viewOrder } from '../../context/view/order.ts';
import type { Entry } from '../../domain/message.ts';
import { UTC } from '../../util/time/local-time.ts';
import { saysSomething, type TranscriptLine, transcriptLine, WHOLE } from './transcript-line.ts';

/** The head of a range that one call can read: it gets its own summary. */
export interface Span {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly entries: readonly Entry[];
  /** In the order of the view: a reply comes after the messages it read. */
  readonly lines: readonly TranscriptLine[];
}

/** The lines of entries, each of at most this many tokens. */
type Lines = (entries: readonly Entry[], longest: number) => readonly TranscriptLine[];

/** An entry cut below this many tokens is not worth its line. */
const MIN_LINE = 100;
/** No summary can be shorter than this many tokens, so such a span is read together with what follows. */
export const MIN_SPAN_TOKENS = 120;
/** The range is already out of the tail, so nothing is urgent. */
const NOBODY_WAITS = { answeredUpto: 0, replyDueSeq: 0, replyDueFrom: 0 };

/**
 * The longest head of the entries whose lines fit. It ends between two turns, or between two messages of people. If not
 * even the first turn fits, or too little precedes a huge one, its entries are cut in the middle with a marker. Only a
 * turn with very many entries is split, never between a call and its results. No entry is skipped.
 */
export function headSpan(entries: readonly Entry[], budgetTokens: number, timeZone: string = UTC): Span {
  const linesFor: Lines = (of, longest) => linesOf(of, longest, timeZone);
  const lines = linesFor(entries, WHOLE);
  if (tokensOf(lines) <= budgetTokens) return spanOf(entries, lines);
  const points = cutPoints(entries, NOBODY_WAITS).filter((point) => point.tokens >= MIN_SPAN_TOKENS);
  const tokensUpto = runningTokens(lines);
  const fitting = points.filter((point) => tokensUpto(point.toSeq) <= budgetTokens);
  const cut = fitting.findLast((point) => point.clean) ?? fitting.at(-1);
  if (cut !== undefined) return headOf(entries, lines, cut);
  return shortened(entries.slice(0, points[0]?.entries ?? entries.length), budgetTokens, linesFor);
}

/** The longest head of a span with at most this many tokens, or its shortest one. The span itself if it has none. */
export function narrowed(span: Span, maxTokens: number): Span {
  const { entries, lines } = span;
  if (tokensOf(lines) <= maxTokens) return span;
  const points = cutPoints(entries, NOBODY_WAITS).filter((point) => point.tokens >= MIN_SPAN_TOKENS);
  const tokensUpto = runningTokens(lines);
  const cut = points.filter((point) => tokensUpto(point.toSeq) <= maxTokens).at(-1) ?? points[0];
  return cut === undefined ? span : headOf(entries, lines, cut);
}

function headOf(entries: readonly Entry[], lines: readonly TranscriptLine[], cut: CutPoint): Span {
  return spanOf(entries.slice(0, cut.entries), upTo(lines, cut.toSeq));
}

function spanOf(entries: readonly Entry[], lines: readonly TranscriptLine[]): Span {
  return { fromSeq: entries[0]?.seq ?? 0, toSeq: entries.at(-1)?.seq ?? 0, entries, lines };
}

function shortened(turn: readonly Entry[], budgetTokens: number, linesFor: Lines): Span {
  const lines = excerpts(turn, budgetTokens, linesFor);
  if (tokensOf(lines) <= budgetTokens) return spanOf(turn, lines);
  const group = turn.slice(0, groupsWithin(turn, lines, budgetTokens));
  return spanOf(group, excerpts(group, budgetTokens, linesFor));
}

/**
 * How many entries fit, in whole groups; at least the first group. If that exceeds the window, the model reports an
 * overflow.
 */
function groupsWithin(turn: readonly Entry[], lines: readonly TranscriptLine[], budgetTokens: number): number {
  let most = 0;
  for (let count = 1; count <= turn.length; count += 1) {
    if (turn[count]?.role === 'tool') continue;
    const toSeq = turn[count - 1]?.seq ?? 0;
    if (most > 0 && tokensOf(upTo(lines, toSeq)) > budgetTokens) break;
    most = count;
  }
  return most;
}

/** Cuts every entry in the middle, equally, until all of them fit or become too short. */
function excerpts(entries: readonly Entry[], budgetTokens: number, linesFor: Lines): readonly TranscriptLine[] {
  let lines = linesFor(entries, WHOLE);
  let longest = Math.max(MIN_LINE, ...lines.map((line) => line.tokens));
  while (longest > MIN_LINE && tokensOf(lines) > budgetTokens) {
    longest = Math.max(MIN_LINE, Math.floor(longest * 0.7));
    lines = linesFor(entries, longest);
  }
  return lines;
}

function linesOf(entries: readonly Entry[], longest: number, timeZone: string): readonly TranscriptLine[] {
  const seqs = new Map(entries.flatMap((entry) => (entry.externalId === null ? [] : [[entry.externalId, entry.seq]])));
  const seqOf = (externalId: string) => seqs.get(externalId) ?? null;
  return viewOrder(entries, WHOLE)
    .map((entry) => transcriptLine(entry, { seqOf, longest, timeZone }))
    .filter((line) => line !== null);
}

/** A cut leaves no line of an earlier place behind, so the seq decides. */
function upTo(lines: readonly TranscriptLine[], toSeq: number): readonly TranscriptLine[] {
  return lines.filter((line) => line.seq <= toSeq);
}

/** The tokens of the lines up to a seq; asked for in ascending order. */
function runningTokens(lines: readonly TranscriptLine[]): (toSeq: number) => number {
  const bySeq = lines.toSorted((a, b) => a.seq - b.seq);
  let [taken, sum] = [0, 0];
  return (toSeq) => {
    for (let line = bySeq[taken]; line !== undefined && line.seq <= toSeq; line = bySeq[taken]) {
      sum += line.tokens;
      taken += 1;
    }
    return sum;
  };
}

export function tokensOf(lines: readonly TranscriptLine[]): number {
  return lines.reduce((sum, line) => sum + line.tokens, 0);
}

/** The tokens of the span in the view: its entries with their labels, or as much as was shown of them. */
export function sourceTokens({ entries, lines }: Span): number {
  const stored = entries.reduce((sum, entry) => sum + (saysSomething(entry) ? entry.tokens : 0), 0);
  return Math.max(stored, tokensOf(lines));
}
