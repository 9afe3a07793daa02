import type { MemoryId, SummaryId } from '../domain/message.ts';
import type { Reduction } from './reduce.ts';
import type { LayerRef, RequestNote, SectionRef } from './request-note.ts';

/** The fields of a request's note as text. Numbers have base 36, and ids are encoded, so no value contains a separator. */

export function encodeId(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}

/** A damaged id counts as unknown, like a deleted one. */
export function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function digits(value: number): string {
  return value.toString(36);
}

export function number(text: string): number {
  return Number.parseInt(text, 36);
}

export const CLOCK_ALONE: readonly SectionRef[] = [{ kind: 'clock' }];

const STUBS = ['none', 'old', 'all'] as const;

/** Empty for a whole view. Infinite limits are written as null. */
export function reductionText(reduction: Reduction): string {
  const { stubs, textTokens, askTokens, images, volatileTokens, droppedStackShare, droppedTailShare, fixedShare } =
    reduction;
  const values = [
    ...[STUBS.indexOf(stubs), textTokens, askTokens, Number(images), volatileTokens],
    ...[droppedStackShare, droppedTailShare, fixedShare],
  ];
  const text = values.map((value) => (Number.isFinite(value) ? String(value) : '')).join(',');
  return text === WHOLE ? '' : text;
}

const WHOLE = '0,,,1,,0,0,1';

export function readReduction(text: string): Reduction {
  const limit = (value: string | undefined) =>
    value === undefined || value === '' ? Number.POSITIVE_INFINITY : Number(value);
  const [stubs, texts, ask, images, volatile, stack, tail, fixed] = (text === '' ? WHOLE : text).split(',');
  return {
    stubs: STUBS[Number(stubs)] ?? 'none',
    textTokens: limit(texts),
    askTokens: limit(ask),
    images: images === '1',
    volatileTokens: limit(volatile),
    droppedStackShare: Number(stack),
    droppedTailShare: Number(tail),
    fixedShare: Number(fixed),
  };
}

/** What is replaced: the first changed layer, how many leave there, and what comes in. */
export function layersField(layers: readonly LayerRef[], before: readonly LayerRef[]): readonly string[] {
  const now = layers.map(layerText);
  const then = before.map(layerText);
  let start = 0;
  while (start < now.length && now[start] === then[start]) start += 1;
  let end = 0;
  while (end < Math.min(now.length, then.length) - start && now.at(-1 - end) === then.at(-1 - end)) end += 1;
  const removed = then.length - start - end;
  const added = now.slice(start, now.length - end);
  if (removed === 0 && added.length === 0) return [];
  return [`l${[digits(start), digits(removed), ...added].join(',')}`];
}

export function readLayers(field: string | undefined, before: readonly LayerRef[]): readonly LayerRef[] {
  if (field === undefined) return before;
  const [start = '0', removed = '0', ...added] = field.split(',');
  return before.toSpliced(number(start), number(removed), ...added.map(readLayer));
}

function layerText(layer: LayerRef): string {
  return layer.kind === 'summary' ? `s${encodeId(layer.id)}` : `g${digits(layer.fromSeq)}.${digits(layer.toSeq)}`;
}

function readLayer(text: string): LayerRef {
  const rest = text.slice(1);
  if (text.startsWith('s')) return { kind: 'summary', id: decodeId(rest) as SummaryId };
  const [fromSeq = '0', toSeq = '0'] = rest.split('.');
  return { kind: 'gap', fromSeq: number(fromSeq), toSeq: number(toSeq) };
}

interface Sections {
  readonly base: RequestNote;
  readonly memoryIds: readonly MemoryId[];
}

function memoriesIn(note: RequestNote): string | undefined {
  const found = note.sections.find((section) => section.kind === 'memories');
  return found?.kind === 'memories' ? found.ids.join(' ') : undefined;
}

/** Left out for a clock alone, which is the usual case. */
export function sectionsField(note: RequestNote, { base, memoryIds }: Sections): readonly string[] {
  const [only] = note.sections;
  if (note.sections.length === 1 && only?.kind === 'clock') return [];
  const indices = new Map(memoryIds.map((id, index) => [id, digits(index)]));
  const texts = note.sections.map((section) => {
    switch (section.kind) {
      case 'clock':
        return 'c';
      case 'memories':
        return section.ids.join(' ') === memoriesIn(base)
          ? 'e'
          : `m${section.ids.map((id) => indices.get(id) ?? '').join('.')}`;
      case 'passages':
        return `q${section.seqs.map(digits).join('.')}`;
      case 'replied-to':
        return `a${digits(section.seq)}`;
      case 'other':
        return 'u';
      default:
        return section satisfies never;
    }
  });
  return [`s${texts.join(',')}`];
}

export function readSections(field: string | undefined, { base, memoryIds }: Sections): readonly SectionRef[] {
  if (field === undefined) return CLOCK_ALONE;
  const texts = field === '' ? [] : field.split(',');
  return texts.map((text): SectionRef => {
    const rest = text.slice(1);
    const numbers = rest === '' ? [] : rest.split('.').map(number);
    switch (text.slice(0, 1)) {
      case 'c':
        return { kind: 'clock' };
      case 'e':
        return base.sections.find((section) => section.kind === 'memories') ?? { kind: 'other' };
      case 'm':
        return { kind: 'memories', ids: numbers.flatMap((index) => memoryIds[index] ?? []) };
      case 'q':
        return { kind: 'passages', seqs: numbers };
      case 'a':
        return { kind: 'replied-to', seq: numbers[0] ?? 0 };
      default:
        return { kind: 'other' };
    }
  });
}

/** Changed links as seq and distance; a distance of 0 removes one. */
export function linksField(note: RequestNote, base: RequestNote): readonly string[] {
  const before = within(base.links, note.fromSeq);
  const changed = [...note.links].filter(([seq, target]) => before.get(seq) !== target);
  const removed = [...before.keys()].filter((seq) => !note.links.has(seq));
  const texts = [
    ...changed.map(([seq, target]) => `${digits(seq - note.fromSeq)}.${digits(seq - target)}`),
    ...removed.map((seq) => `${digits(seq - note.fromSeq)}.0`),
  ];
  return texts.length === 0 ? [] : [`k${texts.join(',')}`];
}

export function readLinks(
  field: string | undefined,
  { base, fromSeq }: { readonly base: ReadonlyMap<number, number>; readonly fromSeq: number },
): ReadonlyMap<number, number> {
  const links = within(base, fromSeq);
  for (const text of field?.split(',') ?? []) {
    const [offset = '0', distance = '0'] = text.split('.');
    const seq = fromSeq + number(offset);
    if (number(distance) === 0) links.delete(seq);
    else links.set(seq, seq - number(distance));
  }
  return links;
}

function within(links: ReadonlyMap<number, number>, fromSeq: number): Map<number, number> {
  return new Map([...links].filter(([seq]) => seq >= fromSeq));
}
