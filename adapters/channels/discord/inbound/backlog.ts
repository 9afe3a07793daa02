import { type Cursor, describe, type HeardBy, HOUR_MS, MINUTE_MS } from '../../../../src/adapter-kit.ts';
import { dropMessage } from '../drops.ts';
import { type Place, targetOf } from '../places/place.ts';
import { isDeleted } from '../web/retry.ts';
import { type WireMessage, writtenAt } from '../wire.ts';
import type { CatchUpContext } from './catch-up-context.ts';
import { findChanges, readStretch, type Stretch } from './missed.ts';
import { saidToBot } from './presence.ts';

/** A channel, and the message after which to read it. */
export interface Backlog {
  readonly place: Omit<Place, keyof HeardBy>;
  readonly after: string;
  /** Null if nothing is stored yet. */
  readonly cursor: Cursor | null;
}

/** Never rejects. What cannot be read is recorded, so that a later start reads it. */
export async function readBacklog(context: CatchUpContext, backlog: Backlog): Promise<void> {
  const { unread, signal } = context;
  const channelId = targetOf(backlog.place);
  try {
    const rest = await readAll(context, backlog);
    if (signal.aborted) return;
    await (rest === null ? unread.done(channelId) : unread.keep(channelId, rest));
  } catch (error) {
    // What is interrupted by a stop is read at the next start.
    if (signal.aborted) return;
    const isGone = isDeleted(error);
    context.log[isGone ? 'debug' : 'warn']('Missed messages could not be read', {
      ...nameOf(backlog),
      cause: describe(error),
    });
    const recording = isGone ? unread.done(channelId) : unread.keep(channelId, backlog.after);
    await recording.catch((failure: unknown) => {
      context.log.error('Missed messages could not be recorded', { ...nameOf(backlog), cause: describe(failure) });
    });
  }
}

function nameOf({ place, cursor }: Backlog) {
  return { conversation: cursor?.conversation ?? null, channelId: targetOf(place) };
}

/**
 * Edits and deletions first, because a missed message is answered at once. Returns where to start next time; null if
 * everything is read.
 */
async function readAll(context: CatchUpContext, backlog: Backlog): Promise<string | null> {
  const stretch = await readStretch(context, targetOf(backlog.place), backlog.after);
  const isChanged = await applyChanges(context, backlog, stretch);
  const { missed } = stretch;
  const { isClosed, guildId } = backlog.place;
  const said = isClosed === true ? saidToBot(missed, context.places.self(guildId)) : missed;
  const failed = await takeAll(context, backlog, said);
  return isChanged ? failed : backlog.after;
}

/** Returns whether it succeeded; missed messages are read in any case. */
async function applyChanges(context: CatchUpContext, backlog: Backlog, { listed }: Stretch): Promise<boolean> {
  const channelId = targetOf(backlog.place);
  const later = context.later();
  try {
    const kept = (await backlog.cursor?.kept()) ?? [];
    const { edited, removed } = await findChanges(context, channelId, { kept, listed });
    const { guildId } = backlog.place;
    if (removed.length > 0 && !context.signal.aborted) await later.removed({ channelId, guildId, ids: removed });
    for (const message of edited) if (!context.signal.aborted) await later.edited(within(backlog, message));
    if (edited.length + removed.length > 0) {
      const counts = { edited: edited.length, removed: removed.length };
      context.log.info('Applied missed edits and deletions', { ...nameOf(backlog), ...counts });
    }
    return true;
  } catch (error) {
    if (!context.signal.aborted) {
      context.log.warn('Missed edits and deletions could not be read', { ...nameOf(backlog), cause: describe(error) });
    }
    return false;
  }
}

/** Processes them one by one. Returns the message before the first failure; null if none failed. */
async function takeAll(
  context: CatchUpContext,
  backlog: Backlog,
  missed: readonly WireMessage[],
): Promise<string | null> {
  let stored = 0;
  let failed: string | null = null;
  let before = backlog.after;
  for (const message of missed) {
    try {
      if (await takeMissed(context, backlog, message)) stored += 1;
    } catch (error) {
      failed ??= before;
      if (context.signal.aborted) return failed;
      const fields = { ...nameOf(backlog), externalId: message.id, cause: describe(error) };
      context.log.error('A missed message was not stored', fields);
    }
    before = message.id;
  }
  if (stored > 0) context.log.info('Stored missed messages', { ...nameOf(backlog), messages: stored });
  return failed;
}

/** Whether it was new. */
async function takeMissed(context: CatchUpContext, backlog: Backlog, message: WireMessage): Promise<boolean> {
  const { hours, answer_minutes: minutes } = context.settings.catch_up;
  if (context.signal.aborted) return false;
  const ageMs = context.clock.now() - writtenAt(message);
  if (ageMs > hours * HOUR_MS) {
    dropMessage(context.sink, message, 'late');
    return false;
  }
  return await context.later().message(within(backlog, message), { isPast: ageMs > minutes * MINUTE_MS });
}

/** Over REST, a message does not name its server. */
function within({ place: { guildId } }: Backlog, message: WireMessage): WireMessage {
  return guildId === null ? message : { ...message, guild_id: guildId };
}
