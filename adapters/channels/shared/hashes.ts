import { createHash } from 'node:crypto';
import type { Post } from '../../../src/adapter-kit.ts';

/**
 * Identifies a post on the platform. Includes the text: after the data was wiped, another reply may get the same nonce
 * from the store.
 */
export function nonceOf({ nonce, conversation, body }: Pick<Post, 'nonce' | 'conversation' | 'body'>): string {
  const whole = [nonce, conversation, body.kind, body.text].join('\n');
  return createHash('sha256').update(whole).digest('base64url').slice(0, 25);
}

/** The secret with which a bot signs its buttons. */
export function buttonSecretOf(token: string): string {
  return createHash('sha256').update(`buttons ${token}`).digest('hex');
}
