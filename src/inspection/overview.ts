import type { CommandServices } from '../commands/services.ts';
import { owesReply } from '../conversation/state/snapshot.ts';
import { sumOf } from '../costs/format.ts';
import type { Audience, ConversationKey } from '../domain/message.ts';
import type { Spent } from '../ports/journal.ts';
import type { Conversation } from '../ports/store.ts';
import type { GaugeReading, Gauges } from './history/gauges.ts';
import { mayRead, type Viewer } from './viewer.ts';

/** One page of conversations, newest activity first. */
export interface ConversationRows {
  readonly rows: readonly ConversationRow[];
  /** Id of the conversation after which the next page starts; null at the end. */
  readonly next: number | null;
}

/** A conversation in the list of all. `entries` counts its messages. */
export interface ConversationRow {
  readonly key: ConversationKey;
  readonly agentId: string;
  readonly audience: Audience;
  readonly entries: number;
  readonly lastActivityAt: number;
  readonly reading: GaugeReading;
  readonly spent: Spent;
  readonly owesReply: boolean;
  /** Consecutive failures of maintenance. */
  readonly failures: number;
  /** May quote what people said; null if there is none, or if the viewer may not read it. */
  readonly lastError: string | null;
  readonly nextAttemptAt: number | null;
}

const PAGE_SIZE = 30;

export interface OverviewServices extends CommandServices {
  readonly gauges: Gauges;
}

export async function conversationsPage(
  services: OverviewServices,
  { viewer, afterId }: { readonly viewer: Viewer; readonly afterId: number | null },
): Promise<ConversationRows> {
  const { conversations } = services.store;
  const after = afterId === null ? null : await conversations.get(afterId);
  const found = await conversations.list({ order: 'active', limit: PAGE_SIZE + 1, after });
  const shown = found.slice(0, PAGE_SIZE);
  return {
    rows: await Promise.all(shown.map((conversation) => rowOf(services, conversation, viewer))),
    next: found.length > PAGE_SIZE ? (shown.at(-1)?.id ?? null) : null,
  };
}

export async function rowOf(
  services: OverviewServices,
  conversation: Conversation,
  viewer: Viewer,
): Promise<ConversationRow> {
  const { key, audience, nextSeq, lastActivityAt, failures, lastError, nextAttemptAt } = conversation;
  return {
    key,
    audience,
    entries: nextSeq - 1,
    lastActivityAt,
    failures,
    lastError: mayRead(viewer, audience) ? lastError : null,
    nextAttemptAt,
    agentId: services.agents.agentFor(key).id,
    reading: await services.gauges.of(conversation),
    spent: sumOf(await services.store.journal.usage(conversation.id)),
    owesReply: owesReply(conversation),
  };
}
