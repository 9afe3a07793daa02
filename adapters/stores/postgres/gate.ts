/** Lets a number of users in at a time; the others wait in the order in which they came. */
export interface Gate {
  /** Resolves with what the user calls, once, when it leaves. */
  enter(): Promise<() => void>;
}

export function createGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    async enter() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return leave;
    },
  };
}
