export interface NewPost {
  readonly nonce: string;
  readonly chunk: number;
  readonly body: PostBody;
  readonly replyTo: string | null;
  /** When it was committed, for a post that answers nobody; absent for a reply. Epoch milliseconds. */
  readonly unaskedAt?: number;
}

export type PostBody =
  | { readonly kind: 'text'; readonly text: string }
  /** A text that comes as a file. */
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** Any other file. `text` stands for it where files cannot be shown. */
  | {
      readonly kind: 'attachment';
      readonly name: string;
      readonly mediaType: string;
      readonly base64: string;
      readonly text: string;
    };

export interface PostRow extends NewPost {
  readonly id: number;
  readonly conversationId: number;
  readonly turn: number;
  readonly state: 'pending' | 'sent' | 'failed';
  /** Attempts that failed, or that nobody knows the end of. */
  readonly attempts: number;
  /** Why the last of them failed; null when nobody knows. */
  readonly reason: string | null;
  readonly platformMessageId: string | null;
}

/**
 * A process posts what its turns commit. For this long after the commit, and after each `hold`, the posts are its own;
 * then it is taken to be dead, and another process may `take` them.
 */
export const POST_HOLD_MS = 15_000;

export interface OutboxStore {
  /** Unsent posts of one conversation, or of all, in the order in which they must go out. */
  pending(conversationId: number | null): Promise<readonly PostRow[]>;
  /** Unsent posts of the platform that nobody holds, the oldest first: the caller holds them from now on. */
  take(request: {
    readonly platform: string;
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly PostRow[]>;
  /** The unsent posts of these conversations are still being posted. */
  hold(conversationIds: readonly number[], now: number): Promise<void>;
  /** One more attempt follows: counted before it is made, so that a crash in between is seen. `reason` is why the last failed. */
  attempt(id: number, reason: string | null): Promise<void>;
  sent(id: number, platformMessageId: string): Promise<void>;
  /** Given up: reported, not retried. */
  failed(id: number, reason: string): Promise<void>;
}
