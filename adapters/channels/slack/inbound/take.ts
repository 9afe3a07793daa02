import {
  type ChannelSink,
  createLanes,
  createRecentMap,
  type DropReason,
  type InboundMessage,
  type Lanes,
} from '../../../../src/adapter-kit.ts';
import { isKept } from '../../shared/is-kept.ts';
import { unlessAborted } from '../../shared/within.ts';
import type { ChannelIds } from '../channel-ids.ts';
import { toInbound, toParts } from '../map.ts';
import { conversationsOf, isDirect, keyOf, PLATFORM } from '../place.ts';
import type { Threads } from '../threads.ts';
import type { WireEventMessage } from '../wire.ts';
import type { AudienceWatch } from './audience.ts';
import { type Coming, type Context, type ContextOptions, contextOf, placeFor, refusalOf } from './context.ts';
import type { FollowUps } from './follow-ups.ts';
import type { Incoming } from './incoming.ts';
import { withKeptQuotes } from './quotes.ts';

export interface TakerOptions extends ContextOptions {
  readonly sink: ChannelSink;
  readonly audiences: AudienceWatch;
  readonly channelIds: ChannelIds;
  readonly threads: Threads;
  readonly followUps: FollowUps;
  readonly signal: AbortSignal;
  /** The first message of a conversation was stored. */
  readonly onBegan: (message: InboundMessage) => void;
}

/** Passes messages to the bot. Each promise resolves when the message is stored, and rejects if it is not. */
export interface Taker {
  take(incoming: Incoming): Promise<void>;
  message(coming: Coming, options: Pick<Taking, 'isPast' | 'note'>): Promise<void>;
}

interface Self {
  readonly lanes: Lanes;
  /** Messages that are being stored; a second delivery waits for the first. */
  readonly coming: Map<string, Promise<void>>;
  readonly stored: Map<string, true>;
}

const MAX_STORED = 5_000;

export function createTaker(options: TakerOptions): Taker {
  const self: Self = { lanes: createLanes(), coming: new Map(), stored: createRecentMap(MAX_STORED) };
  return {
    message: (coming, { isPast, note }) => takeMessage(options, self, { ...coming, isPast, note }),
    async take(incoming) {
      switch (incoming.kind) {
        case 'message':
          return await takeMessage(options, self, {
            ...incoming,
            isEdit: false,
            isLive: true,
            root: null,
            isPast: false,
            note: null,
          });
        case 'edit':
          return await takeEdit(options, self, { ...incoming, isEdit: true, isLive: false, root: null });
        case 'removal':
          return await takeRemoval(options, incoming);
        case 'conversion':
          return await options.audiences.changed(incoming.channel, incoming.audience);
        case 'renumbering':
          return await takeRenumbering(options, incoming);
        case 'leaving':
          return await options.audiences.left(incoming.channel);
      }
    },
  };
}

/** Counts and logs a message that is not stored. */
function drop({ sink }: Pick<TakerOptions, 'sink'>, message: WireEventMessage, reason: DropReason): void {
  const { channel, ts: externalId } = message;
  sink.dropped({ platform: PLATFORM, reason, event: message.type, channel, externalId, problem: null });
}

interface Taking extends Coming {
  readonly isPast: boolean;
  readonly note: string | null;
}

/** No requests to Slack for a message that is already known. */
async function takeMessage(options: TakerOptions, self: Self, taking: Taking): Promise<void> {
  const { message } = taking;
  const refusal = refusalOf(options, message);
  if (refusal !== null) return drop(options, message, refusal);
  const conversation = keyOf(placeFor(options, message));
  const name = `${conversation} ${message.ts}`;
  if (self.stored.has(name)) return;
  const work = self.coming.get(name) ?? inOrder(options, self, { name, lanes: [conversation], taking });
  self.coming.set(name, work);
  try {
    await work;
  } finally {
    if (self.coming.get(name) === work) self.coming.delete(name);
  }
}

