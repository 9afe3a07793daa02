import {
  createLanes,
  createRecentMap,
  type DropReason,
  type InboundMessage,
  type Lanes,
} from '../../../../src/adapter-kit.ts';
import { isKept } from '../../shared/is-kept.ts';
import { unlessAborted } from '../../shared/within.ts';
import { toInbound, toParts } from '../map.ts';
import { conversationsOf, isDirect, keyOf, PLATFORM } from '../places/place.ts';
import type { BotServices } from '../services.ts';
import type { WireEventMessage } from '../wire.ts';
import type { AudienceWatch } from './audience.ts';
import { type ContextOptions, contextOf, type FoundContext, placeFor, refusalOf } from './context.ts';
import type { FollowUps } from './follow-ups.ts';
import type { EditedMessage, Incoming, NewMessage } from './incoming.ts';
import { withKeptQuotes } from './quotes.ts';

export interface TakeOptions extends ContextOptions, Pick<BotServices, 'threads' | 'signal'> {
  readonly audiences: AudienceWatch;
  readonly followUps: FollowUps;
  /** The first message of a conversation was stored. */
  readonly onBegan: (message: InboundMessage) => void;
}

/** Passes to the bot what happened. Resolves when that is stored, and rejects if it is not. */
export type Take = (incoming: Incoming) => Promise<void>;

export function createTake(options: TakeOptions): Take {
  const order: Order = { lanes: createLanes(), once: createOnce() };
  return async (incoming) => {
    switch (incoming.kind) {
      case 'message':
        return await takeMessage(options, order, incoming);
      case 'edit':
        return await takeEdit(options, order, incoming);
      case 'removal':
        return await takeRemoval(options, incoming);
      case 'conversion':
        return await options.audiences.changed(incoming.channel, incoming.audience);
      case 'renumbering':
        return await takeRenumbering(options, incoming);
      case 'leaving':
        return await options.audiences.left(incoming.channel);
    }
  };
}

/** Messages and their edits are stored in order of arrival within a conversation, each message once. */
interface Order {
  readonly lanes: Lanes;
  readonly once: Once;
}

type Once = (name: string, work: () => Promise<void>) => Promise<void>;

const MAX_DONE = 5_000;

/** A second call waits for the first. What is done is not repeated; what failed is. */
function createOnce(): Once {
  const running = new Map<string, Promise<void>>();
  const done = createRecentMap<string, true>(MAX_DONE);
  return async (name, work) => {
    if (done.has(name)) return;
    const own = running.get(name) ?? work();
    running.set(name, own);
    try {
      await own;
      done.set(name, true);
    } finally {
      if (running.get(name) === own) running.delete(name);
    }
  };
}

/** Counts and logs a message that is not stored. */
function drop({ sink }: Pick<TakeOptions, 'sink'>, message: WireEventMessage, reason: DropReason): void {
  const { channel, ts: externalId } = message;
  sink.dropped({ platform: PLATFORM, reason, event: message.type, channel, externalId, problem: null });
}

/** No requests to Slack for a message that is already known. */
async function takeMessage(options: TakeOptions, { lanes, once }: Order, incoming: NewMessage): Promise<void> {
  const { message } = incoming;
  const refusal = refusalOf(options, message);
  if (refusal !== null) return drop(options, message, refusal);
  const conversation = keyOf(placeFor(options, message));
  await once(`${conversation} ${message.ts}`, async () => {
    const ask = askFor(options, incoming);
    try {
      await lanes.run([conversation], async () => await store(options, incoming, await ask()));
    } finally {
      options.firstMessages.release(conversation, message.ts);
    }
  });
}

/** Asks Slack at once for what is known about a message. The lane may be busy when that fails, so it is told later. */
function askFor(options: TakeOptions, incoming: NewMessage | EditedMessage): () => Promise<FoundContext> {
  const asked = contextOf(options, incoming);
  asked.catch(() => undefined);
  return () => unlessAborted(options.signal, asked);
}

async function store(options: TakeOptions, { message, later }: NewMessage, found: FoundContext): Promise<void> {
  const { sink, audiences, threads, followUps, firstMessages } = options;
  if (found.kind === 'dropped') return drop(options, message, found.reason);
  const { context, isFirst } = found;
  const { conversation, place, author } = context;
  const said = { conversation, place, author, message };
  const isFollowUp = await followUps.includes(said);
  const shown = await withKeptQuotes(options, message, { conversation, audience: place.audience });
  const inbound = toInbound(shown, { ...context, isPast: later?.isPast ?? false, isFollowUp });
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
}

/** On the agent surface every direct message begins a thread; elsewhere it does not. */
function answerThread({ settings }: TakeOptions, message: WireEventMessage): string | null {
  if (message.thread_ts) return message.thread_ts;
  return settings.surface === 'agent' && isDirect(message.channel, message.channel_type) ? message.ts : null;
}

async function takeEdit(options: TakeOptions, { lanes }: Order, incoming: EditedMessage): Promise<void> {
  const { message } = incoming;
  const refusal = refusalOf(options, message);
  if (refusal !== null) return drop(options, message, refusal);
  const conversations = await holdersOf(options, message);
  const ask = askFor(options, incoming);
  await lanes.run(conversations, async () => {
    const found = await ask();
    if (found.kind === 'dropped') return drop(options, message, found.reason);
    const { conversation, place } = found.context;
    const quotedIn = { conversation, audience: place.audience };
    const content = toParts(await withKeptQuotes(options, message, quotedIn), found.context);
    const at = Math.round(incoming.at * 1000);
    for (const conversation of conversations) {
      await options.sink.edited({ conversation, externalId: message.ts, parts: content, at });
    }
  });
}

async function holdersOf({ workspace, channelIds }: TakeOptions, message: WireEventMessage) {
  const { channel, ts, thread_ts: threadTs } = message;
  return conversationsOf(workspace.teamId, {
    ts,
    threadTs: threadTs ?? null,
    channelIds: await channelIds.all(channel),
  });
}

/** The readers may have changed with the id. */
async function takeRenumbering(
  { channelIds, audiences }: TakeOptions,
  { channel: from, to, at }: Extract<Incoming, { kind: 'renumbering' }>,
): Promise<void> {
  await channelIds.changed({ from, to, at });
  await audiences.changed(await channelIds.first(to), null);
}

/** Does not wait for a message that is being stored: the bot remembers the deletion. */
async function takeRemoval(
  { sink, workspace, channelIds }: TakeOptions,
  { channel, ts, threadTs }: Extract<Incoming, { kind: 'removal' }>,
): Promise<void> {
  const holders = { channelIds: await channelIds.all(channel), ts, threadTs };
  for (const conversation of conversationsOf(workspace.teamId, holders)) {
    await sink.removed({ conversation, externalIds: [ts] });
  }
}
