import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { Conversation, MemoryId, Storage } from '../../../src/adapter-kit.ts';
import { createKit, type Kit, NOW, post, textParts } from '../../contracts/store-kit.ts';
import { filesWith } from '../../support/on-disk.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/** What is overwritten by other words leaves the files soon, like what is deleted. */

let directory: string;
let storage: Storage;
let kit: Kit;
beforeEach(async () => {
  directory = await createStoreFolder('overwritten');
  storage = await createSqliteStorage({ directory });
  kit = createKit(storage);
});
afterEach(async () => {
  await storage.store.close();
  await rm(directory, { recursive: true, force: true });
});

async function untilGone(text: string): Promise<string> {
  const deadline = Date.now() + 60_000;
  while (filesWith(directory, text) !== '' && Date.now() < deadline) await sleep(100);
  return filesWith(directory, text);
}

it('a summary of what a message no longer says', async () => {
  const { conversation } = await kit.say('my word is qzxmessageqzx', {}, { externalId: 'said' });
  const { id } = conversation;
  await kit.say('noted');
  const held = await kit.claim('maintenance', id);
  await kit.compact(held, kit.summary(1, 1, { text: 'The word is qzxsummaryqzx.' }));
  await storage.store.transcript.edit(id, { externalId: 'said', parts: textParts('nothing'), tokens: 1, now: NOW });
  expect(await untilGone('qzxmessageqzx')).toBe('');
  expect(filesWith(directory, 'qzxsummaryqzx')).not.toBe('');
  const { revision } = await kit.get(id);
  const again = kit.summary(1, 1, { text: 'They talked.' });
  expect(await kit.compact(held, again, { seenRevision: revision })).toBe('committed');
  expect(await untilGone('qzxsummaryqzx')).toBe('');
});

it('the earlier words of a memory', async () => {
  const { conversation } = await kit.say('hello');
  const [id] = await kit.save(conversation.id, kit.inserting('Ada likes qzxmemoryqzx', [1]));
  const event = { kind: 'edited', at: NOW, actor: 'u1', detail: null } as const;
  const change = { text: 'Ada likes tea', fingerprint: 'tea' };
  expect(filesWith(directory, 'qzxmemoryqzx')).not.toBe('');
  expect(await storage.store.memories.change(id as MemoryId, change, event)).toBe(true);
  expect(await untilGone('qzxmemoryqzx')).toBe('');
});

/** A reply that was not posted yet, in a private place. */
async function unsent(text: string): Promise<Conversation> {
  const { conversation } = await kit.say('a question', { audience: 'private', wantsReply: true });
  const entries = [{ role: 'assistant', parts: textParts(text), tokens: 2, at: NOW }] as const;
  await kit.commitTurn(await kit.claim('reply', conversation.id), {
    entries,
    posts: [{ ...post('answer'), body: { kind: 'text', text } }],
  });
  expect(filesWith(directory, text)).not.toBe('');
  return conversation;
}

it.each([
  [
    'a change',
    ({ id }: Conversation) =>
      storage.store.conversations.change(id, { kind: 'audience', audience: 'public', now: NOW }),
  ],
  ['a message', () => kit.say('open now', { audience: 'public' })],
])('a reply that %s of the audience withdraws', async (_, open) => {
  await open(await unsent('qzxreplyqzx'));
  expect(await untilGone('qzxreplyqzx')).toBe('');
});
