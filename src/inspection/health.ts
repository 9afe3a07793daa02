import type { CommandServices } from '../commands/services.ts';
import { sumOf } from '../costs/format.ts';
import type { ConversationKey } from '../domain/message.ts';
import { pausedModels } from '../models/breaker.ts';
import type { Spent } from '../ports/journal.ts';
import type { QueueStats } from '../ports/queue.ts';
import type { Conversation } from '../ports/store.ts';

/** What is due, what waits, and what went wrong. */
export interface Health {
  readonly queue: QueueStats;
  /** Conversations with due maintenance or an owed reply that nobody works on; at most `MAX_DUE` of each. */
  readonly maintenance: DueWork;
  readonly replies: DueWork;
  /** Posts that no platform has accepted yet. */
  readonly unsentPosts: number;
  readonly pausedModels: readonly { readonly model: string; readonly untilAt: number; readonly message: string }[];
  /** One sentence if the configuration on disk is not the one in use. */
  readonly configTrouble: string | null;
  /** Model calls since the start of the (UTC) day. */
  readonly today: Spent;
  readonly dataLocation: string;
}

/** Conversations with work that is due. `first`: some of those that wait longest. */
export interface DueWork {
  readonly count: number;
  /** `count` has reached its limit, so there may be more. */
  readonly isMore: boolean;
  readonly oldestAt: number | null;
  readonly first: readonly ConversationKey[];
}

const MAX_DUE = 500;
const MAX_NAMED = 5;

export async function healthOf(services: CommandServices): Promise<Health> {
  const { store, queue, clock, state } = services;
  const now = clock.now();
  const query = { now, limit: MAX_DUE };
  const [maintenance, replies, posts, paused, spending] = await Promise.all([
    store.conversations.due('maintenance', query),
    store.conversations.due('reply', query),
    store.outbox.pending(null),
    pausedModels(state, now),
    store.journal.spending({ by: 'purpose', since: now, conversationId: null, limit: 100 }),
  ]);
  return {
    queue: queue.stats(),
    maintenance: dueWork(maintenance, ({ maintainAt }) => maintainAt),
    replies: dueWork(replies, ({ lastActivityAt }) => lastActivityAt),
    unsentPosts: posts.length,
    pausedModels: paused,
    configTrouble: services.configTrouble(),
    today: sumOf(spending),
    dataLocation: services.dataLocation,
  };
}

function dueWork(due: readonly Conversation[], since: (conversation: Conversation) => number | null): DueWork {
  const [oldest] = due;
  return {
    count: due.length,
    isMore: due.length === MAX_DUE,
    oldestAt: oldest === undefined ? null : since(oldest),
    first: due.slice(0, MAX_NAMED).map(({ key }) => key),
  };
}
