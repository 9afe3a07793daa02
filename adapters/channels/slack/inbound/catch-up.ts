import { z } from 'zod';
import { type Cursor, describe, type LogFields } from '../../../../src/index.ts';
import { isNewer, timeOf } from '../place.ts';
import { persistently } from '../web.ts';
import { historySchema, messageSchema, type WireEventMessage } from '../wire.ts';
import type { CatchUpParts, Missed, Pace } from './catch-up-parts.ts';
import { findChanges } from './changes.ts';
import { cursorsOf, heardChannels, type MissedChannel, type Thread, unheardChannels } from './missed.ts';

const MINUTE_MS = 60_000;
/** Read again before the newest message: the order of delivery is not that of time. Doubles are known. */
const OVERLAP_S = 30;

/** After a time without a connection, reads from history what was said meanwhile, within the rate that is granted. */
export interface CatchUp {
  connected(): void;
  drained(): Promise<void>;
}

export function createCatchUp(parts: CatchUpParts): CatchUp {
  const pace = createPace(parts);
  let looking: Promise<void> = Promise.resolve();
  let last: Promise<void> = Promise.resolve();
  /** Never rejects. */
  const safely = async (what: LogFields, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      if (parts.signal.aborted) return;
      parts.log.warn('Missed messages could not be read', { ...what, cause: describe(error) });
    });
  };
  const readOne = (channel: MissedChannel) => safely({ channel: channel.id }, () => readChannel(parts, channel, pace));
  const readUnheard = async (cursors: readonly Cursor[]): Promise<void> => {
    for (const channel of await unheardChannels(parts, cursors, pace)) await readOne(channel);
  };
  const read = async (): Promise<void> => {
    if (parts.settings.catch_up.messages === 0) return;
    const cursors = await cursorsOf(parts);
    // One after the other: the rate is the workspace's, not the channel's.
    for (const channel of heardChannels(parts, cursors)) last = last.then(() => readOne(channel));
    last = last.then(() => safely({}, () => readUnheard(cursors)));
  };
  return {
    connected() {
      looking = looking.then(read).catch((error: unknown) => {
        parts.log.error('Missed messages could not be looked for', { cause: describe(error) });
      });
    },
    async drained() {
      await looking;
      await last;
    },
  };
}

async function readChannel(parts: CatchUpParts, channel: MissedChannel, pace: Pace): Promise<void> {
  const { id, newest } = channel;
  const top = await readAll(parts, { channel: id, threadTs: null, after: newest }, pace);
  const found = top.filter(({ ts }) => Number(ts) > Number(newest) - OVERLAP_S);
  for (const { ts, newest: after } of threadsToRead(channel, top)) {
    found.push(...(await readAll(parts, { channel: id, threadTs: ts, after }, pace)));
  }
  const ordered = found.toSorted((one, other) => (isNewer(one.ts, other.ts) ? 1 : -1));
  for (const { message } of ordered) await takeMissed(parts, message);
  await makeChanges(parts, { channelId: id, cursors: channel.cursors, listed: top, pace });
  if (ordered.length > 0) parts.log.debug('Read what may have been missed', { channel: id, messages: ordered.length });
}

async function makeChanges(parts: CatchUpParts, of: Parameters<typeof findChanges>[1]): Promise<void> {
  const { edited, removed } = await findChanges(parts, of);
  for (const message of edited) await parts.edited(message);
  for (const ts of removed) await parts.removed({ channel: of.channelId, ts, threadTs: null });
}

/** A message that begins a thread tells its newest reply: threads in which nothing new was said cost no request. */
function threadsToRead({ newest, threads }: MissedChannel, top: readonly Missed[]): MissedChannel['threads'] {
  const latest = new Map(top.map((message) => [message.ts, message.latest ?? '0']));
  const isOpen = ({ ts, newest: read }: Thread) => isNewer(latest.get(ts) ?? '9999999999', read);
  const known = new Set(threads.map(({ ts }) => ts));
  const others = top
    .filter(({ ts }) => !known.has(ts))
    .map(({ ts }) => ({ ts, newest: isNewer(ts, newest) ? ts : newest }));
  return [...threads, ...others].filter(isOpen);
}

interface Stretch {
  readonly channel: string;
  readonly threadTs: string | null;
  readonly after: string;
}

const rootMessage = messageSchema.extend({ latest_reply: z.string().nullish() });
const rootSchema = historySchema.extend({ messages: z.array(rootMessage).default([]) });

/**
 * Of more than the bound, the newest in a channel, the oldest in a thread: the order in which Slack gives them. A channel
 * is read to the end of the page that reaches what is known, since older messages tell of new replies.
 */
async function readAll(
  parts: CatchUpParts,
  { channel, threadTs, after }: Stretch,
  pace: Pace,
): Promise<readonly Missed[]> {
  const { web } = parts.workspace;
  const { messages: bound, page, hours } = parts.settings.catch_up;
  const horizon = parts.clock.now() / 1000 - hours * 3600;
  const since = Math.max(Number(after) - OVERLAP_S, horizon);
  const oldest = (threadTs === null ? horizon : since).toFixed(6);
  const found: Missed[] = [];
  for (let cursor = ''; found.length < bound; ) {
    await pace();
    const range = { channel, limit: page, oldest, ...(cursor === '' ? {} : { cursor }) };
    const answer = await persistently(
      () =>
        threadTs === null ? web.conversations.history(range) : web.conversations.replies({ ...range, ts: threadTs }),
      parts,
    );
    const { messages, has_more: hasMore, response_metadata: next } = rootSchema.parse(answer);
    found.push(...messages.filter(({ ts }) => isNewer(ts, oldest)).map((message) => missedOf(message, channel)));
    cursor = next?.next_cursor ?? '';
    const isKnown = threadTs === null && messages.some(({ ts }) => Number(ts) <= since);
    if (!hasMore || cursor === '' || isKnown) return found;
  }
  parts.log.warn('More was missed than is read', { channel, read: found.length });
  return found;
}

function missedOf({ latest_reply: latest, ...message }: z.infer<typeof rootMessage>, channel: string): Missed {
  return { ts: message.ts, latest: latest ?? null, message: { ...message, channel } };
}

async function takeMissed(parts: CatchUpParts, message: WireEventMessage): Promise<void> {
  if (parts.signal.aborted) return;
  const ageMs = parts.clock.now() - timeOf(message.ts);
  await parts.take(message, { isPast: ageMs > parts.settings.catch_up.answer_minutes * MINUTE_MS });
}

/** Lets as many requests through at once as a minute grants, then one after the other at that rate. */
function createPace({ settings, clock, signal }: CatchUpParts): Pace {
  const perMinute = settings.catch_up.requests_per_minute;
  let tokens = Math.max(1, perMinute);
  let at = clock.now();
  return async () => {
    const now = clock.now();
    tokens = Math.min(Math.max(1, perMinute), tokens + ((now - at) * perMinute) / MINUTE_MS);
    at = now;
    tokens -= 1;
    if (tokens < 0) await clock.sleep((-tokens * MINUTE_MS) / perMinute, { signal });
  };
}
