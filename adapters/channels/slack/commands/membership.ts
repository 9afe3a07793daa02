import { z } from 'zod';
import { describe } from '../../../../src/adapter-kit.ts';
import { isDirect } from '../places/place.ts';
import { audienceOf } from '../places/places.ts';
import type { BotServices } from '../services.ts';
import { retryRepeatable } from '../web/web.ts';

const PAGE = 999;
const MAX_PAGES = 20;
/** A person waits for the answer to a form; longer pauses of Slack are not waited for. */
const MAX_WAIT_MS = 5_000;

const membersSchema = z.object({
  members: z.array(z.string()),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

type MembershipOptions = Pick<BotServices, 'workspace' | 'places' | 'clock' | 'log' | 'signal'>;

/**
 * Whether the person can read the channel now. When somebody leaves a private channel, or a guest any, everything that
 * they could use there disappears, except an open form. False if Slack does not list the members.
 */
export async function canStillRead(
  options: MembershipOptions,
  { channelId, userId }: { readonly channelId: string; readonly userId: string },
): Promise<boolean> {
  if (isDirect(channelId, null)) return true;
  const [channel, user] = await Promise.all([options.places.channel(channelId), options.places.user(userId)]);
  const isOpen = channel !== null && audienceOf(channel) === 'public';
  if (isOpen && user !== null && user.is_restricted !== true) return true;
  try {
    return await isMember(options, { channel: channelId, userId });
  } catch (error) {
    options.log.warn('Slack did not list the members of a channel, so a form was refused', { cause: describe(error) });
    return false;
  }
}

async function isMember(
  { workspace: { web }, clock, signal }: MembershipOptions,
  { channel, userId }: { readonly channel: string; readonly userId: string },
): Promise<boolean> {
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const range = { channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) };
    const ask = () => web.conversations.members(range);
    const answer = await retryRepeatable(ask, { clock, signal, maxWaitMs: MAX_WAIT_MS });
    const { members, response_metadata: more } = membersSchema.parse(answer);
    if (members.includes(userId)) return true;
    cursor = more?.next_cursor ?? '';
    if (cursor === '') return false;
  }
  return false;
}
