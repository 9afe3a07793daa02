import type { MessageAt } from '../../../../src/adapter-kit.ts';
import type { Workspace } from '../web/workspace.ts';
import { placeOfKey } from './place.ts';

/** The URL of a message. Null if it is gone, or while Slack does not respond. */
export async function permalinkOf(
  { web }: Pick<Workspace, 'web'>,
  { conversation, externalId }: MessageAt,
): Promise<string | null> {
  const { channelId: channel } = placeOfKey(conversation);
  const answer = await web.chat.getPermalink({ channel, message_ts: externalId }).catch(() => null);
  return answer?.permalink ?? null;
}
