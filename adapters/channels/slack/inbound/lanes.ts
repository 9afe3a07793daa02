/** Runs work in order within each lane, and lanes concurrently. Each caller handles its own failures. */
export type Lanes = (names: readonly string[], work: () => Promise<void>) => Promise<void>;

export function createLanes(): Lanes {
  const ends = new Map<string, Promise<void>>();
  return (names, work) => {
    const before = names.map((name) => ends.get(name) ?? Promise.resolve());
    const own = Promise.all(before).then(work);
    const end = own.catch(() => undefined);
    for (const name of names) ends.set(name, end);
    end.then(() => {
      for (const name of names) if (ends.get(name) === end) ends.delete(name);
    }, undefined);
    return own;
  };
}
