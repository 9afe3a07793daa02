import { estimateParts } from '../src/context/measure/tokens.ts';
import type { ConversationKey } from '../src/domain/message.ts';
import { MINUTE_MS } from '../src/util/time/time.ts';
import type { World } from './world.ts';

const ADA = { id: 'ada', name: 'Ada', kind: 'person' } as const;

/** Earlier messages and answers in turn, written directly to the store. */
export async function appendPast(
  { storage }: Pick<World, 'storage'>,
  past: {
    readonly conversation: ConversationKey;
    readonly from: number;
    readonly count: number;
    readonly text: (index: number) => string;
  },
): Promise<void> {
  const now = Date.now();
  const appends = Array.from({ length: past.count }, (_, index) => {
    const number = past.from + index;
    const parts = [{ kind: 'text', text: past.text(number) }] as const;
    const isPerson = number % 2 === 1;
    const message = {
      externalId: `past-${number}`,
      role: isPerson ? 'user' : 'assistant',
      author: isPerson ? ADA : null,
      parts,
      replyTo: null,
      mentions: [],
      tokens: estimateParts(parts),
      at: now,
    } as const;
    return storage.store.transcript.append({
      conversation: past.conversation,
      audience: 'dm',
      message,
      wantsReply: false,
      claimLeaseMs: null,
      idleExtractMs: 60 * MINUTE_MS,
      now,
    });
  });
  for (const { durable } of await Promise.all(appends)) await durable;
}

/** The view's share of the window, as `/status` shows it. */
export async function usedShare({ bot }: Pick<World, 'bot'>, key: ConversationKey): Promise<number> {
  const conversation = await bot.services.store.conversations.find(key);
  if (conversation === null) return 0;
  return (await bot.commandServices.inspect(conversation)).measurement.ratio;
}
