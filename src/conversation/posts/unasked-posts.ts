import type { NewPost, PostBody } from '../../ports/outbox-store.ts';

/**
 * The random part of an id and the end of its time. Together with the chunk number, this is as long as a nonce may be.
 */
const NONCE_FROM = 6;

/** Posts without a turn. */
export function unaskedPosts(
  bodies: readonly PostBody[],
  of: { readonly id: string; readonly replyTo: string | null; readonly now: number },
): readonly NewPost[] {
  return bodies.map((body, chunk) => ({
    nonce: `${of.id.slice(NONCE_FROM)}-${chunk.toString(36)}`,
    chunk,
    body,
    replyTo: chunk === 0 ? of.replyTo : null,
    unaskedAt: of.now,
  }));
}
