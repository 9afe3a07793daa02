import type { NewPost, PostBody } from '../ports/outbox-store.ts';

/** Of an id, the part that chance made and the end of its time: with the chunk no more than a nonce may have. */
const NONCE_FROM = 6;

/** Posts that no turn makes. */
export function unaskedPosts(
  bodies: readonly PostBody[],
  of: { readonly id: string; readonly replyTo: string | null; readonly now: number },
): readonly NewPost[] {
  return bodies.map((body, chunk) => ({
    nonce: `${of.id.slice(NONCE_FROM)}-${chunk.toString(36)}`,
    ...{ chunk, body, replyTo: chunk === 0 ? of.replyTo : null, unaskedAt: of.now },
  }));
}
