import { platformOf } from '../domain/key.ts';
import type { Author, ConversationKey } from '../domain/message.ts';
import type { Clock } from '../ports/clock.ts';
import type { Events } from '../ports/events.ts';
import type { UsageRow } from '../ports/journal.ts';
import type { ModelUsage, TokenCounts } from '../ports/model.ts';
import type { Prices } from './prices.ts';

/** Everything that the provider bills for a call, including its own passes. */
export function billedTokens({ ownPasses, ...usage }: ModelUsage): TokenCounts {
  const outputTokens = usage.outputTokens + (ownPasses?.outputTokens ?? 0);
  return {
    inputTokens: usage.inputTokens + (ownPasses?.inputTokens ?? 0),
    outputTokens,
    cacheReadTokens: usage.cacheReadTokens + (ownPasses?.cacheReadTokens ?? 0),
    cacheWriteTokens: usage.cacheWriteTokens + (ownPasses?.cacheWriteTokens ?? 0),
    hourCacheWriteTokens: (usage.hourCacheWriteTokens ?? 0) + (ownPasses?.hourCacheWriteTokens ?? 0),
    // A part of the output, so never more of it, whatever a server reports.
    reasoningTokens: Math.min(usage.reasoningTokens ?? 0, outputTokens),
  };
}

interface CallFacts extends Pick<UsageRow, 'purpose' | 'model' | 'agentId' | 'person'> {
  readonly conversation: ConversationKey;
  readonly usage: ModelUsage;
  readonly durationMs: number;
}

/** One finished call as stored and reported as an event. */
export function bookCall(
  { clock, events, prices }: { readonly clock: Clock; readonly events: Events; readonly prices: Prices },
  { conversation, usage, durationMs, ...call }: CallFacts,
): UsageRow {
  const at = clock.now();
  const tokens = billedTokens(usage);
  const costUsd = prices.costOf(call.model, tokens, at);
  const { purpose, model } = call;
  events.emit({ kind: 'model.called', conversation, purpose, model, usage: tokens, costUsd, durationMs });
  return { ...call, ...tokens, costUsd, at };
}

/** The name under which a person's calls are recorded: ids are unique within a platform. */
export function askerOf(conversation: ConversationKey, author: Pick<Author, 'id'> | null): string | null {
  if (author === null || author.id === '') return null;
  return `${platformOf(conversation)}:${author.id}`;
}
