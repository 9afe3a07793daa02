import { StrataError } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import type { Conversation, Store } from '../ports/store.ts';

/** The conversation that somebody names. Throws `KEY_INVALID` and `CONVERSATION_UNKNOWN`. */
export async function findConversation(
  { store }: { readonly store: Pick<Store, 'conversations'> },
  key: string,
): Promise<Conversation> {
  const found = await store.conversations.find(parseKey(key).key);
  if (found === null) throw new StrataError('CONVERSATION_UNKNOWN', { key });
  return found;
}
