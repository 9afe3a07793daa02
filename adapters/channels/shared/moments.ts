/** A time that the platform shows to each reader in their own zone. Null if no calendar has it. */
export function momentOf(seconds: number): string | null {
  const moment = new Date(seconds * 1000);
  return Number.isNaN(moment.getTime()) ? null : `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
