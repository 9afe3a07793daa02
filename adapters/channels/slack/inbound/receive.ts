import { describe, type StateStore } from '../../../../src/adapter-kit.ts';
import { within } from '../../shared/within.ts';
import { namesOf } from '../packets.ts';
import { PLATFORM } from '../place.ts';
import type { WireEventMessage } from '../wire.ts';
import type { ReadLater } from './catch-up-context.ts';
import { createInbox, type Inbox, type Parked } from './inbox.ts';
import { channelOf, type Incoming, messageName, nameOf, type RawEvent, readIncoming, withChannel } from './incoming.ts';
import { createTaker, type Taker, type TakerOptions } from './take.ts';

export interface ReceiverOptions extends TakerOptions {
  readonly state: StateStore;
}

/** Handles live events, and messages that are read later. */
export interface Receiver {
  /**
   * Resolves when the event is durable, and rejects if it is not. Waits only for the store; data that Slack does not
   * return at once is awaited afterwards.
   */
  event(raw: RawEvent): Promise<void>;
  /** One message that was read later. Resolves when it is stored. */
  message(message: WireEventMessage, options: ReadLater): Promise<void>;
  /** What happened to a message since; `at` in seconds. */
  edited(message: WireEventMessage, at: number): Promise<void>;
  removed(place: { readonly channel: string; readonly ts: string; readonly threadTs: string | null }): Promise<void>;
  /** Stores what an earlier run acknowledged but did not store. Resolves when that has begun. */
  recover(): Promise<void>;
  drained(): Promise<void>;
}

/**
 * An event whose data arrives within this time is stored directly. Others are parked, acknowledged, and stored later.
 */
const DIRECT_STORE_MS = 250;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;

export function createReceiver(parts: ReceiverOptions): Receiver {
  const taker = createTaker(parts);
  const inbox = createInbox(parts.state, parts.clock, parts.workspace.teamId);
  const running = new Set<Promise<void>>();
  const track = (work: Promise<void>): Promise<void> => {
    running.add(work);
    work.finally(() => running.delete(work)).catch(() => undefined);
    return work;
  };
  const finishLater = (parked: Parked, work: Promise<void>) =>
    void track(finish({ parts, taker, inbox }, parked, work));
  return {
    async event(raw) {
      const read = readIncoming(raw);
      if (read === null) return;
      if (read.kind === 'dropped') {
        const { reason, problem } = read;
        return parts.sink.dropped({ platform: PLATFORM, reason, ...namesOf(raw), problem });
      }
      // At once, so that an event right behind the change finds its conversation.
      const work = track(read.kind === 'renumbering' ? taker.take(read) : takePlaced({ parts, taker, inbox }, read));
      if (await isSettled(parts, work)) return await work;
      const parked = { ...raw, name: nameOf(read) };
      await inbox.put(parked);
      finishLater(parked, work);
    },
    message: (message, options) =>
      taker.message({ message, isShared: false, isEdit: false, isLive: false, root: options.root }, options),
    edited: (message, at) => taker.take({ kind: 'edit', message, isShared: false, at }),
    removed: (place) => taker.take({ kind: 'removal', ...place }),
    async recover() {
      for (const parked of await inbox.list()) finishLater(parked, takeParked(parts, taker, parked));
    },
    async drained() {
      await Promise.allSettled(running);
    },
  };
}

interface Taking {
  readonly parts: ReceiverOptions;
  readonly taker: Taker;
  readonly inbox: Inbox;
}

async function takePlaced({ parts, taker, inbox }: Taking, read: Incoming): Promise<void> {
  const incoming = await placed(parts, read);
  if (incoming.kind === 'removal') {
    // Deleted text must not return with the next start.
    for (const id of await parts.channelIds.all(incoming.channel)) await inbox.forget(messageName(id, incoming.ts));
  }
  await taker.take(incoming);
}

async function isSettled({ clock }: ReceiverOptions, work: Promise<void>): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return (await within(clock, DIRECT_STORE_MS, ended)) === true;
}

/** Retries until it is stored. If the process ends first, the next start finds it. */
async function finish({ parts, taker, inbox }: Taking, parked: Parked, first: Promise<void>): Promise<void> {
  const { signal, clock, log } = parts;
  let work = first;
  for (let failures = 0; ; failures += 1) {
    try {
      await work;
      return await inbox.remove(parked.name);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('A Slack event is waiting to be stored', { event: parked.name, failures, cause: describe(error) });
      await clock.sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), { signal }).catch(() => undefined);
      work = takeParked(parts, taker, parked);
    }
  }
}

/** An event of an older version that this one rejects ends here. */
async function takeParked(parts: ReceiverOptions, taker: Taker, parked: Parked): Promise<void> {
  const incoming = readIncoming(parked);
  if (incoming !== null && incoming.kind !== 'dropped') await taker.take(await placed(parts, incoming));
}

/** With the id of the channel that is in the keys of its conversations. */
async function placed({ channelIds }: ReceiverOptions, incoming: Incoming): Promise<Incoming> {
  if (incoming.kind === 'renumbering') return incoming;
  const saidAt = incoming.kind === 'message' ? Number(incoming.message.ts) : undefined;
  return withChannel(incoming, await channelIds.first(channelOf(incoming), saidAt));
}
