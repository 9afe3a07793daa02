import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readParts, writeJson } from '../../../adapters/stores/sql/query/json.ts';

const texts = fc.array(fc.constantFrom('a', '"', '\\', '\n', '}]', ',', '{"kind":"text","text":"', 'é', '\ud800', ':'));
const parts = fc.array(
  texts.map((pieces) => ({ kind: 'text' as const, text: pieces.join('') })),
  { maxLength: 3 },
);

it('reads parts as they were written, whatever they say', () => {
  fc.assert(
    fc.property(parts, (written) => {
      expect(readParts(writeJson(written))).toEqual(written);
    }),
    { numRuns: 5000 },
  );
});

it.each(['[{"kind":"text","text":"}]', '[{"kind":"text","text":"a"b"}]', '[{"kind":"text","text":"a","x":"b"}]'])(
  'finds the damage in %s',
  (stored) => {
    expect(() => readParts(stored)).toThrow();
  },
);
