import type { Cursor, KeptMessage } from '../../../../src/index.ts';
import { isDirect, placeOfKey } from '../place.ts';
import { codeOf, persistently } from '../web.ts';
import type { WireEventMessage } from '../wire.ts';
import type { CatchUpParts, Missed, Pace } from './catch-up-parts.ts';

/** Each message that is looked for by itself costs a request. */
const MAX_LOOKED_FOR = 20;

export interface Changes {
  readonly edited: readonly WireEventMessage[];
  readonly removed: readonly string[];
}

interface Listed {
  readonly channelId: string;
  readonly cursors: readonly Cursor[];
  /** The newest messages of the channel without the replies in its threads; none between them is left out. */
  readonly listed: readonly Missed[];
  readonly pace: Pace;
}

/** What became of kept messages while nobody was connected, as far as a page that was read anyway tells. */
export async function findChanges(parts: CatchUpParts, { listed, ...of }: Listed): Promise<Changes> {
  const oldest = Math.min(...listed.map(({ ts }) => Number(ts)));
  const shown = new Map(listed.map(({ ts, message }) => [ts, message]));
  const kept = (await Promise.all(of.cursors.map(keptAtTop))).flat();
  const edited = kept.flatMap(({ externalId, editedAt }) => {
    const message = shown.get(externalId);
    const isNews = Number(message?.edited?.ts ?? 0) * 1000 > (editedAt ?? 0);
    return message !== undefined && isNews ? [message] : [];
  });
  const absent = kept.filter(({ externalId }) => Number(externalId) > oldest && !shown.has(externalId));
  const removed = kept.filter(({ externalId }) => shown.get(externalId)?.subtype === 'tombstone');
  for (const message of absent.slice(-MAX_LOOKED_FOR)) {
    if (await isGone(parts, message.externalId, of)) removed.push(message);
  }
  return { edited, removed: removed.map(({ externalId }) => externalId) };
}

/** Kept messages that stand in the channel itself: of a thread the one that it hangs under. */
async function keptAtTop({ conversation, kept }: Cursor): Promise<readonly KeptMessage[]> {
  const { channelId, threadTs } = placeOfKey(conversation);
  // One conversation of all threads: what is a reply there is not known.
  if (threadTs === null) return isDirect(channelId, null) ? [] : await kept();
  return (await kept()).filter(({ externalId }) => externalId === threadTs);
}

async function isGone(
  parts: CatchUpParts,
  ts: string,
  { channelId: channel, pace }: Pick<Listed, 'channelId' | 'pace'>,
): Promise<boolean> {
  await pace();
  const { web } = parts.workspace;
  try {
    await persistently(() => web.conversations.replies({ channel, ts, limit: 1 }), parts);
    return false;
  } catch (error) {
    return codeOf(error) === 'thread_not_found';
  }
}
