/** A map of at most `max` entries: setting a key makes it the newest, and the oldest one leaves. */
export function createRecentMap<Key, Value>(max: number): Map<Key, Value> {
  return new RecentMap(max);
}

class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;
  /** What it has passed is gone: a new one would first skip all keys that have left, one by one. */
  #oldest = this.keys();

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

  #dropOldest(): void {
    let oldest = this.#oldest.next();
    if (oldest.done) {
      this.#oldest = this.keys();
      oldest = this.#oldest.next();
    }
    if (!oldest.done) this.delete(oldest.value);
  }
}
