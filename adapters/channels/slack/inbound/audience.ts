import {
  type Audience,
  type ConversationKey,
  createRecentMap,
  describe,
  type HeardBy,
} from '../../../../src/adapter-kit.ts';
import { isDirect, keyOf, placeOfKey } from '../places/place.ts';
import { audienceOf } from '../places/places.ts';
import type { BotServices } from '../services.ts';
import { createAudienceReview } from './audience-review.ts';

const MAX_KNOWN = 5_000;
/**
 * First pause before a channel that Slack did not describe is looked up again. It doubles each time, about an hour in
 * all.
 */
const FIRST_PAUSE_MS = 1000;
const MAX_LOOKUPS = 12;

export type AudienceOptions = Pick<
  BotServices,
  'workspace' | 'settings' | 'sink' | 'places' | 'channelIds' | 'clock' | 'log' | 'signal'
>;

/** Reports to the bot who can read a conversation, and from which places it was removed. */
export interface AudienceWatch {
  /** A message shows who can read its conversation. Resolves when the bot has applied it. */
  observed(conversation: ConversationKey, heardBy: HeardBy): Promise<void>;
  /** The readers of the channel have changed: to `audience`, or if that is null, to what Slack reports. */
  changed(channelId: string, audience: Audience | null): Promise<void>;
  /** Connected again: looks for changes whose events were missed. Resolves when they are applied; never rejects. */
  review(): Promise<void>;
  left(channelId: string): Promise<void>;
  drained(): Promise<void>;
}

export function createAudienceWatch(options: AudienceOptions): AudienceWatch {
  // Each thread is a conversation. Audiences that are no longer cached are reported again.
  const known = createRecentMap<ConversationKey, Audience>(MAX_KNOWN);
  /** The channel's own conversation and those of its threads, under each id that it had. */
  async function* inChannel(id: string) {
    const { sink, workspace, channelIds } = options;
    for (const channelId of await channelIds.all(id)) {
      if (isDirect(channelId, null) !== isDirect(id, null)) continue;
      yield* sink.conversations.within(keyOf({ teamId: workspace.teamId, channelId, threadTs: null }));
    }
  }
  const apply = async (channelId: string, audience: Audience): Promise<void> => {
    for await (const { conversation } of inChannel(channelId)) {
      known.set(conversation, audience);
      await options.sink.audienceChanged(conversation, audience);
    }
  };
  const lookups = createLookups(options, apply);
  const review = createAudienceReview({ ...options, close: (channelId) => apply(channelId, 'private') });
  return {
    review() {
      options.places.forgetChannels();
      return review();
    },
    async observed(conversation, { audience, isAudienceAssumed }) {
      if (isAudienceAssumed === true) return lookups.begin(placeOfKey(conversation).channelId);
      if (known.get(conversation) === audience) return;
      known.set(conversation, audience);
      await options.sink.audienceChanged(conversation, audience);
    },
    async changed(channelId, given) {
      options.places.forget(channelId);
      if (given !== null) return await apply(channelId, given);
      const channel = await options.places.channel(channelId);
      if (channel !== null) return await apply(channelId, audienceOf(channel));
      lookups.begin(channelId);
    },
    async left(channelId) {
      if (!options.settings.purge_on_leave) return;
      for await (const { conversation } of inChannel(channelId)) {
        known.delete(conversation);
        await options.sink.left(conversation);
      }
    },
    drained: lookups.drained,
  };
}

type LookupOptions = Pick<AudienceOptions, 'places' | 'clock' | 'log' | 'signal'>;

/** Retries channels that Slack did not describe. Their stored data stays as it is until then. */
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
      log.warn('Slack did not describe a channel; its stored conversations keep their audience', {
        channel: channelId,
      });
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
