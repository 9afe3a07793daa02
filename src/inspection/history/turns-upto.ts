import type { CommandServices } from '../../commands/services.ts';
import { DEFAULT_CACHE_MS } from '../../context/cuts/cache-loss.ts';
import { entryMessageOf } from '../../context/view/entry-message.ts';
import { nearbySeq } from '../../context/view/view.ts';
import type { Entry } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import { totals } from '../../util/totals.ts';
import type { LayerSpan } from './layers.ts';
import { turnFacts } from './turn-facts.ts';
import { type Turn, type TurnContext, turnsOf } from './turns.ts';

/** The entries with the tokens that they take in a view, with their labels. */
export function weigh(entries: readonly Entry[], timeZone: string): readonly Entry[] {
  const options = { stubBytes: null, textTokens: Number.POSITIVE_INFINITY, replySeq: nearbySeq(entries), timeZone };
  return entries.map((entry) => ({
    ...entry,
    tokens: entry.role === 'notice' ? 0 : entryMessageOf(entry, options).tokens,
  }));
}

interface TurnInput {
  readonly conversation: Conversation;
  /** Of the shown range, weighed. */
  readonly entries: readonly Entry[];
  readonly layers: readonly LayerSpan[];
  readonly atSeq: number;
  /** Factor for estimates. */
  readonly correction: number;
  readonly reportsCache: boolean;
}

/** The requests behind the newest replies up to a message. */
export async function turnsUpto(
  services: CommandServices,
  { conversation, entries, layers, atSeq, correction, reportsCache }: TurnInput,
): Promise<readonly Turn[]> {
  const fromSeq = entries[0]?.seq ?? 1;
  const sums = totals(entries, ({ tokens }) => tokens);
  const sumUpto = (seq: number) => sums[Math.min(sums.length - 1, Math.max(0, seq - fromSeq))] ?? 0;
  const tokensIn: TurnContext['tokensIn'] = (from, to) => Math.max(0, sumUpto(to + 1) - sumUpto(from));
  const query = { conversationId: conversation.id, fromSeq, toSeq: atSeq, layers, tokensIn };
  const facts = await turnFacts(services, query);
  // Nothing expires that a provider does not keep.
  const cacheMs = reportsCache ? await cacheMsOf(services, conversation) : Number.POSITIVE_INFINITY;
  return turnsOf(facts, { tokensIn, isChanged: changesIn(entries), correction, cacheMs });
}

function cacheMsOf(services: CommandServices, conversation: Conversation): Promise<number> {
  return services.profile(conversation).then(
    ({ traits }) => traits.cacheMs ?? DEFAULT_CACHE_MS,
    () => DEFAULT_CACHE_MS,
  );
}

function changesIn(entries: readonly Entry[]): TurnContext['isChanged'] {
  const changes = entries.flatMap(({ seq, editedAt, redactedAt }) =>
    [editedAt, redactedAt].flatMap((at) => (at === null ? [] : [{ seq, at }])),
  );
  return ({ fromSeq, toSeq, after, upto }) =>
    changes.some(({ seq, at }) => seq >= fromSeq && seq <= toSeq && at > after && at <= upto);
}
