import { placeOf } from '../../domain/key.ts';
import type { ConversationKey, HeardBy } from '../../domain/message.ts';
import type { Store } from '../../ports/store.ts';

/**
 * If the platform did not report who reads a place, the stored audience applies. An assumption alone neither closes nor
 * opens a place.
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
