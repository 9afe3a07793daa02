import type { Audience } from '../domain/message.ts';

/** Asks for the right to work on a conversation until `now + leaseMs`. */
export interface ClaimRequest {
  readonly work: 'reply' | 'maintenance';
  readonly conversationId: number;
  readonly now: number;
  readonly leaseMs: number;
}

/** How the work under a claim ended. */
export type ReleaseOutcome =
  /** A reply without a commit (nothing to say, or aborted): it stays owed unless `answeredUpto` is given. */
  | { readonly work: 'reply'; readonly answeredUpto: number | null }
  /**
   * `seenNextSeq` prevents losing a message that arrived in between: `maintainAt` is written only if it still matches.
   */
  | {
      readonly work: 'maintenance';
      readonly kind: 'done';
      readonly seenNextSeq: number;
      readonly maintainAt: number | null;
    }
  | { readonly work: 'maintenance'; readonly kind: 'failed'; readonly error: string; readonly nextAttemptAt: number };

/** No pause after failed maintenance lasts longer. A later `nextAttemptAt` was stored before the clock was set back. */
export const MAX_PAUSE_MS = 2 * 60 * 60_000;

/** A change of a whole conversation. */
export type ConversationChange =
  /** Keeps the archive; the view starts empty, and children are deleted. Invalidates every running job. */
  | { readonly kind: 'reset'; readonly now: number }
  /**
   * Who can read the place from now on. A narrower audience also applies to what was stored there; a wider one reveals
   * nothing. Running replies and waiting posts that contain what their readers may no longer see are owed again.
   */
  | { readonly kind: 'audience'; readonly audience: Audience; readonly now: number }
  /**
   * Deletes everything: entries, layers, memories of this place, outbox, blobs, children. The first transaction hides all
   * of it; resolves when it is deleted. After a crash, the next start deletes the rest.
   */
  | { readonly kind: 'purge' }
  /** Deletes a child. Unlike after `purge`, its text may stay in unused pages of the files for a moment. */
  | { readonly kind: 'end' }
  /** Redacts entries older than the given time, and what was derived from them. */
  | { readonly kind: 'expire'; readonly before: number; readonly now: number }
  /** A worker checks the conversation at this time at the latest. */
  | { readonly kind: 'maintain'; readonly at: number };
