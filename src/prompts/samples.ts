import { z } from 'zod';

/** Two sets of values for trying out a template: all present, and all empty. */
export function samplesOf(schema: z.ZodType): readonly object[] {
  return [true, false].flatMap((full) => {
    const sample = sampleOf(schema, full);
    return typeof sample === 'object' && sample !== null ? [sample] : [];
  });
}

function sampleOf(schema: unknown, full: boolean): unknown {
  if (schema instanceof z.ZodObject) {
    return Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, sampleOf(field, full)]));
  }
  if (schema instanceof z.ZodArray) {
    const items = schema.element instanceof z.ZodObject ? [true, false] : [true];
    return full ? items.map((filled) => sampleOf(schema.element, filled)) : [];
  }
  if (schema instanceof z.ZodBoolean) return full;
  if (schema instanceof z.ZodNumber) return full ? 1 : 0;
  return full ? 'sample' : '';
}
