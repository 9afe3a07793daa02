/**
 * The sizes of long tests, read in this one place. `npm test` runs each at its small size, `npm run soak` at its full
 * size; `TEST_SIZE=20 npm run soak` runs twenty times the full size.
 */

const written = process.env['TEST_SIZE'];
/** How often the full size; null for the small one. */
const factor = written === undefined || written === '' ? null : factorOf(written);

function factorOf(text: string): number {
  const value = Number(text);
  if (!(value >= 1)) throw new Error(`TEST_SIZE must be a number of at least 1; it is "${text}".`);
  return value;
}

/** Whether each test runs at its full size: what a soak alone runs asks this. */
export const IS_FULL = factor !== null;

export const SIZED_TAG = 'sized';

/**
 * Of a test that takes its size from here: `npm run soak` runs no others. Where the contracts run in other projects, the
 * tag is unknown and left out.
 */
export const SIZED = process.env['SIZED_TAG'] === undefined ? {} : { tags: SIZED_TAG };

/** How many runs, rounds or messages a test takes. */
export function sized({ small, full }: { readonly small: number; readonly full: number }): number {
  return factor === null ? small : Math.ceil(full * factor);
}

/** A time limit in milliseconds that grows with the size. */
export function sizedLimitMs(fullMs: number): number {
  return fullMs * (factor ?? 1);
}

/** All items at full size; at small size `count` of them, evenly spread: the first, and of several the last. */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (IS_FULL || items.length <= count) return items;
  const step = (items.length - 1) / Math.max(count - 1, 1);
  const chosen = new Set(Array.from({ length: count }, (_, index) => Math.round(index * step)));
  return items.filter((_, index) => chosen.has(index));
}

/** All items at full size; at small size the first of each class. */
export function firstOfEach<Item>(items: readonly Item[], classOf: (item: Item) => unknown): readonly Item[] {
  if (IS_FULL) return items;
  return [...Map.groupBy(items, classOf).values()].flatMap(([first]) => (first === undefined ? [] : [first]));
}
