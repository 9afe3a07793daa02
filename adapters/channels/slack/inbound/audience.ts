import {
  type Audience,
  type ChannelSink,
  type Clock,
  type ConversationKey,
  describe,
  type HeardBy,
  type Log,
} from '../../../../src/adapter-kit.ts';
import { keyOf, placeOfKey } from '../place.ts';
import { audienceOf, type Places } from '../places.ts';

const MAX_KNOWN = 5_000;
/** A channel that Slack does not describe is looked up again after this long, then twice as long, about an hour in all. */
const FIRST_PAUSE_MS = 1000;
const MAX_LOOKUPS = 12;

export interface AudienceOptions {
  readonly teamId: string;
  readonly sink: ChannelSink;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly purgeOnLeave: boolean;
  readonly signal: AbortSignal;
}

/** Keeps the bot told of who can read a conversation, and of places that it was removed from. */
export interface AudienceWatch {
  /** Resolves when the bot knows the audience of a conversation that it may have known otherwise. */
  told(conversation: ConversationKey, heardBy: HeardBy): Promise<void>;
  /** Other people read the channel now: those of `audience`, or, where that is null, those that Slack tells. */
  changed(channelId: string, audience: Audience | null): Promise<void>;
  left(channelId: string): Promise<void>;
  drained(): Promise<void>;
}

export function createAudienceWatch(options: AudienceOptions): AudienceWatch {
  const known = new Map<ConversationKey, Audience>();
  const remember = (conversation: ConversationKey, audience: Audience): void => {
    // Each thread is a conversation. What is no longer known is reported again.
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(conversation, audience);
  };
  /** The channel's own conversation and those of its threads. */
  const inChannel = (channelId: string) =>
    options.sink.conversations.within(keyOf({ teamId: options.teamId, channelId, threadTs: null }));
  const apply = async (channelId: string, audience: Audience): Promise<void> => {
    for await (const { conversation } of inChannel(channelId)) {
      remember(conversation, audience);
      await options.sink.audienceChanged(conversation, audience);
    }
  };
  const lookups = createLookups(options, apply);
  return {
    async told(conversation, { audience, isAudienceAssumed }) {
      if (isAudienceAssumed === true) return lookups.begin(placeOfKey(conversation).channelId);
      if (known.get(conversation) === audience) return;
      remember(conversation, audience);
      await options.sink.audienceChanged(conversation, audience);
    },
    async changed(channelId, told) {
      options.places.forget(channelId);
      if (told !== null) return await apply(channelId, told);
      const channel = await options.places.channel(channelId);
      if (channel !== null) return await apply(channelId, audienceOf(channel));
      lookups.begin(channelId);
    },
    async left(channelId) {
      if (!options.purgeOnLeave) return;
      for await (const { conversation } of inChannel(channelId)) {
        known.delete(conversation);
        await options.sink.left(conversation);
      }
    },
    drained: lookups.drained,
  };
}

type LookupOptions = Pick<AudienceOptions, 'places' | 'clock' | 'log' | 'signal'>;

/** Asks again for channels that Slack did not describe when it was asked. What is kept of them stays as it is until then. */
function createLookups(options: LookupOptions, apply: (channelId: string, audience: Audience) => Promise<void>) {
  const { places, clock, log, signal } = options;
  const running = new Map<string, Promise<void>>();
  const lookUp = async (channelId: string): Promise<void> => {
    for (let lookup = 0; lookup < MAX_LOOKUPS; lookup += 1) {
      await clock.sleep(FIRST_PAUSE_MS * 2 ** lookup, { signal });
      const channel = await places.channel(channelId);
      if (channel !== null) return await apply(channelId, audienceOf(channel));
    }
  };
  return {
    begin(channelId: string): void {
      if (running.has(channelId) || signal.aborted) return;
      log.warn('Slack does not describe a channel: what is kept of it keeps its audience', { channel: channelId });
      const work = lookUp(channelId)
        .catch((error: unknown) => {
          if (!signal.aborted) log.error('The audience of a channel could not be stored', { cause: describe(error) });
        })
        .finally(() => running.delete(channelId));
      running.set(channelId, work);
    },
    async drained(): Promise<void> {
      await Promise.all(running.values());
    },
  };
}
