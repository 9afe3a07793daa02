/** Admits a limited number of users at a time; the others wait in order of arrival. */
export interface Gate {
  /** Resolves with a function that the user calls once to leave. */
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
