import type { Cursor, KeptMessage } from '../../../../src/adapter-kit.ts';
import { placeOfKey } from '../place.ts';
import { codeOf, persistently } from '../web.ts';
import type { CatchUpContext, Missed, Pace } from './catch-up-context.ts';

/** Looking up a message by itself costs a request. */
const MAX_LOOKED_FOR = 20;

export interface Listed {
  readonly channel: string;
  readonly threadTs: string | null;
  readonly kept: readonly KeptMessage[];
  /** Consecutive messages without gaps between the oldest and the newest. */
  readonly listed: readonly Missed[];
  /** Everything in the thread after this time (in seconds) is listed: what is absent was deleted. Null if it may exist. */
  readonly wholeSince: number | null;
}

/** Reports what happened to stored messages while the bot was offline, before anything is answered. */
export async function applyChanges(context: CatchUpContext, of: Listed, pace: Pace): Promise<void> {
  const { channel, threadTs, kept, listed, wholeSince } = of;
  const shown = new Map(listed.map(({ ts, message }) => [ts, message]));
  const times = listed.map(({ ts }) => Number(ts));
  // A thread is read to its end; of a channel, one page is read already.
  const from = wholeSince ?? Math.min(...times);
  const to = wholeSince === null ? Math.max(...times) : Number.POSITIVE_INFINITY;
  const absent: KeptMessage[] = [];
  for (const one of kept) {
    const message = shown.get(one.externalId);
    if (message === undefined) {
      const at = Number(one.externalId);
      if (at > from && at < to) absent.push(one);
    } else if (message.subtype === 'tombstone') {
      await context.removed({ channel, ts: one.externalId, threadTs });
    } else if (Number(message.edited?.ts ?? 0) * 1000 > (one.editedAt ?? 0)) await context.edited(message);
  }
  // A part of a thread does not show what was deleted there.
  if (threadTs !== null && wholeSince === null) return;
  for (const { externalId: ts } of absent.slice(-MAX_LOOKED_FOR)) {
    if (threadTs !== null || (await isGone(context, { channel, ts }, pace)))
      await context.removed({ channel, ts, threadTs });
  }
}

/** Stored messages in the channel itself, including the first message of a thread. */
export async function keptAtTop(cursors: readonly Cursor[]): Promise<readonly KeptMessage[]> {
  const kept = await Promise.all(
    cursors.map(async ({ conversation, kept: read }) => {
      const { threadTs } = placeOfKey(conversation);
      const messages = await read();
      return threadTs === null ? messages : messages.filter(({ externalId }) => externalId === threadTs);
    }),
  );
  return kept.flat();
}

/** Slack finds no message with that timestamp: it was deleted, and has no replies. */
async function isGone(
  context: CatchUpContext,
  { channel, ts }: { readonly channel: string; readonly ts: string },
  pace: Pace,
): Promise<boolean> {
  await pace();
  const { web } = context.workspace;
  try {
    await persistently(() => web.conversations.replies({ channel, ts, limit: 1 }), context);
    return false;
  } catch (error) {
    if (codeOf(error) === 'thread_not_found') return true;
    throw error;
  }
}
