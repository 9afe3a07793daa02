import { z } from 'zod';
import { faultText } from '../../../../src/adapter-kit.ts';
import { dropMalformed } from '../connection/packets.ts';
import { isNewer } from '../places/place.ts';
import { retryRepeatable } from '../web/web.ts';
import { messageSchema } from '../wire.ts';
import type { CatchUpContext, Missed, Pace } from './catch-up-context.ts';

const pageSchema = z.object({
  messages: z.array(z.unknown()).nullish().catch(null),
  has_more: z.boolean().nullish().catch(null),
  response_metadata: z
    .object({ next_cursor: z.string().nullish().catch(null) })
    .nullish()
    .catch(null),
});
const listedSchema = messageSchema.extend({ latest_reply: z.string().nullish().catch(null) });

export interface Stretch {
  readonly channel: string;
  /** Null for the channel itself, without the replies in its threads. */
  readonly threadTs: string | null;
  /** In seconds; nothing older is requested. */
  readonly oldest: number;
}

export interface Page {
  readonly messages: readonly Missed[];
  /** False if it does not show everything: an absent message may exist. */
  readonly isWhole: boolean;
  /** Nothing in the stretch comes after it. */
  readonly isLast: boolean;
}

/** More pages than this are never read: a list that goes on is not a list of messages. */
const MAX_PAGES = 200;

/** Pages of a history in Slack's order: newest first for a channel, oldest first for a thread. */
export async function* pagesOf(
  context: CatchUpContext,
  { channel, threadTs, oldest }: Stretch,
  pace: Pace,
): AsyncGenerator<Page> {
  const { web } = context.workspace;
  const range = { channel, limit: context.settings.catch_up.page, oldest: oldest.toFixed(6) };
  const used = new Set<string>();
  for (let cursor = ''; !used.has(cursor) && used.size < MAX_PAGES; ) {
    used.add(cursor);
    const query = cursor === '' ? range : { ...range, cursor };
    await pace();
    const answer = await retryRepeatable(
      () =>
        threadTs === null ? web.conversations.history(query) : web.conversations.replies({ ...query, ts: threadTs }),
      context,
    );
    const { messages: items, has_more: hasMore, response_metadata: next } = pageSchema.parse(answer);
    const messages = (items ?? []).flatMap((item) => readListed(context, channel, item));
    cursor = (hasMore && next?.next_cursor) || '';
    const goesOn = cursor !== '' && !used.has(cursor) && used.size < MAX_PAGES;
    yield { messages, isWhole: messages.length === items?.length && (goesOn || !hasMore), isLast: !hasMore };
  }
}

/** One by one, so that an unreadable message does not lose the others. */
function readListed({ sink }: CatchUpContext, channel: string, message: unknown): readonly Missed[] {
  const read = listedSchema.safeParse(message);
  if (read.success) {
    const { latest_reply: latest, ...rest } = read.data;
    return [{ ts: rest.ts, latest: latest ?? null, message: { ...rest, channel, channel_type: null } }];
  }
  const [issue] = read.error.issues;
  const problem = issue === undefined ? null : faultText(issue);
  dropMalformed(sink, { event: 'history', channel, externalId: null }, problem);
  return [];
}

export function byTime(messages: readonly Missed[]): readonly Missed[] {
  return messages.toSorted((one, other) => (isNewer(one.ts, other.ts) ? 1 : -1));
}
