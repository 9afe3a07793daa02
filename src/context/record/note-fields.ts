import type { BlobId, ConversationKey, MemoryId, SeqRange, SummaryId } from '../../domain/message.ts';
import type { Reduction } from '../view/reduce.ts';
import { pack, packAscending, unpack, unpackAscending } from './packed.ts';
import type { LayerRef, OpenedAt, PassagesOf, RequestNote, SectionRef } from './request-note.ts';

/** The fields of a request's note as text. Numbers and ids are encoded, so no value contains a separator. */

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

const STUBS = ['none', 'old', 'all'] as const;
const WHOLE: readonly string[] = ['0', '', '', '1', '', '0', '0', '1'];

/** Empty for a whole view. Infinite limits and the last values of a whole view are left out. */
export function reductionText(reduction: Reduction): string {
  const { stubs, textTokens, askTokens, images, volatileTokens, droppedStackShare, droppedTailShare, fixedShare } =
    reduction;
  const values = [
    ...[STUBS.indexOf(stubs), textTokens, askTokens, Number(images), volatileTokens],
    ...[droppedStackShare, droppedTailShare, fixedShare],
  ].map((value) => (Number.isFinite(value) ? String(value) : ''));
  return values.slice(0, values.findLastIndex((value, index) => value !== WHOLE[index]) + 1).join(',');
}

