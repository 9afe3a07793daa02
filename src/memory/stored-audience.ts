import { placeOf } from '../domain/key.ts';
import type { ConversationKey, HeardBy } from '../domain/message.ts';
import type { Store } from '../ports/store.ts';

/**
 * Where the platform did not say who reads a place, what is stored of the place does. An assumption alone neither closes
 * what is kept nor opens it.
 */
export async function withStoredAudience<Event extends HeardBy & { readonly conversation: ConversationKey }>(
  { conversations }: Pick<Store, 'conversations'>,
  event: Event,
): Promise<Event> {
  if (event.isAudienceAssumed !== true) return event;
  const scope = { place: placeOf(event.conversation) };
  const [known] = await conversations.list({ order: 'key', scope, limit: 1, after: null });
  return known === undefined ? event : { ...event, audience: known.audience };
}
