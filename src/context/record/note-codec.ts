import { MINUTE_MS } from '../../util/time/time.ts';
import { NO_REDUCTION } from '../view/reduce.ts';
import {
  applyLinks,
  decodeId,
  digits,
  encodeId,
  layersField,
  linksField,
  namesIn,
  number,
  openedField,
  readChange,
  readLayers,
  readNames,
  readOpened,
  readReduction,
  readSections,
  reductionText,
  sectionsField,
} from './note-fields.ts';
import { unpack } from './packed.ts';
import type { RequestNote } from './request-note.ts';
import { PRINT_LENGTH } from './request-print.ts';

/** A note with what later notes of the chain may refer to. */
export interface ChainLink {
  /** The seq of the reply. */
  readonly seq: number;
  readonly note: RequestNote;
  /** Memories and conversations that were named since the chain began, by index. */
  readonly names: readonly string[];
  /** Number of notes before it. */
  readonly depth: number;
}

/** A chain of this length starts over, which limits what it costs to read one note. */
export const MAX_CHAIN = 256;

const FIRST: RequestNote = {
  profile: '',
  print: '',
  budgetTokens: 0,
  revision: 0,
  layers: [],
  fromSeq: 0,
  omitted: 0,
  reduction: NO_REDUCTION,
  sections: [{ kind: 'clock' }],
  minute: 0,
  links: new Map(),
  steps: 0,
  opened: [],
  model: null,
  isAltered: false,
  change: null,
};
const START: ChainLink = { seq: 0, note: FIRST, names: [], depth: -1 };
/** The first character of a note. */
const MARKS = { start: '=', next: '.' } as const;
/** How far behind the newest message the reply before it is in most cases. */
const USUAL_DISTANCE = 1;

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
  const isNext = previous !== null && previous.depth + 1 < MAX_CHAIN;
  const base = isNext ? previous : START;
  const known = new Set(base.names);
  const fresh = [...new Set(namesIn(note.sections))].filter((name) => !known.has(name));
  const names = fresh.length === 0 ? base.names : [...base.names, ...fresh];
  const fields = [
    head(note, base === START ? null : turn - base.seq),
    ...changedNumbers(note, base.note),
    ...(note.profile === base.note.profile ? [] : [`p${note.profile}`]),
    ...written('x', reductionText(note.reduction), reductionText(base.note.reduction)),
    ...layersField(note.layers, base.note.layers),
    ...numberField('m', minuteOf(at) - note.minute),
    ...(fresh.length === 0 ? [] : [`n${fresh.map(encodeId).join(',')}`]),
    ...sectionsField(note, { base: base.note, names }),
    ...linksField(note, base.note),
    ...numberField('t', note.steps),
    ...openedField(note.opened),
    ...(note.model === null ? [] : [`w${encodeId(note.model)}`]),
    ...(note.isAltered ? [`h${encodeId(note.change ?? '')}`] : []),
  ];
  return { text: fields.join(' '), link: { note, names, depth: base.depth + 1 } };
}

/** The mark, the hash, and the distance to the reply before, if it is not the usual one. */
function head({ print }: RequestNote, distance: number | null): string {
  const hash = print.slice(0, PRINT_LENGTH).padEnd(PRINT_LENGTH, NO_PRINT);
  if (distance === null) return MARKS.start + hash;
  return MARKS.next + hash + (distance === USUAL_DISTANCE ? '' : digits(distance));
}

const NO_PRINT = '~';

function headOf(text: string): string {
  const [head = ''] = text.split(' ', 1);
  return head;
}

/** Seq of the reply whose note this one refers to; null if it starts a chain. */
export function previousSeq(text: string, turn: number): number | null {
  const first = headOf(text);
  if (!first.startsWith(MARKS.next)) return null;
  const distance = first.slice(1 + PRINT_LENGTH);
  return turn - (distance === '' ? USUAL_DISTANCE : number(distance));
}

export function decodeNote(
  text: string,
  { at }: Pick<NotePlace, 'at'>,
  previous: ChainLink | null,
): Omit<ChainLink, 'seq'> {
  const base = previous ?? START;
  const first = headOf(text);
  const fields = new Map(
    text
      .slice(first.length + 1)
      .split(' ')
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  );
  const read = (key: string) => fields.get(key);
  const change = (key: string) => number(read(key) ?? '0');
  const names = [...base.names, ...readNames(read('n'))];
  const model = read('w');
  const fromSeq = base.note.fromSeq + change('f');
  const note: RequestNote = {
    profile: read('p') ?? base.note.profile,
    print: first.slice(1, 1 + PRINT_LENGTH).replaceAll(NO_PRINT, ''),
    budgetTokens: base.note.budgetTokens + change('b'),
    revision: base.note.revision + change('r'),
    layers: readLayers(read('l'), base.note.layers),
    fromSeq,
    omitted: base.note.omitted + change('o'),
    reduction: fields.has('x') ? readReduction(read('x') ?? '') : base.note.reduction,
    sections: readSections(read('s'), { base: base.note, names }),
    minute: minuteOf(at) - change('m'),
    links: applyLinks(unpack(read('k') ?? ''), { base: base.note.links, fromSeq }),
    steps: change('t'),
    opened: readOpened(read('i')),
    model: model === undefined ? null : decodeId(model),
    isAltered: fields.has('h'),
    change: readChange(read('h')),
  };
  return { note, names, depth: base.depth + 1 };
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
