/** A map of at most `max` entries: setting a key makes it the newest, and the oldest one leaves. */
export function createRecentMap<Key, Value>(max: number): Map<Key, Value> {
  return new RecentMap(max);
}

class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const oldest = this.keys().next();
    if (this.size > this.#max && !oldest.done) this.delete(oldest.value);
    return this;
  }
}
