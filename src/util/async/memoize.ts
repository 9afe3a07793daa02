interface Known<Key, Value> {
  get(key: Key): { readonly value: Value } | undefined;
  set(key: Key, made: { readonly value: Value }): unknown;
}

/** Calls `make` once for each key. With a `WeakMap`, a value is kept as long as its key. */
export function memoize<Key, Value>(
  make: (key: Key) => Value,
  known: Known<Key, Value> = new Map(),
): (key: Key) => Value {
  return (key) => {
    const made = known.get(key) ?? { value: make(key) };
    known.set(key, made);
    return made.value;
  };
}
