import type { RawBuilder } from 'kysely';
import { createRecentMap } from '../../../../src/adapter-kit.ts';

/**
 * Queries whose text depends on what is asked, such as on the length of a list. Building one costs more than running it,
 * so each shape is built once, as long as it recurs.
 */

/** Maximum number of shapes that are kept of one query. */
const KEPT_SHAPES = 200;

export function createShapes<Asked, Prepared>(
  shapeOf: (asked: Asked) => string | number,
  build: (asked: Asked) => Prepared,
): (asked: Asked) => Prepared {
  const kept = createRecentMap<string | number, Prepared>(KEPT_SHAPES);
  return (asked) => {
    const shape = shapeOf(asked);
    const prepared = kept.get(shape) ?? build(asked);
    kept.set(shape, prepared);
    return prepared;
  };
}

/** Most turns ask for no more. */
const MAX_PADDED = 64;
const PADDED_TO = 4;

/** Padded to a multiple of four by repeating the last one: fewer list lengths need fewer queries. */
export function padded<Value>(values: readonly Value[]): readonly Value[] {
  const last = values.at(-1);
  if (last === undefined || values.length > MAX_PADDED) return values;
  const length = PADDED_TO * Math.ceil(values.length / PADDED_TO);
  return [...values, ...new Array<Value>(length - values.length).fill(last)];
}

/** The values of a list by the names of its placeholders. */
export function named<Value>(list: string, values: readonly Value[] = []): Readonly<Record<string, Value>> {
  return Object.fromEntries(values.map((value, index) => [`${list}.${index}`, value]));
}

export function placeholders<List extends string, Value>(
  parameter: (name: `${List}.${number}`) => RawBuilder<Value>,
  list: List,
  length: number,
): readonly RawBuilder<Value>[] {
  return Array.from({ length }, (_, index) => parameter(`${list}.${index}`));
}
