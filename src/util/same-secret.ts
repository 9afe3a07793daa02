import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a secret is the right one. How long that takes tells nothing about how much of it is right, or its length. */
export function isSameSecret(given: string, right: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(right));
}

/** Only values of the same length can be compared in constant time. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
