import type { Conversation } from '../ports/store.ts';
import { counted } from '../util/text/text.ts';

/** How many messages no extraction has read for memories yet. */
export function unreadIn({ nextSeq, extractedUpto }: Conversation): number {
  return nextSeq - 1 - extractedUpto;
}

/** What a count of memories does not include yet: `; 2 messages are not read for memories yet`. */
export function unreadNote(conversation: Conversation | null): string {
  const count = conversation === null ? 0 : unreadIn(conversation);
  return count === 0 ? '' : `; ${counted(count, 'message is', 'messages are')} not read for memories yet`;
}
