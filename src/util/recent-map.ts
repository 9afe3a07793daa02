/** A map of at most `max` entries: setting a key makes it the newest, and the oldest ones leave. */
export function createRecentMap<Key, Value>(max: number): Map<Key, Value> {
  return new RecentMap(max);
}

/** What leaves a full map at once. Iterating skips all keys that have left, so one at a time would take the square. */
const LEAVING_SHARE = 1 / 8;

class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#max) this.#dropOldest();
    return this;
  }

  /** An iterator that is kept would keep every table that the map has outgrown, with its values. */
  #dropOldest(): void {
    const left = this.#max - Math.floor(this.#max * LEAVING_SHARE);
    for (const key of this.keys()) {
      if (this.size <= left) return;
      this.delete(key);
    }
  }
}
