import type { Cursor, KeptMessage } from '../../../../src/adapter-kit.ts';
import { placeOfKey } from '../places/place.ts';
import { codeOf, retryRepeatable } from '../web/web.ts';
import type { WireMessage } from '../wire.ts';
import type { CatchUpContext, Missed, Pace } from './catch-up-context.ts';
import { deletedFiles } from './files.ts';
import type { Page } from './history.ts';

/** Looking up a message by itself costs a request. */
const MAX_LOOKED_FOR = 20;

export interface Listed {
  readonly channel: string;
  readonly threadTs: string | null;
  readonly kept: readonly KeptMessage[];
  readonly listed: readonly Missed[];
  /** What is absent here was deleted. Null if it may exist. */
  readonly span: Span | null;
}

/** A time without gaps in what is listed, in seconds, both ends excluded. */
export interface Span {
  readonly after: number;
  readonly before: number;
}

/** Between two pages a message may have been deleted too, and after the newest or before the oldest of all. */
export function spanOf({ messages, isLast }: Page, { after: horizon, before }: Span): Span {
  const oldest = messages.reduce((one, { ts }) => Math.min(one, Number(ts)), before);
  return { after: isLast ? horizon : oldest, before };
}

/** Reports what happened to stored messages while the bot was offline, before anything is answered. */
export async function applyChanges(context: CatchUpContext, of: Listed, pace: Pace): Promise<void> {
  const { channel, threadTs, kept, listed, span } = of;
  const shown = new Map(listed.map(({ ts, message }) => [ts, message]));
  const absent: KeptMessage[] = [];
  for (const one of kept) {
    const message = shown.get(one.externalId);
    if (message === undefined) {
      const at = Number(one.externalId);
      if (span !== null && at > span.after && at < span.before) absent.push(one);
    } else if (message.subtype === 'tombstone') {
      await context.take({ kind: 'removal', channel, ts: one.externalId, threadTs });
    } else {
      const at = editedAt(message, one);
      if (at !== null) await context.take({ kind: 'edit', message, isShared: false, at });
    }
  }
  for (const { externalId: ts } of absent.slice(-MAX_LOOKED_FOR)) {
    if (threadTs !== null || (await isGone(context, { channel, ts }, pace)))
      await context.take({ kind: 'removal', channel, ts, threadTs });
  }
}

/** When a message was edited since it was stored, in seconds; null if it was not. */
function editedAt(message: WireMessage, { at, editedAt: known }: KeptMessage): number | null {
  const edited = Number(message.edited?.ts ?? 0);
  if (edited * 1000 > (known ?? 0)) return edited;
  // Slack does not report when a file was deleted.
  return known === null && deletedFiles(message) > 0 ? at / 1000 : null;
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
    await retryRepeatable(() => web.conversations.replies({ channel, ts, limit: 1 }), context);
    return false;
  } catch (error) {
    if (codeOf(error) === 'thread_not_found') return true;
    throw error;
  }
}
