import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { leanSchema } from '../../../src/tools/schema.ts';

const propertiesOf = (input: z.ZodType) => leanSchema(input)['properties'];

describe('the schema that a model reads', () => {
  it('keeps null for a field that it must fill in', () => {
    const { properties, required } = leanSchema(z.object({ due: z.string().nullable(), tags: z.string().nullish() }));
    expect(properties).toEqual({
      due: { type: ['string', 'null'] },
      tags: { type: 'string' },
    });
    expect(required).toEqual(['due']);
  });

  it('keeps the values of a record', () => {
    const prices = z.record(z.string(), z.object({ price: z.number() }));
    expect(propertiesOf(z.object({ prices }))).toMatchObject({
      prices: {
        additionalProperties: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
      },
    });
  });

  it('leaves out what the tool checks anyway', () => {
    const input = z.strictObject({
      count: z.int().positive().default(1),
      words: z.looseObject({ default: z.string().min(1) }).optional(),
    });
    expect(leanSchema(input)).toEqual({
      type: 'object',
      properties: {
        count: { type: 'integer' },
        words: { type: 'object', properties: { default: { type: 'string' } }, required: ['default'] },
      },
    });
  });
});
