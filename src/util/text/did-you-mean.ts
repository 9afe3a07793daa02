/** The known word that a mistyped one probably means, or null if none is close. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  const typed = word.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const name of known) {
    const distance = name.startsWith(typed) && typed.length >= 2 ? 1 : editDistance(typed, name.toLowerCase());
    if (best === null || distance < best.distance) best = { name, distance };
  }
  const limit = typed.length <= 3 ? 1 : Math.max(2, Math.floor(typed.length / 3));
  return best !== null && best.distance <= limit ? best.name : null;
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(from: string, to: string): number {
  const a = Array.from(from.slice(0, 64));
  const b = Array.from(to.slice(0, 64));
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of a.entries()) {
    const current = [row + 1];
    for (const [column, other] of b.entries()) {
      const replaced = at(last, column) + (letter === other ? 0 : 1);
      const shortest = Math.min(replaced, at(last, column + 1) + 1, at(current, column) + 1);
      const swaps = row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === other;
      current.push(swaps ? Math.min(shortest, at(beforeLast, column - 1) + 1) : shortest);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
