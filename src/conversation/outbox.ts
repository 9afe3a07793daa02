import { describe } from '../errors.ts';
import type { Events } from '../events.ts';
import type { ConversationKey } from '../message.ts';
import type { Channel } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import type { OutboxStore, PostRow } from '../ports/store.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';

const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;

/** Posts what turns have committed: in order within a conversation, side by side between them. */
export interface Outbox {
  /** Queues posts; returns at once. `recovered` ones may have reached the platform before a crash. */
  deliver(conversation: ConversationKey, posts: readonly PostRow[], options?: { readonly recovered: boolean }): void;
  /** Tells the store that what is not posted yet still will be. */
  hold(): Promise<void>;
  /** Resolves when nothing of the conversation is left to post. */
  settled(conversation: ConversationKey): Promise<void>;
  /** The same for all of them. */
  drained(): Promise<void>;
}

export interface OutboxParts {
  readonly store: OutboxStore;
  readonly channelOf: (conversation: ConversationKey) => Channel | null;
  readonly events: Events;
  readonly clock: Clock;
  /** Ends waiting and posting; what is left stays pending for the next start. */
  readonly signal: AbortSignal;
}

export function createOutbox(parts: OutboxParts): Outbox {
  const boxes = new Map<ConversationKey, Mailbox>();
  const ids = new Map<ConversationKey, number>();
  const onError = (error: unknown) =>
    parts.events.emit({ kind: 'error.internal', conversation: null, message: describe(error) });

  const boxOf = (conversation: ConversationKey): Mailbox => {
    const box = boxes.get(conversation) ?? createMailbox({ onError });
    boxes.set(conversation, box);
    return box;
  };

  return {
    deliver(conversation, posts, options) {
      const box = boxOf(conversation);
      const recovered = options?.recovered ?? false;
      for (const { conversationId } of posts.slice(0, 1)) ids.set(conversation, conversationId);
      for (const post of posts) box.put(() => deliverOne(parts, conversation, { post, recovered }));
      box.drained().then(() => {
        if (box.busy || boxes.get(conversation) !== box) return;
        boxes.delete(conversation);
        ids.delete(conversation);
      }, onError);
    },
    async hold() {
      if (ids.size > 0) await parts.store.hold([...ids.values()], parts.clock.now());
    },
    settled: (conversation) => boxes.get(conversation)?.drained() ?? Promise.resolve(),
    async drained() {
      await Promise.all([...boxes.values()].map((box) => box.drained()));
    },
  };
}

interface Delivery {
  readonly post: PostRow;
  readonly recovered: boolean;
}

/** Tries until the platform takes the post, the attempts are used up, or the process ends. */
async function deliverOne(
  parts: OutboxParts,
  conversation: ConversationKey,
  { post, recovered }: Delivery,
): Promise<void> {
  const channel = parts.channelOf(conversation);
  // A platform that is not connected in this process keeps its posts for one where it is.
  if (channel === null) return;
  const before = recovered ? post.attempts + 1 : post.attempts;
  for (let attempt = before + 1; !parts.signal.aborted; attempt += 1) {
    try {
      if (attempt > 1) await parts.store.attempt(post.id);
      const receipt = await channel.post({ ...post, conversation, attempt }, { signal: parts.signal });
      await parts.store.sent(post.id, receipt.platformMessageId);
      parts.events.emit({
        kind: 'reply.posted',
        conversation,
        chunk: post.chunk,
        platformMessageId: receipt.platformMessageId,
      });
      return;
    } catch (error) {
      if (parts.signal.aborted) return;
      parts.events.emit({ kind: 'reply.failed', conversation, chunk: post.chunk, message: describe(error) });
      if (attempt - before >= ATTEMPTS) return await parts.store.failed(post.id, describe(error));
      await parts.clock
        .sleep(FIRST_PAUSE_MS * 2 ** (attempt - before - 1), { signal: parts.signal })
        .catch(() => undefined);
    }
  }
}
