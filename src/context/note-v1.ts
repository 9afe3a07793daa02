import type { MemoryId } from '../domain/message.ts';
import { number, readLayer } from './note-fields.ts';
import type { LayerRef, RequestNote, SectionRef } from './request-note.ts';

/** Fields of notes that the first version wrote. They are still read. */

/** The first changed layer, how many leave there, and what comes in. */
export function readLayersV1(field: string | undefined, before: readonly LayerRef[]): readonly LayerRef[] {
  if (field === undefined) return before;
  const [start = '0', removed = '0', ...added] = field.split(',');
  return before.toSpliced(number(start), number(removed), ...added.map(readLayer));
}

interface Sections {
  readonly base: Pick<RequestNote, 'sections'>;
  readonly names: readonly string[];
}

export function readSectionsV1(field: string | undefined, { base, names }: Sections): readonly SectionRef[] {
  if (field === undefined) return [{ kind: 'clock' }];
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
        return { kind: 'memories', ids: numbers.flatMap((index) => (names[index] ?? []) as MemoryId) };
      case 'q':
        return { kind: 'passages', seqs: numbers, elsewhere: [] };
      case 'a':
        return { kind: 'replied-to', seq: numbers[0] ?? 0 };
      default:
        return { kind: 'other' };
    }
  });
}

/** Changed links as offset and distance; a distance of 0 removes one. */
export function readLinksV1(field: string | undefined): readonly number[] {
  return (field?.split(',') ?? []).flatMap((text) => {
    const [offset = '0', distance = '0'] = text.split('.');
    return [number(offset), number(distance)];
  });
}
