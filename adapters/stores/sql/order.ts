/**
 * Runs the tasks of one key in order, each after the previous one has ended. Otherwise two messages of one person could
 * change places where units run concurrently.
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