async function inOrder(
  options: TakerOptions,
  self: Self,
  { name, lanes, taking }: { readonly name: string; readonly lanes: readonly string[]; readonly taking: Taking },
): Promise<void> {
  const asked = contextOf(options, taking);
  // The lane may be busy when it fails; tasks waiting in it get the error.
  asked.catch(() => undefined);
  await self.lanes.run(lanes, async () => {
    await store(options, taking, await unlessAborted(options.signal, asked));
    self.stored.set(name, true);
  });
}

async function store(options: TakerOptions, { message, isPast, note }: Taking, found: Context): Promise<void> {
  const { sink, audiences, threads, followUps, firstMessages } = options;
  try {
    if (found.kind === 'dropped') return drop(options, message, found.reason);
    const { context, isFirst } = found;
    const { conversation, place, author } = context;
    const notes = note === null ? context.notes : [note, ...context.notes];
    const quotedIn = { conversation, audience: place.audience };
    const said = { conversation, place, author, message };
    const isFollowUp = await followUps.includes(said);
    const inbound = toInbound(await withKeptQuotes(options, message, quotedIn), {
      ...context,
      notes,
      isPast,
      isFollowUp,
    });
    if (inbound === null) return drop(options, message, 'empty');
    await audiences.observed(conversation, place);
    await threads.setNewest(conversation, {
      threadTs: answerThread(options, message),
      userId: author.id,
      ts: message.ts,
    });
    const { stored } = await sink.message(inbound);
    // Dropped, or delivered again.
    if (!stored && !(await isKept(sink, conversation))) return await threads.forget(conversation);
    await followUps.keep(said);
    if (isFirst) await firstMessages.keep(conversation, message.ts);
    if (isFirst && stored) options.onBegan(inbound);
  } finally {
    firstMessages.release(keyOf(placeFor(options, message)), message.ts);
  }
}

/** On the agent surface every direct message begins a thread; elsewhere it does not. */
function answerThread({ settings }: TakerOptions, message: WireEventMessage): string | null {
  if (message.thread_ts) return message.thread_ts;
  return settings.surface === 'agent' && isDirect(message.channel, message.channel_type) ? message.ts : null;
}

interface Edit extends Coming {
  /** In seconds. */
  readonly at: number;
}

async function takeEdit(options: TakerOptions, { lanes }: Self, coming: Edit): Promise<void> {
  const { message } = coming;
  const refusal = refusalOf(options, message);
  if (refusal !== null) return drop(options, message, refusal);
  const conversations = await holdersOf(options, message);
  const asked = contextOf(options, coming);
  asked.catch(() => undefined);
  await lanes.run(conversations, async () => {
    const found = await unlessAborted(options.signal, asked);
    if (found.kind === 'dropped') return drop(options, message, found.reason);
    const { conversation, place } = found.context;
    const quotedIn = { conversation, audience: place.audience };
    const content = toParts(await withKeptQuotes(options, message, quotedIn), found.context);
    const at = Math.round(coming.at * 1000);
    for (const conversation of conversations) {
      await options.sink.edited({ conversation, externalId: message.ts, parts: content, at });
    }
  });
}

async function holdersOf({ workspace, channelIds }: TakerOptions, message: WireEventMessage) {
  const { channel, ts, thread_ts: threadTs } = message;
  return conversationsOf(workspace.teamId, {
    ts,
    threadTs: threadTs ?? null,
    channelIds: await channelIds.all(channel),
  });
}

/** The readers may have changed with the id. */
async function takeRenumbering(
  { channelIds, audiences }: TakerOptions,
  { channel: from, to, at }: Extract<Incoming, { kind: 'renumbering' }>,
): Promise<void> {
  await channelIds.changed({ from, to, at });
  await audiences.changed(await channelIds.first(to), null);
}

/** Does not wait for a message that is being stored: the bot remembers the deletion. */
async function takeRemoval(
  { sink, workspace, channelIds }: TakerOptions,
  { channel, ts, threadTs }: Extract<Incoming, { kind: 'removal' }>,
): Promise<void> {
  const holders = { channelIds: await channelIds.all(channel), ts, threadTs };
  for (const conversation of conversationsOf(workspace.teamId, holders)) {
    await sink.removed({ conversation, externalIds: [ts] });
  }
}
