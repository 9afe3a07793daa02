import type { Conversation } from '../../ports/store.ts';
import { withinTime } from '../../util/async/within.ts';
import { counted } from '../../util/text/text.ts';
import { type Call, mayModerate } from '../command.ts';

/** How many messages no extraction has read for memories yet. */
function unreadIn({ nextSeq, extractedUpto }: Conversation): number {
  return nextSeq - 1 - extractedUpto;
}

/** What a count of memories does not include yet: `; 2 messages are not read for memories yet`. */
export function unreadNote(conversation: Conversation | null): string {
  const count = conversation === null ? 0 : unreadIn(conversation);
  return count === 0 ? '' : `; ${counted(count, 'message is', 'messages are')} not read for memories yet`;
}

/** How long a person waits until the newest messages have been read for memories. */
const READ_LIMIT_MS = 5000;

/**
 * Extracts the memories of new messages now instead of when the conversation pauses. Only for moderators, because each
 * extraction costs a model call. Returns a sentence about the messages that are still unread; empty if there are none.
 */
export async function extractUnread(call: Call): Promise<string> {
  const { services, conversation, invocation } = call;
  if (conversation === null || unreadIn(conversation) === 0) return '';
  if (!mayModerate(invocation)) return stillUnread(unreadIn(conversation));
  const reading = services.extract(conversation).catch(() => null);
  await withinTime(reading, { clock: services.clock, ms: READ_LIMIT_MS });
  const now = await services.store.conversations.get(conversation.id);
  return now === null ? '' : stillUnread(unreadIn(now));
}

function stillUnread(count: number): string {
  if (count === 0) return '';
  return `The newest ${count === 1 ? 'message is' : `${count} messages are`} read for memories when the conversation pauses.`;
}
