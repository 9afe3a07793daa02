import { isStoreAway } from '../../../../src/adapter-kit.ts';
import { createRunning } from '../../shared/running.ts';
import { within } from '../../shared/within.ts';
import { namesOf } from '../connection/packets.ts';
import { PLATFORM } from '../places/place.ts';
import { createInbox, type InboxOptions } from './inbox.ts';
import { channelOf, type Incoming, messageName, nameOf, type RawEvent, readIncoming, withChannel } from './incoming.ts';
import { createTake, type Take, type TakeOptions } from './take.ts';
import { createUnstored } from './unstored.ts';

export type ReceiverOptions = TakeOptions & InboxOptions;

/** Handles live events, and what is read later. */
export interface Receiver {
  /**
   * Resolves when the event is durable, and rejects if it is not. Waits only for the store; data that Slack does not
   * return at once is awaited afterwards.
   */
  event(raw: RawEvent): Promise<void>;
  /** What was missed, and read later. Resolves when it is stored. */
  readonly take: Take;
  /** Stores what an earlier run acknowledged but did not store. Resolves when that has begun. */
  recover(): Promise<void>;
  drained(): Promise<void>;
}

/**
 * An event whose data arrives within this time is stored directly. Others are parked, acknowledged, and stored later.
 */
const DIRECT_STORE_MS = 250;

export function createReceiver(options: ReceiverOptions): Receiver {
  const take = createTake(options);
  const running = createRunning();
  const inbox = createInbox(options, {
    /** An event of an older version that this one rejects ends here. */
    async store(parked) {
      const read = readIncoming(parked);
      if (read !== null && read.kind !== 'dropped') await takeRead(read);
    },
    /** Slack may have told another gateway that the message was deleted. */
    async forgotten(parked) {
      const read = readIncoming(parked);
      if (read?.kind !== 'message' && read?.kind !== 'edit') return;
      const { channel, ts, thread_ts: threadTs = null } = read.message;
      await takeRead({ kind: 'removal', channel, ts, threadTs });
    },
  });
  const takeRead = async (read: Incoming): Promise<void> => {
    // At once, so that an event right behind the change finds its conversation.
    if (read.kind === 'renumbering') return await take(read);
    const saidAt = read.kind === 'message' ? Number(read.message.ts) : undefined;
    // The keys of the conversations contain the channel's first id.
    const incoming = withChannel(read, await options.channelIds.first(channelOf(read), saidAt));
    if (incoming.kind === 'removal') {
      // Deleted text must not return with the next start.
      for (const id of await options.channelIds.all(incoming.channel)) await inbox.forget(messageName(id, incoming.ts));
    }
    await take(incoming);
  };
  const unstored = createUnstored(options, takeRead);
  const keep = async (raw: RawEvent, read: Incoming): Promise<void> => {
    const work = running.track(takeRead(read));
    if (await isSettled(options, work)) return await work;
    await inbox.park({ ...raw, name: nameOf(read) }, work);
  };
  return {
    async event(raw) {
      const read = readIncoming(raw);
      if (read === null) return;
      if (read.kind === 'dropped') {
        const { reason, problem } = read;
        return options.sink.dropped({ platform: PLATFORM, reason, ...namesOf(raw), problem });
      }
      const since = options.clock.now();
      await keep(raw, read).catch((error: unknown) => {
        if (isStoreAway(error)) unstored.keep(read, since);
        throw error;
      });
    },
    take,
    recover: inbox.recover,
    async drained() {
      await running.drained();
      await inbox.drained();
      await unstored.drained();
    },
  };
}

async function isSettled({ clock }: ReceiverOptions, work: Promise<void>): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return (await within(clock, DIRECT_STORE_MS, ended)) === true;
}
