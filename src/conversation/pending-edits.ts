import type { ConversationKey, Part } from '../domain/message.ts';

/** What became of a message before the message itself was stored. */
export type PendingEdit = { readonly kind: 'edited'; readonly parts: readonly Part[] } | { readonly kind: 'removed' };

const HELD_MS = 600_000;
const MAX_HELD = 1000;

/**
 * Edits and deletions that may have overtaken their message: a platform that delivers a message again, or slowly, keeps
 * no order. Held in memory for ten minutes; nothing is done to what is deleted already.
 */
export interface PendingEdits {
  hold(message: MessageId, change: PendingEdit, now: number): void;
  /** The change was made to the stored message. */
  release(message: MessageId): void;
  of(message: MessageId): PendingEdit | null;
}

export interface MessageId {
  readonly conversation: ConversationKey;
  readonly externalId: string;
}

export function createPendingEdits(): PendingEdits {
  // In the order of holding: a map keeps the order of insertion.
  const held = new Map<string, { readonly change: PendingEdit; readonly at: number }>();
  const nameOf = ({ conversation, externalId }: MessageId) => `${conversation} ${externalId}`;
  return {
    hold(message, change, now) {
      const name = nameOf(message);
      if (held.get(name)?.change.kind === 'removed') return;
      held.delete(name);
      held.set(name, { change, at: now });
      for (const [old, { at }] of held) {
        if (held.size <= MAX_HELD && now - at < HELD_MS) return;
        held.delete(old);
      }
    },
    release: (message) => held.delete(nameOf(message)),
    of: (message) => held.get(nameOf(message))?.change ?? null,
  };
}
