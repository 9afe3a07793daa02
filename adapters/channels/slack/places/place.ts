import { type ConversationKey, type HeardBy, makeKey, parseKey } from '../../../../src/adapter-kit.ts';

export const PLATFORM = 'slack';

/** A place in Slack's terms. */
export interface Place extends HeardBy {
  readonly teamId: string;
  readonly channelId: string;
  /** Timestamp of the first message of the thread. */
  readonly threadTs: string | null;
}

export type KeyPlace = Omit<Place, keyof HeardBy>;

/** `slack:TEAM:CHANNEL[:THREAD]`. */
export function keyOf({ teamId, channelId, threadTs }: KeyPlace): ConversationKey {
  return makeKey({ platform: PLATFORM, workspace: teamId, channel: channelId, thread: threadTs });
}

export function placeOfKey(key: ConversationKey): KeyPlace {
  const { workspace, channel, thread } = parseKey(key);
  return { teamId: workspace, channelId: channel, threadTs: thread };
}

/** Of a direct message, which Slack also calls after the tab of the App Home that shows it. */
const DIRECT_TYPES = new Set(['im', 'app_home']);

/** Slack sometimes omits the type; ids of direct messages reveal theirs. */
export function isDirect(channelId: string, type: string | null | undefined): boolean {
  return type ? DIRECT_TYPES.has(type) : channelId.startsWith('D');
}

export interface Said {
  readonly channelId: string;
  readonly isDirect: boolean;
  readonly ts: string;
  readonly threadTs: string | null;
  readonly mentionsBot: boolean;
}

interface Rules {
  readonly direct_conversation: 'thread' | 'person';
  readonly channel_replies: 'thread' | 'channel';
}

/** The thread of a message's conversation, determined by the message alone: the first reply goes where the key says. */
export function threadOf({ isDirect: direct, ts, threadTs, mentionsBot }: Said, rules: Rules): string | null {
  const inThread = threadTs !== null && threadTs !== ts ? threadTs : null;
  if (direct) return rules.direct_conversation === 'person' ? null : (inThread ?? ts);
  if (inThread !== null) return inThread;
  return mentionsBot && rules.channel_replies === 'thread' ? ts : null;
}

/** Every conversation that may contain the message: an edit may have added or removed the deciding mention. */
export function conversationsOf(
  teamId: string,
  { channelIds, ts, threadTs }: Pick<Said, 'ts' | 'threadTs'> & { readonly channelIds: readonly string[] },
): readonly ConversationKey[] {
  const threads = [...new Set([threadTs ?? ts, ts, null])];
  return channelIds.flatMap((channelId) => threads.map((thread) => keyOf({ teamId, channelId, threadTs: thread })));
}

/** Slack's timestamps are seconds with six decimals, unique in their channel. */
export function timeOf(ts: string): number {
  return Math.round(Number(ts) * 1000);
}

/** Maximum difference between Slack's clock and this machine's. */
const CLOCK_SKEW_MS = 60_000;

/** The earliest timestamp that Slack can give a message that is sent at this time. */
export function earliestTs(at: number): string {
  return ((at - CLOCK_SKEW_MS) / 1000).toFixed(6);
}

export function isNewer(one: string, other: string): boolean {
  return Number(one) > Number(other);
}
