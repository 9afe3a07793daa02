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
  const lines = new Map<ConversationKey, Line>();
  const onError = (error: unknown) =>
    parts.events.emit({ kind: 'error.internal', conversation: null, message: describe(error) });

  const lineOf = (conversation: ConversationKey, conversationId: number): Line => {
    const line = lines.get(conversation) ?? { conversationId, box: createMailbox({ onError }), waitedMs: 0 };
    lines.set(conversation, line);
    return line;
  };

  return {
    deliver(conversation, posts, options) {
      const [first] = posts;
      if (first === undefined) return;
      const line = lineOf(conversation, first.conversationId);
      const recovered = options?.recovered ?? false;
      const queued = { line, recovered, at: parts.clock.now(), waitedBeforeMs: line.waitedMs };
      for (const post of posts) line.box.put(() => deliverOne(posting, { conversation, post, queued }));
      line.box.drained().then(() => {
        if (!line.box.busy && lines.get(conversation) === line) lines.delete(conversation);
      }, onError);
    },
    between: gate.change,
    async hold() {
      const ids = [...lines.values()].map(({ conversationId }) => conversationId);
      if (ids.length > 0) await parts.store.hold(ids, parts.clock.now());
    },
    settled: (conversation) => lines.get(conversation)?.box.drained() ?? Promise.resolve(),
    async drained() {
      await Promise.all([...lines.values()].map(({ box }) => box.drained()));
    },
  };
}

interface Posting extends OutboxOptions {
  readonly gate: PostGate;
}

/** The posts of one conversation, until all of them have been posted. */
interface Line {
  readonly conversationId: number;
  readonly box: Mailbox;
  /**
   * The pauses so far. The clock does not tell for how long the platform has been away: it may have been set, and the
   * computer suspended.
   */
  waitedMs: number;
}

/** One reply in its line. Its chunks are given up together, so that no reply is posted without its start. */
interface Queued {
  readonly line: Line;
  readonly recovered: boolean;
  readonly at: number;
  readonly waitedBeforeMs: number;
}

interface Delivery {
  readonly conversation: ConversationKey;
  readonly post: PostRow;
  readonly queued: Queued;
}

/** Retries until the platform accepts the post or rejects it permanently, has been away for an hour, or the process ends. */
async function deliverOne(options: Posting, delivery: Delivery): Promise<void> {
  const { store, events, signal, gate } = options;
  const { conversation, post, queued } = delivery;
  const { recovered } = queued;
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
        const mayBeOver = waited || recovered || mayBeOld(options, queued);
        if (posted === null && mayBeOver && !(await isWanted(store, post))) return null;
        posted ??= (await channel.post({ ...post, conversation, attempt }, { signal })).platformMessageId;
        await store.sent(post.id, posted);
        return posted;
      });
      if (id === null) return;
      return events.emit({ kind: 'reply.posted', conversation, chunk: post.chunk, platformMessageId: id });
    } catch (error) {
      if (signal.aborted) return;
      if (posted === null && shouldGiveUp(error, queued)) return await giveUp(options, delivery, error);
      await waitForRetry(options, delivery, { error, failures: attempt - before });
    }
  }
}

/** A waiting post may have been deleted since, or posted by another process that considered this one dead. */
async function isWanted(store: OutboxStore, { id, conversationId }: PostRow): Promise<boolean> {
  return (await store.pending(conversationId)).some((post) => post.id === id);
}

/** Also if the clock was set back since it was queued. */
function mayBeOld({ clock }: Posting, { at }: Queued): boolean {
  return Math.abs(clock.now() - at) >= FIRST_PAUSE_MS;
}

/** The platform will never accept it, or nobody waits for it any more. */
function shouldGiveUp(error: unknown, { line, waitedBeforeMs }: Queued): boolean {
  const isLate = line.waitedMs - waitedBeforeMs >= MAX_RETRY_MS;
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
  { conversation, post, queued: { line } }: Delivery,
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
  // In parts: a reply that is queued during a long pause has waited only for the rest of it.
  for (let leftMs = pauseMs; leftMs > 0 && !signal.aborted; leftMs -= MAX_PAUSE_MS) {
    const partMs = Math.min(leftMs, MAX_PAUSE_MS);
    await clock.sleep(partMs, { signal }).catch(() => undefined);
    line.waitedMs += partMs;
  }
}
