/** Reproducible randomness: each part of the harness uses its own stream, so that none affects another's. */
export interface Chance {
  /** 0 <= x < 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  happens(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  shuffled<Item>(items: readonly Item[]): readonly Item[];
}

export function createChance(seed: number, stream: string): Chance {
  let state = [...stream].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed | 0);
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    happens: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    shuffled: (items) =>
      items
        .map((item) => ({ item, rank: next() }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
  };
}
