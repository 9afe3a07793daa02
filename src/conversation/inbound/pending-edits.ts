import type { ConversationKey, Part } from '../../domain/message.ts';

/** What happened to a message before it was stored. */
export type PendingEdit = { readonly kind: 'edited'; readonly parts: readonly Part[] } | { readonly kind: 'removed' };

const HELD_MS = 600_000;
const MAX_HELD = 1000;

/**
 * Edits and deletions that may have overtaken their message, because a platform that redelivers or delays messages does
 * not keep order. Kept in memory for ten minutes. Text that is already deleted is left alone.
 */
export interface PendingEdits {
  hold(message: MessageId, change: PendingEdit, now: number): void;
  /** The change was applied to the stored message. */
  release(message: MessageId): void;
  of(message: MessageId): PendingEdit | null;
}

export interface MessageId {
  readonly conversation: ConversationKey;
  readonly externalId: string;
}

export function createPendingEdits(): PendingEdits {
  // In order of arrival, because a map keeps insertion order.
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
