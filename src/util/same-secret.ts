import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a secret is the right one. The duration reveals neither its length nor how much of it is right. */
export function isSameSecret(given: string, right: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(right));
}

/** Only values of the same length can be compared in constant time. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
