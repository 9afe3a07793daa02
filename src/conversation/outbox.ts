import { describe, isStrataError } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Channel } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import type { Events } from '../ports/events.ts';
import type { OutboxStore, PostRow } from '../ports/outbox-store.ts';
import { createMailbox, type Mailbox } from '../util/mailbox.ts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
/** An outage of a platform takes minutes, seldom an hour. What is older is an answer that nobody waits for. */
const PATIENCE_MS = 60 * 60_000;

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

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly channelOf: (conversation: ConversationKey) => Channel | null;
  readonly events: Events;
  readonly clock: Clock;
  /** Ends waiting and posting; what is left stays pending for the next start. */
  readonly signal: AbortSignal;
}

export function createOutbox(parts: OutboxOptions): Outbox {
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
      const since = parts.clock.now();
      for (const { conversationId } of posts.slice(0, 1)) ids.set(conversation, conversationId);
      for (const post of posts) box.put(() => deliverOne(parts, { conversation, post, recovered, since }));
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
  readonly conversation: ConversationKey;
  readonly post: PostRow;
  readonly recovered: boolean;
  /** For all of them together: nobody wants the end of a reply whose beginning was given up. */
  readonly since: number;
}

/** Tries until the platform takes the post or refuses it for good, patience is over, or the process ends. */
async function deliverOne(options: OutboxOptions, delivery: Delivery): Promise<void> {
  const { store, clock, events, signal } = options;
  const { conversation, post, recovered, since } = delivery;
  const channel = options.channelOf(conversation);
  // A platform that is not connected in this process keeps its posts for one where it is.
  if (channel === null) return;
  const before = recovered ? post.attempts + 1 : post.attempts;
  let posted: string | null = null;
  // Not worth a break: what comes behind it would be posted first.
  if (recovered) await store.attempt(post.id, null).catch(() => undefined);
  for (let attempt = before + 1; !signal.aborted; attempt += 1) {
    try {
      const mayBeOver = recovered || clock.now() >= since + FIRST_PAUSE_MS;
      if (posted === null && mayBeOver && !(await isWanted(store, post))) return;
      posted ??= (await channel.post({ ...post, conversation, attempt }, { signal })).platformMessageId;
      await store.sent(post.id, posted);
      return events.emit({ kind: 'reply.posted', conversation, chunk: post.chunk, platformMessageId: posted });
    } catch (error) {
      if (signal.aborted) return;
      if (posted === null && isHopeless(error, clock.now() >= since + PATIENCE_MS))
        return await giveUp(options, delivery, error);
      await pause(options, delivery, { error, failures: attempt - before });
    }
  }
}

/** What has waited may have been deleted since, or posted by a process that took this one for dead. */
async function isWanted(store: OutboxStore, { id, conversationId }: PostRow): Promise<boolean> {
  return (await store.pending(conversationId)).some((post) => post.id === id);
}

/** The platform said that it will never take it, or nobody waits for it any more. */
function isHopeless(error: unknown, isLate: boolean): boolean {
  return isLate || (isStrataError(error, 'POST_FAILED') && error.data.final);
}

async function giveUp(
  { store, events }: OutboxOptions,
  { conversation, post }: Delivery,
  error: unknown,
): Promise<void> {
  events.emit({ kind: 'reply.failed', conversation, chunk: post.chunk, message: describe(error) });
  await store.failed(post.id, describe(error));
}

/** The next attempt is counted before it is waited for: whoever looks sees why, and a crash during the wait loses nothing. */
async function pause(
  { store, clock, events, signal }: OutboxOptions,
  { conversation, post }: Delivery,
  { error, failures }: { readonly error: unknown; readonly failures: number },
): Promise<void> {
  const message = describe(error);
  const asked = isStrataError(error, 'POST_FAILED') ? (error.data.retryAfterMs ?? 0) : 0;
  const pauseMs = Math.max(asked, Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)));
  const nextAttemptAt = clock.now() + pauseMs;
  events.emit({ kind: 'reply.delayed', conversation, chunk: post.chunk, message, failures, nextAttemptAt });
  await store.attempt(post.id, message).catch(() => undefined);
  await clock.sleep(pauseMs, { signal }).catch(() => undefined);
}
