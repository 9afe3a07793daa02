/**
 * Returns results in the order of the requests, however long each takes: a hook that is slow with one message must not
 * let the next message of the conversation overtake it.
 */
export function createOrder<Key>(): <Value>(key: Key, work: Promise<Value>) => Promise<Value> {
  const last = new Map<Key, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key);
    // The results themselves would nest deeper with each request.
    const settled = Promise.allSettled([before, work]).then(() => undefined);
    last.set(key, settled);
    await settled;
    if (last.get(key) === settled) last.delete(key);
    return await work;
  };
}