export function readReduction(text: string): Reduction {
  const limit = (value: string | undefined) =>
    value === undefined || value === '' ? Number.POSITIVE_INFINITY : Number(value);
  const given = text === '' ? [] : text.split(',');
  const [stubs, texts, ask, images, volatile, stack, tail, fixed] = [...given, ...WHOLE.slice(given.length)];
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

/** New layers in full, and others as runs of the layers before: `c`, the first one, and how many more follow it. */
export function layersField(layers: readonly LayerRef[], before: readonly LayerRef[]): readonly string[] {
  const [now, then] = [layers.map(layerText), before.map(layerText)];
  if (now.join() === then.join()) return [];
  const indices = new Map(then.map((text, index) => [text, index]));
  const texts: string[] = [];
  for (let at = 0; at < now.length; ) {
    const start = indices.get(now[at] ?? '');
    let length = 1;
    if (start === undefined) texts.push(now[at] ?? '');
    else {
      while (at + length < now.length && now[at + length] === then[start + length]) length += 1;
      texts.push(`c${pack([start, length - 1])}`);
    }
    at += length;
  }
  return [`l${texts.join(',')}`];
}

export function readLayers(field: string | undefined, before: readonly LayerRef[]): readonly LayerRef[] {
  if (field === undefined) return before;
  const texts = field === '' ? [] : field.split(',');
  return texts.flatMap((text) => {
    if (!text.startsWith('c')) return [readLayer(text)];
    const [start = 0, more = 0] = unpack(text.slice(1));
    return before.slice(start, start + more + 1);
  });
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

/** Memories and other conversations that the sections name. */
export function namesIn(sections: readonly SectionRef[]): readonly string[] {
  return sections.flatMap((section): readonly string[] => {
    if (section.kind === 'memories') return section.ids;
    return section.kind === 'passages' ? section.elsewhere.map(({ conversation }) => conversation) : [];
  });
}

export function readNames(field: string | undefined): readonly string[] {
  return field === undefined ? [] : field.split(',').map(decodeId);
}

interface Sections {
  readonly base: Pick<RequestNote, 'sections'>;
  /** Memories and conversations that were named since the chain began, by index. */
  readonly names: readonly string[];
}

function memoriesIn({ sections }: Sections['base']): string | undefined {
  const found = sections.find((section) => section.kind === 'memories');
  return found?.kind === 'memories' ? found.ids.join(' ') : undefined;
}

const NO_CLOCK = '-';

/** A clock at the end is the usual case and left out. */
export function sectionsField(note: Pick<RequestNote, 'sections'>, { base, names }: Sections): readonly string[] {
  const { sections } = note;
  const isUsual = sections.at(-1)?.kind === 'clock';
  if (isUsual && sections.length === 1) return [];
  const indices = new Map(names.map((name, index) => [name, index]));
  const indexOf = (name: string) => indices.get(name) ?? names.length;
  const texts = (isUsual ? sections.slice(0, -1) : sections).map((section) => {
    switch (section.kind) {
      case 'clock':
        return 'c';
      case 'memories':
        return section.ids.join(' ') === memoriesIn(base) ? 'e' : `m${pack(section.ids.map(indexOf))}`;
      case 'passages':
        return `q${passagesText(section.seqs, section.elsewhere, indexOf)}`;
      case 'replied-to':
        return `a${pack([section.seq])}`;
      case 'namesakes':
        return `n${pack([section.fromSeq, section.toSeq])}`;
      case 'other':
        return 'u';
      default:
        return section satisfies never;
    }
  });
  return [`s${[...texts, ...(isUsual ? [] : [NO_CLOCK])].join(',')}`];
}

function passagesText(
  seqs: readonly number[],
  elsewhere: readonly PassagesOf[],
  indexOf: (name: string) => number,
): string {
  const others = elsewhere.map((of) => `${pack([indexOf(of.conversation)])}.${packAscending(of.seqs)}`);
  return [packAscending(seqs), ...others].join('.');
}

function readPassages(text: string, names: readonly string[]): SectionRef {
  const [own = '', ...others] = text.split('.');
  const elsewhere: PassagesOf[] = [];
  for (let at = 0; at + 1 < others.length; at += 2) {
    const [index = names.length] = unpack(others[at] ?? '');
    // A key is only looked up, so a damaged one finds nothing.
    const conversation = (names[index] ?? '') as ConversationKey;
    elsewhere.push({ conversation, seqs: unpackAscending(others[at + 1] ?? '') });
  }
  return { kind: 'passages', seqs: unpackAscending(own), elsewhere };
}

export function readSections(field: string | undefined, { base, names }: Sections): readonly SectionRef[] {
  const texts = field === undefined || field === '' ? [] : field.split(',');
  const isUsual = texts.at(-1) !== NO_CLOCK;
  const sections = (isUsual ? texts : texts.slice(0, -1)).map((text): SectionRef => {
    const rest = text.slice(1);
    switch (text.slice(0, 1)) {
      case 'c':
        return { kind: 'clock' };
      case 'e':
        return base.sections.find((section) => section.kind === 'memories') ?? { kind: 'other' };
      case 'm':
        return { kind: 'memories', ids: unpack(rest).flatMap((index) => (names[index] ?? []) as MemoryId) };
      case 'q':
        return readPassages(rest, names);
      case 'a':
        return { kind: 'replied-to', seq: unpack(rest)[0] ?? 0 };
      case 'n':
        return { kind: 'namesakes', ...readRange(rest) };
      default:
        return { kind: 'other' };
    }
  });
  return isUsual ? [...sections, { kind: 'clock' }] : sections;
}

function readRange(text: string): SeqRange {
  const [fromSeq = 0, toSeq = 0] = unpack(text);
  return { fromSeq, toSeq };
}

export function readChange(field = ''): BlobId | null {
  return field === '' ? null : (decodeId(field) as BlobId);
}

/** Place and message of each step that opened images. */
export function openedField(opened: readonly OpenedAt[]): readonly string[] {
  return opened.length === 0 ? [] : [`i${pack(opened.flatMap(({ at, seq }) => [at, seq]))}`];
}

export function readOpened(field = ''): readonly OpenedAt[] {
  const numbers = unpack(field);
  return Array.from({ length: Math.floor(numbers.length / 2) }, (_, index) => ({
    at: numbers[2 * index] ?? 0,
    seq: numbers[2 * index + 1] ?? 0,
  }));
}

/** Changed links as offset and distance; a distance of 0 removes one. */
export function linksField(note: RequestNote, base: RequestNote): readonly string[] {
  const before = within(base.links, note.fromSeq);
  const changed = [...note.links].filter(([seq, target]) => before.get(seq) !== target);
  const removed = [...before.keys()].filter((seq) => !note.links.has(seq));
  const pairs = [
    ...changed.flatMap(([seq, target]) => [seq - note.fromSeq, seq - target]),
    ...removed.flatMap((seq) => [seq - note.fromSeq, 0]),
  ];
  return pairs.length === 0 ? [] : [`k${pack(pairs)}`];
}

/** `pairs` as in the field. */
export function applyLinks(
  pairs: readonly number[],
  { base, fromSeq }: { readonly base: ReadonlyMap<number, number>; readonly fromSeq: number },
): ReadonlyMap<number, number> {
  const links = within(base, fromSeq);
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const [offset = 0, distance = 0] = pairs.slice(at, at + 2);
    if (distance === 0) links.delete(fromSeq + offset);
    else links.set(fromSeq + offset, fromSeq + offset - distance);
  }
  return links;
}

function within(links: ReadonlyMap<number, number>, fromSeq: number): Map<number, number> {
  return new Map([...links].filter(([seq]) => seq >= fromSeq));
}
