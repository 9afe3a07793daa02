import { BREAKS } from '../../shared/breaks.ts';
import { graphemeCuts, windowEnd } from '../../shared/hard-cut.ts';
import { insideOf, type Unit, type UnitRules, unitsOf } from '../../shared/units.ts';
import { type Block, findBlocks, MAX_CLOSING, MAX_MARKER_LINE, opensFence, ownMarker } from './blocks.ts';

export interface Cut {
  readonly from: number;
  /** The text before the chunk in its message. */
  readonly opening: string;
}

/** Not cut as long as one message can hold it: links with their text, URLs, inline code. */
const UNITS: UnitRules = { bold: false, mentions: true };
const RUNS = /`{3,}|~{3,}/g;

export interface Cutter {
  readonly blocks: readonly Block[];
  /** The end of the chunk that begins at `from`. */
  next(cut: Cut): number;
}

export function createCutter(text: string, limit: number): Cutter {
  const blocks = findBlocks(text);
  const breaksMarkers = createMarkers(text, blocks);
  const isWhole = createUnits(text, { blocks, limit });
  /** `solid`: index of the first character after `from` that is not blank. */
  const may = ({ from, opening }: Cut, at: number, solid: number): boolean => {
    const length = opening.length + (at - from) + ownMarker(blocks, { text, at }).length;
    return length <= limit && at < text.length && !breaksMarkers(at) && at > solid;
  };
  return {
    blocks,
    next(cut) {
      const { from, opening } = cut;
      const closing = ownMarker(blocks, { text, at: text.length });
      if (opening.length + text.length - from + closing.length <= limit) return text.length;
      const window = text.slice(from, from + limit - opening.length);
      const solid = from + blanksAt(text, from);
      const isGood = (at: number) => may(cut, at, solid) && isWhole(at);
      const places = BREAKS.map(({ pattern }) => rangesOf(window, pattern).map(({ end }) => from + end));
      for (const [index, { fill }] of BREAKS.entries()) {
        const best = places[index]?.findLast((at) => at - from >= fill * limit && isGood(at));
        if (best !== undefined) return best;
      }
      const any = places.flat().sort((one, other) => one - other);
      const good = any.findLast(isGood);
      if (good !== undefined) return good;
      const cuts = graphemeCuts(window, from).filter((at) => may(cut, at, solid));
      return cuts.findLast(isWhole) ?? cuts.at(-1) ?? hardEnd({ text, blocks, window, from });
    },
  };
}

/** Leaves room for the marker that closes a code block. */
function hardEnd({
  text,
  blocks,
  window,
  from,
}: {
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly window: string;
  readonly from: number;
}): number {
  const end = windowEnd(window, from);
  if (ownMarker(blocks, { text, at: end }) === '') return end;
  return windowEnd(window.slice(0, -MAX_CLOSING), from);
}

/** Whether a cut would break the lines of a code block, or create a marker where there was none. */
function createMarkers(text: string, blocks: readonly Block[]): (at: number) => boolean {
  const fences = blocks.filter(({ kind }) => kind === 'fence');
  const runs = rangesOf(text, RUNS);
  const isInMarker = insideOf(
    text.length,
    fences.flatMap(({ start, bodyStart, closeStart, end }) => [
      { start, end: bodyStart + 1 },
      { start: Math.min(closeStart, end) - 1, end },
    ]),
  );
  const heads = new Set(fences.map(({ start }) => start + blanksAt(text, start)));
  const isAtRun = insideOf(
    text.length,
    runs.map(({ start, end }) => ({ start: heads.has(start) ? start : start - 1, end: end + 1 })),
  );
  /** The start of the line alone would be a marker. */
  const leavesMarker = (at: number) => opensFence(text.slice(lineStartBefore(text, at), at));
  return (at) => isInMarker(at) || isAtRun(at) || leavesMarker(at);
}

/** Whether a cut at this place splits nothing that one message could hold. */
function createUnits(
  text: string,
  { blocks, limit }: { readonly blocks: readonly Block[]; readonly limit: number },
): (at: number) => boolean {
  const inFence = insideOf(
    text.length,
    blocks.filter(({ kind }) => kind === 'fence'),
  );
  const inline = unitsOf(text, UNITS).filter(({ start }) => !inFence(start));
  const units = [...inline, ...blocks.filter(({ kind }) => kind === 'table')].filter(
    ({ start, end }) => end - start <= limit,
  );
  const isInside = insideOf(text.length, units);
  return (at) => !isInside(at);
}

function blanksAt(text: string, at: number): number {
  let end = at;
  while (end < text.length && text.charAt(end).trim() === '') end += 1;
  return end - at;
}

/** A line that is longer than any marker is checked from the point where it is too long for one. */
function lineStartBefore(text: string, at: number): number {
  const from = Math.max(0, at - MAX_MARKER_LINE);
  const feed = text.slice(from, at).lastIndexOf('\n');
  return feed === -1 ? from : from + feed + 1;
}

function rangesOf(text: string, pattern: RegExp): readonly Unit[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: found }) => ({ start: index, end: index + found.length }));
}
