import { MINUTE_MS } from '../../../../src/adapter-kit.ts';
import { mentionsBot } from '../map.ts';
import { keyOf, timeOf } from '../places/place.ts';
import type { WireEventMessage } from '../wire.ts';
import type { CatchUpContext, Missed } from './catch-up-context.ts';
import { placeFor } from './context.ts';
import { byTime } from './history.ts';
import type { ReadLater } from './incoming.ts';

/** Messages stored concurrently, in order within each conversation. */
const BATCH = 20;

/**
 * If there are too many, keeps the newest and those that address the bot; the conversation says how many were left out.
 */
export async function takeNewest(
  context: CatchUpContext,
  missed: readonly Missed[],
  root: WireEventMessage | null = null,
): Promise<void> {
  const ordered = byTime(missed);
  const { messages: bound } = context.settings.catch_up;
  const isTaken = ({ message }: Missed, index: number) =>
    index >= ordered.length - bound || mentionsBot(message, context.workspace);
  const taken = ordered.filter(isTaken);
  const leftOut = ordered.length - taken.length;
  if (leftOut > 0) {
    const [first] = taken;
    context.log.warn('Too many missed messages; the oldest were left out', {
      channel: first?.message.channel,
      leftOut,
    });
    if (first !== undefined) {
      context.leftOut({ conversation: keyOf(placeFor(context, first.message)), count: leftOut, ts: first.ts });
    }
  }
  await takeAll(context, taken, { leftOut, root });
}

interface Around {
  readonly leftOut: number;
  /** The first message of their thread. */
  readonly root: WireEventMessage | null;
}

const NOTHING_AROUND: Around = { leftOut: 0, root: null };

export async function takeAll(
  context: CatchUpContext,
  missed: readonly Missed[],
  { leftOut, root }: Around = NOTHING_AROUND,
): Promise<void> {
  const ordered = byTime(missed);
  for (let from = 0; from < ordered.length; from += BATCH) {
    const batch = ordered.slice(from, from + BATCH);
    const taken = await Promise.allSettled(
      batch.map(({ message }, index) => {
        const note = from + index === 0 ? noteOf(leftOut) : null;
        return takeOne(context, message, { note, root });
      }),
    );
    const failed = taken.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

function noteOf(leftOut: number): string | null {
  return leftOut === 0 ? null : `[${leftOut} older messages were missed here and are left out]`;
}

async function takeOne(
  context: CatchUpContext,
  message: WireEventMessage,
  around: Omit<ReadLater, 'isPast'>,
): Promise<void> {
  const ageMs = context.clock.now() - timeOf(message.ts);
  const isPast = ageMs > context.settings.catch_up.answer_minutes * MINUTE_MS;
  await context.take({ kind: 'message', message, isShared: false, later: { ...around, isPast } });
}
