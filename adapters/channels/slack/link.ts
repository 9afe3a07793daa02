import type { MessageAt } from '../../../src/adapter-kit.ts';
import { placeOfKey } from './place.ts';
import type { Workspace } from './workspace.ts';

/** The address of a message. Null for one that is gone, and while Slack does not tell. */
export async function permalinkOf(
  { web }: Pick<Workspace, 'web'>,
  { conversation, externalId }: MessageAt,
): Promise<string | null> {
  const { channelId: channel } = placeOfKey(conversation);
  const answer = await web.chat.getPermalink({ channel, message_ts: externalId }).catch(() => null);
  return answer?.permalink ?? null;
}
