import type { Storage } from '../../src/adapter-kit.ts';
import { createKit, HERE, type Kit, THERE } from './store-kit.ts';

export const LONG_MESSAGES = 48;

/** Messages of which one transaction deletes few. */
export async function fillLong(kit: Kit, conversation = HERE) {
  const text = `violets ${Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ')}`;
  const said = await Promise.all(Array.from({ length: LONG_MESSAGES }, () => kit.say(text, { conversation })));
  return await kit.get(said[0]?.conversation.id ?? 0);
}

/** Returns while the conversation is being deleted. */
export async function beginErasure(storage: Storage) {
  const kit = createKit(storage);
  const { id } = await fillLong(kit);
  const erased = storage.store.conversations.change(id, { kind: 'purge' });
  await kit.say('hello', { conversation: THERE });
  // The first transaction may take longer than that of the message.
  while ((await storage.store.conversations.find(HERE)) !== null);
  return { id, erased };
}
