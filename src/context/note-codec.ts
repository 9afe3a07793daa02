import type { MemoryId } from '../domain/message.ts';
import {
  CLOCK_ALONE,
  decodeId,
  digits,
  encodeId,
  layersField,
  linksField,
  number,
  readLayers,
  readLinks,
  readReduction,
  readSections,
  reductionText,
  sectionsField,
} from './note-fields.ts';
import { NO_REDUCTION } from './reduce.ts';
import type { RequestNote } from './request-note.ts';

/** A note with what later notes of the chain may refer to. */
export interface ChainLink {
  /** Of the reply. */
  readonly seq: number;
  readonly note: RequestNote;
  /** Memories that were named since the chain began, by index. */
  readonly memoryIds: readonly MemoryId[];
  /** Number of notes before it. */
  readonly depth: number;
}

/** A chain of this length starts over, which limits what it costs to read one note. */
export const MAX_CHAIN = 256;

const FIRST: RequestNote = {
  profile: '',
  budgetTokens: 0,
  revision: 0,
  layers: [],
  fromSeq: 0,
  omitted: 0,
  reduction: NO_REDUCTION,
  sections: CLOCK_ALONE,
  minute: 0,
  links: new Map(),
  steps: 0,
  model: null,
  isAltered: false,
};
const START: ChainLink = { seq: 0, note: FIRST, memoryIds: [], depth: -1 };
const START_MARK = '!';

const MINUTE_MS = 60_000;

export function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS);
}

export interface NotePlace {
  /** The newest message that the turn has read. */
  readonly turn: number;
  /** When the reply is stored. */
  readonly at: number;
}

/** The next link of the chain without the seq of its reply, and its text. A null `previous` starts a chain. */
export function encodeNote(
  note: RequestNote,
  { turn, at }: NotePlace,
  previous: ChainLink | null,
): { readonly text: string; readonly link: Omit<ChainLink, 'seq'> } {
  const base = previous !== null && previous.depth + 1 < MAX_CHAIN ? previous : START;
  const named = new Set(base.memoryIds);
  const added = note.sections.flatMap((section) => (section.kind === 'memories' ? section.ids : []));
  const fresh = [...new Set(added)].filter((id) => !named.has(id));
  const memoryIds = fresh.length === 0 ? base.memoryIds : [...base.memoryIds, ...fresh];
  const fields = [
    base === START ? START_MARK : digits(turn - base.seq),
    ...changedNumbers(note, base.note),
    ...(note.profile === base.note.profile ? [] : [`p${note.profile}`]),
    ...written('x', reductionText(note.reduction), reductionText(base.note.reduction)),
    ...layersField(note.layers, base.note.layers),
    ...numberField('m', minuteOf(at) - note.minute),
    ...(fresh.length === 0 ? [] : [`n${fresh.map(encodeId).join(',')}`]),
    ...sectionsField(note, { base: base.note, memoryIds }),
    ...linksField(note, base.note),
    ...numberField('t', note.steps),
    ...(note.model === null ? [] : [`w${encodeId(note.model)}`]),
    ...(note.isAltered ? ['h'] : []),
  ];
  return { text: fields.join(' '), link: { note, memoryIds, depth: base.depth + 1 } };
}

/** Seq of the reply whose note this one refers to; null if it starts a chain. */
export function previousSeq(text: string, turn: number): number | null {
  const [first = ''] = text.split(' ', 1);
  return first === START_MARK ? null : turn - number(first);
}

export function decodeNote(
  text: string,
  { at }: Pick<NotePlace, 'at'>,
  previous: ChainLink | null,
): Omit<ChainLink, 'seq'> {
  const base = previous ?? START;
  const fields = new Map(
    text
      .split(' ')
      .slice(1)
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  );
  const read = (key: string) => fields.get(key);
  const change = (key: string) => number(read(key) ?? '0');
  const named = read('n');
  const fresh = named === undefined ? [] : named.split(',').map((id) => decodeId(id) as MemoryId);
  const memoryIds = [...base.memoryIds, ...fresh];
  const model = read('w');
  const fromSeq = base.note.fromSeq + change('f');
  const note: RequestNote = {
    profile: read('p') ?? base.note.profile,
    budgetTokens: base.note.budgetTokens + change('b'),
    revision: base.note.revision + change('r'),
    layers: readLayers(read('l'), base.note.layers),
    fromSeq,
    omitted: base.note.omitted + change('o'),
    reduction: fields.has('x') ? readReduction(read('x') ?? '') : base.note.reduction,
    sections: readSections(read('s'), { base: base.note, memoryIds }),
    minute: minuteOf(at) - change('m'),
    links: readLinks(read('k'), { base: base.note.links, fromSeq }),
    steps: change('t'),
    model: model === undefined ? null : decodeId(model),
    isAltered: fields.has('h'),
  };
  return { note, memoryIds, depth: base.depth + 1 };
}

function numberField(key: string, value: number): readonly string[] {
  return value === 0 ? [] : [`${key}${digits(value)}`];
}

function changedNumbers(note: RequestNote, base: RequestNote): readonly string[] {
  return [
    ...numberField('b', note.budgetTokens - base.budgetTokens),
    ...numberField('r', note.revision - base.revision),
    ...numberField('f', note.fromSeq - base.fromSeq),
    ...numberField('o', note.omitted - base.omitted),
  ];
}

function written(key: string, text: string, before: string): readonly string[] {
  return text === before ? [] : [`${key}${text}`];
}
