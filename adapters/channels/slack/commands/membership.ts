import { z } from 'zod';
import { describe, type Log } from '../../../../src/adapter-kit.ts';
import { isDirect } from '../place.ts';
import { audienceOf, type Places } from '../places.ts';
import type { Workspace } from '../workspace.ts';

const PAGE = 999;
const MAX_PAGES = 20;

const membersSchema = z.object({
  members: z.array(z.string()),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

interface MembershipOptions {
  readonly workspace: Pick<Workspace, 'web'>;
  readonly places: Pick<Places, 'channel'>;
  readonly log: Log;
}

/**
 * Whether the person can read the channel now. A form stays open when somebody leaves a private channel; everything else
 * that they could use goes with it. False if Slack does not tell.
 */
export async function canStillRead(
  { workspace, places, log }: MembershipOptions,
  { channelId, userId }: { readonly channelId: string; readonly userId: string },
): Promise<boolean> {
  if (isDirect(channelId, null)) return true;
  const channel = await places.channel(channelId);
  if (channel !== null && audienceOf(channel) === 'public') return true;
  try {
    return await isMember(workspace, { channel: channelId, userId });
  } catch (error) {
    log.warn('Slack did not list the members of a channel, so a form was refused', { cause: describe(error) });
    return false;
  }
}

async function isMember(
  { web }: Pick<Workspace, 'web'>,
  { channel, userId }: { readonly channel: string; readonly userId: string },
): Promise<boolean> {
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const range = { channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) };
    const { members, response_metadata: more } = membersSchema.parse(await web.conversations.members(range));
    if (members.includes(userId)) return true;
    cursor = more?.next_cursor ?? '';
    if (cursor === '') return false;
  }
  return false;
}
