/** What a value is, for programs without a compiler. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Promise) return 'a promise';
  return Array.isArray(value) ? 'a list' : typeof value;
}
