import { placeOf } from '../../domain/key.ts';
import type { Entry } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { type Statement, statementOfMessage } from './derived.ts';

interface Deleted {
  /** Where replies may repeat the messages. */
  readonly here: Conversation;
  /** Where the messages are. */
  readonly conversation: Conversation;
  readonly entries: readonly Entry[];
}

/** Whether replies in the place may be given messages of its other conversations. */
export function quotesPlaces({ agents }: Pick<Services, 'agents'>, { key }: Conversation): boolean {
  return agents.agentFor(key).recall.places;
}

/** Deleted messages as statements that replies in another conversation of their place may repeat. */
export function quotedIn(
  services: Pick<Services, 'agents'>,
  { here, conversation, entries }: Deleted,
): readonly Statement[] {
  const isOther = conversation.id !== here.id && placeOf(conversation.key) === placeOf(here.key);
  if (!isOther || !quotesPlaces(services, here)) return [];
  const of = { audience: conversation.audience, conversationId: conversation.id };
  const said = entries.filter(({ role }) => role === 'user');
  return said.map((entry) => ({
    ...statementOfMessage(entry, of),
    readings: [{ conversationId: here.id, fromSeq: 0 }],
  }));
}
