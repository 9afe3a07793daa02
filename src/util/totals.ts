/** The sum at an index counts the items before it, and the last one counts all of them. */
export function totals<Item>(items: readonly Item[], of: (item: Item) => number): readonly number[] {
  const sums = [0];
  let sum = 0;
  for (const item of items) {
    sum += of(item);
    sums.push(sum);
  }
  return sums;
}

/** The sum of the items from one index up to, but not including, another one. */
export function between(sums: readonly number[], from: number, end: number): number {
  return (sums[end] ?? 0) - (sums[from] ?? 0);
}
