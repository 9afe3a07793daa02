/** A post as it is committed with its turn. */
export interface NewPost {
  /** Unique among the posts of the conversation. */
  readonly nonce: string;
  /** Its place among the posts of the message, from 0. */
  readonly chunk: number;
  readonly body: PostBody;
  readonly replyTo: string | null;
  /** When it was committed, for a post that answers no message; absent for a reply. Epoch milliseconds. */
  readonly unaskedAt?: number;
}

/** What a post shows. */
export type PostBody =
  | { readonly kind: 'text'; readonly text: string }
  /** A text sent as a file. */
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** Any other file. `text` replaces it where files cannot be shown. */
  | {
      readonly kind: 'attachment';
      readonly name: string;
      readonly mediaType: string;
      readonly base64: string;
      readonly text: string;
    };

/** A stored post. */
export interface PostRow extends NewPost {
  readonly id: number;
  readonly conversationId: number;
  readonly turn: number;
  readonly state: 'pending' | 'sent' | 'failed';
  /** Attempts that failed or whose outcome is unknown. */
  readonly attempts: number;
  /** Why the last attempt failed; null if unknown. */
  readonly reason: string | null;
  readonly platformMessageId: string | null;
}

/**
 * A process posts what its turns commit. The posts belong to it for this long after the commit and after each `hold`.
 * Then it is considered dead, and another process may `take` them.
 */
export const POST_HOLD_MS = 15_000;

/** Posts that wait to be sent. */
export interface OutboxStore {
  /** Unsent posts of one or all conversations, in the order in which they must be sent. */
  pending(conversationId: number | null): Promise<readonly PostRow[]>;
  /** Unsent posts of the platform that no process holds, oldest first. The caller now holds them. */
  take(request: {
    readonly platform: string;
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly PostRow[]>;
  /** Renews the hold on the unsent posts of these conversations. */
  hold(conversationIds: readonly number[], now: number): Promise<void>;
  /**
   * Counts an attempt before it is made, so that a crash during the attempt is noticed. `reason` is why the previous
   * one failed.
   */
  attempt(id: number, reason: string | null): Promise<void>;
  sent(id: number, platformMessageId: string): Promise<void>;
  /** Given up: reported, not retried. */
  failed(id: number, reason: string): Promise<void>;
}
