import type { Claim, Store } from '../../ports/store.ts';

const NO_CLAIM: Claim = { conversationId: 0, epoch: 0, until: 0 };

/**
 * Resolves when everything that reads show by now is on the disk, whichever process has written it: a further write
 * resolves only after it, even one that changes nothing.
 */
export async function onDisk({ conversations }: Pick<Store, 'conversations'>): Promise<void> {
  await conversations.release(NO_CLAIM, { work: 'reply', answeredUpto: null });
}
