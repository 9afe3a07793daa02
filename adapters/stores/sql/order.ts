/**
 * Runs what belongs to one key in the order in which it was given, each after the one before it has ended. Where units
 * run side by side, two messages of one person could change places otherwise.
 */
export function createOrder(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key);
    const result = before === undefined ? work() : before.then(work, work);
    last.set(key, result);
    try {
      return await result;
    } finally {
      if (last.get(key) === result) last.delete(key);
    }
  };
}
