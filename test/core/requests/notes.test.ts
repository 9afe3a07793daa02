import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type ChainLink,
  decodeNote,
  encodeNote,
  MAX_CHAIN,
  previousSeq,
} from '../../../src/context/record/note-codec.ts';
import type { LayerRef, RequestNote, SectionRef } from '../../../src/context/record/request-note.ts';
import { FIRST_REDUCTION, NO_REDUCTION } from '../../../src/context/view/reduce.ts';
import type { BlobId, MemoryId, SummaryId } from '../../../src/domain/message.ts';
import { HERE } from '../../support/bot-world.ts';
import { SIZED, sized } from '../../support/size.ts';

const number = fc.nat({ max: 100_000 });
const id = fc.oneof(fc.stringMatching(/^[0-9a-z]{1,26}$/), fc.string({ minLength: 1, maxLength: 8 }));
const layer: fc.Arbitrary<LayerRef> = fc.oneof(
  id.map((value) => ({ kind: 'summary', id: value as SummaryId }) as const),
  fc.tuple(number, number).map(([fromSeq, toSeq]) => ({ kind: 'gap', fromSeq, toSeq }) as const),
);
const memories = fc.uniqueArray(
  id.map((value) => value as MemoryId),
  { maxLength: 8 },
);
const seqs = fc.uniqueArray(number, { maxLength: 5 }).map((some) => some.toSorted((a, b) => a - b));
const elsewhere = fc.array(
  seqs.map((some) => ({ conversation: HERE, seqs: some })),
  { maxLength: 2 },
);
const sections: fc.Arbitrary<readonly SectionRef[]> = fc
  .tuple(memories, seqs, elsewhere, number, fc.subarray([0, 1, 2, 3, 4, 5]))
  .map(([ids, own, others, seq, chosen]) => {
    const all: readonly SectionRef[] = [
      { kind: 'passages', seqs: own, elsewhere: others },
      { kind: 'memories', ids },
      { kind: 'replied-to', seq },
      { kind: 'namesakes', fromSeq: seq, toSeq: seq + own.length },
      { kind: 'other' },
      { kind: 'clock' },
    ];
    return chosen.flatMap((index) => all[index] ?? []);
  });
const note: fc.Arbitrary<RequestNote> = fc
  .record({
    profile: fc.constantFrom('p1', 'p2'),
    print: fc.oneof(fc.constant(''), fc.stringMatching(/^[\w-]{6}$/)),
    budgetTokens: number,
    revision: number,
    layers: fc.array(layer, { maxLength: 8 }),
    fromSeq: number,
    omitted: number,
    reduction: fc.constantFrom(NO_REDUCTION, FIRST_REDUCTION, { ...FIRST_REDUCTION, textTokens: 31.5, images: false }),
    sections,
    minute: number,
    links: fc
      .array(fc.tuple(number, number), { maxLength: 4 })
      .map((pairs) => new Map(pairs.map(([offset, distance]) => [200_000 + offset, 199_999 + offset - distance]))),
    steps: fc.nat({ max: 6 }),
    opened: fc.array(fc.record({ at: fc.nat({ max: 9 }), seq: number }), { maxLength: 2 }),
    model: fc.option(fc.string({ minLength: 1, maxLength: 8 })),
    isAltered: fc.boolean(),
    change: fc.constantFrom(null, 'abc-_1' as BlobId),
  })
  .map((one) => (one.isAltered ? one : { ...one, change: null }));

it('reads back every note of a chain', SIZED, () => {
  fc.assert(
    fc.property(fc.array(note, { minLength: 1, maxLength: 6 }), (notes) => {
      let written: ChainLink | null = null;
      let read: ChainLink | null = null;
      for (const [index, one] of notes.entries()) {
        const place = { turn: 10 * index + 9, at: 60_000 * (index + 5) };
        const seq = place.turn + 1;
        const { text, link } = encodeNote(one, place, written);
        expect(previousSeq(text, place.turn)).toBe(written?.seq ?? null);
        read = { seq, ...decodeNote(text, place, read) };
        written = { seq, ...link };
        expect(read.note).toEqual(one);
      }
    }),
    { numRuns: sized({ small: 200, full: 4_000 }) },
  );
});

it('starts a chain over before it grows too long', () => {
  const place = { turn: 1, at: 0 };
  const [only] = fc.sample(note, { numRuns: 1, seed: 1 });
  if (only === undefined) throw new Error('no note');
  const first = { seq: 2, ...encodeNote(only, place, null).link };
  const next = (depth: number) => previousSeq(encodeNote(only, { turn: 3, at: 0 }, { ...first, depth }).text, 3);
  expect(next(0)).toBe(2);
  expect(next(MAX_CHAIN - 1)).toBeNull();
});
