/** A whole number from an address; null for anything else. */
export function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/u.test(text) ? Number(text) : null;
}
