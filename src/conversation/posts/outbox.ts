import { describe, isStrataError } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Channel } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Events } from '../../ports/events.ts';
import type { OutboxStore, PostRow } from '../../ports/outbox-store.ts';
import { createMailbox, type Mailbox } from '../../util/async/mailbox.ts';
import { HOUR_MS } from '../../util/time/time.ts';
import type { HeldReplies } from './held-replies.ts';
import { createPostGate, type PostGate } from './post-gate.ts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
/** Platform outages last minutes, rarely an hour. Nobody waits for an answer for longer. */
const MAX_RETRY_MS = HOUR_MS;

/** Posts what turns have committed: in order within a conversation, concurrently across conversations. */
export interface Outbox {
  /** Queues posts; returns at once. `recovered` posts may have reached the platform before a crash. */
  deliver(conversation: ConversationKey, posts: readonly PostRow[], options?: { readonly recovered: boolean }): void;
  /** Runs a change that may withdraw unsent posts, between attempts to post in its place. */
  readonly between: PostGate['change'];
  /** Tells the store that this process will still post what is pending. */
  hold(): Promise<void>;
  /** Resolves when the conversation has nothing left to post. */
  settled(conversation: ConversationKey): Promise<void>;
  /** The same for all conversations. */
  drained(): Promise<void>;
}

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly channelOf: (conversation: ConversationKey) => Channel | null;
  /** Posts of an earlier run wait until missed deletions are applied: they may repeat what was deleted. */
  readonly freed: HeldReplies['freed'];
  readonly events: Events;
  readonly clock: Clock;
  /** Stops waiting and posting. Unsent posts stay pending for the next start. */
  readonly signal: AbortSignal;
}

export function createOutbox(parts: OutboxOptions): Outbox {
  const gate = createPostGate(parts.clock);
  const posting = { ...parts, gate };
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
      const [first] = posts;
      if (first !== undefined) ids.set(conversation, first.conversationId);
      for (const post of posts) box.put(() => deliverOne(posting, { conversation, post, recovered, since }));
      box.drained().then(() => {
        if (box.busy || boxes.get(conversation) !== box) return;
        boxes.delete(conversation);
        ids.delete(conversation);
      }, onError);
    },
    between: gate.change,
    async hold() {
      if (ids.size > 0) await parts.store.hold([...ids.values()], parts.clock.now());
    },
    settled: (conversation) => boxes.get(conversation)?.drained() ?? Promise.resolve(),
    async drained() {
      await Promise.all([...boxes.values()].map((box) => box.drained()));
    },
  };
}

interface Posting extends OutboxOptions {
  readonly gate: PostGate;
}

interface Delivery {
  readonly conversation: ConversationKey;
  readonly post: PostRow;
  readonly recovered: boolean;
  /** When the reply was queued. Its chunks are given up together, so that no reply is posted without its start. */
  readonly since: number;
}

/** Retries until the platform accepts the post or rejects it permanently, an hour has passed, or the process ends. */
async function deliverOne(options: Posting, delivery: Delivery): Promise<void> {
  const { store, clock, events, signal, gate } = options;
  const { conversation, post, recovered, since } = delivery;
  const channel = options.channelOf(conversation);
  // If a platform is not connected in this process, its posts wait for a process where it is.
  if (channel === null) return;
  const before = recovered ? post.attempts + 1 : post.attempts;
  let posted: string | null = null;
  if (recovered) await options.freed(conversation, signal);
  // Its failure must not skip the post, or later ones would overtake it.
  if (recovered) await store.attempt(post.id, null).catch(() => undefined);
  for (let attempt = before + 1; !signal.aborted; attempt += 1) {
    try {
      const id = await gate.attempt(conversation, async (waited) => {
        const mayBeOver = waited || recovered || clock.now() >= since + FIRST_PAUSE_MS;
        if (posted === null && mayBeOver && !(await isWanted(store, post))) return null;
        posted ??= (await channel.post({ ...post, conversation, attempt }, { signal })).platformMessageId;
        await store.sent(post.id, posted);
        return posted;
      });
      if (id === null) return;
      return events.emit({ kind: 'reply.posted', conversation, chunk: post.chunk, platformMessageId: id });
    } catch (error) {
      if (signal.aborted) return;
      if (posted === null && shouldGiveUp(error, clock.now() >= since + MAX_RETRY_MS))
        return await giveUp(options, delivery, error);
      await waitForRetry(options, delivery, { error, failures: attempt - before });
    }
  }
}

/** A waiting post may have been deleted since, or posted by another process that considered this one dead. */
async function isWanted(store: OutboxStore, { id, conversationId }: PostRow): Promise<boolean> {
  return (await store.pending(conversationId)).some((post) => post.id === id);
}

/** The platform will never accept it, or nobody waits for it any more. */
function shouldGiveUp(error: unknown, isLate: boolean): boolean {
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

/**
 * The next attempt is counted before the wait, so that status shows the reason and a crash during the wait loses
 * nothing.
 */
async function waitForRetry(
  { store, clock, events, signal }: OutboxOptions,
  { conversation, post }: Delivery,
  { error, failures }: { readonly error: unknown; readonly failures: number },
): Promise<void> {
  const message = describe(error);
  const asked = isStrataError(error, 'POST_FAILED') ? (error.data.retryAfterMs ?? 0) : 0;
  const backoffMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  // Everything else that the conversation posts waits behind this.
  const pauseMs = Math.min(MAX_RETRY_MS, Math.max(asked, backoffMs));
  const nextAttemptAt = clock.now() + pauseMs;
  events.emit({ kind: 'reply.delayed', conversation, chunk: post.chunk, message, failures, nextAttemptAt });
  await store.attempt(post.id, message).catch(() => undefined);
  await clock.sleep(pauseMs, { signal }).catch(() => undefined);
}
