import type { ChannelSink, ConversationKey } from '../../../src/adapter-kit.ts';

/** Whether the bot has stored the conversation. What a channel keeps under the key of another one would never be deleted. */
export async function isKept(
  { conversations }: Pick<ChannelSink, 'conversations'>,
  conversation: ConversationKey,
): Promise<boolean> {
  // The key itself comes before those of its threads.
  for await (const first of conversations.within(conversation)) return first.conversation === conversation;
  return false;
}
