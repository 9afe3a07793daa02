import { describe } from '../../../../src/adapter-kit.ts';
import { PLATFORM, placeOfKey } from '../places/place.ts';
import { audienceOf } from '../places/places.ts';
import type { BotServices } from '../services.ts';
import { createRate } from '../web/rate.ts';
import { codeOf, isFinal, NOT_FOUND, retryRepeatable } from '../web/web.ts';
import { channelSchema } from '../wire.ts';

export interface ReviewOptions
  extends Pick<BotServices, 'workspace' | 'sink' | 'channelIds' | 'clock' | 'log' | 'signal'> {
  /** The channel has turned private. */
  readonly close: (channelId: string) => Promise<void>;
}

/** Slack allows at least fifty lookups a minute; messages need some of them. */
const LOOKUPS = { most: 20, spanMs: 30_000 };

/**
 * Closes stored public channels that turned private, or were shared, while the bot received no events of them: it was
 * offline, or not in the channel. Never rejects.
 */
export function createAudienceReview(options: ReviewOptions): () => Promise<void> {
  const rate = createRate(options.clock, LOOKUPS);
  let running: Promise<void> = Promise.resolve();
  const review = async (): Promise<void> => {
    for (const channelId of await publicChannels(options)) {
      await rate(options.signal);
      if (await isClosed(options, channelId)) await options.close(channelId);
    }
  };
  return () => {
    running = running.then(review).catch((error: unknown) => {
      if (options.signal.aborted) return;
      options.log.warn('The audience of some stored channels could not be checked', { cause: describe(error) });
    });
    return running;
  };
}

async function publicChannels({ sink, workspace }: ReviewOptions): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { conversation, audience } of sink.conversations.within(`${PLATFORM}:${workspace.teamId}`)) {
    if (audience === 'public') found.add(placeOfKey(conversation).channelId);
  }
  return found;
}

/** Slack shows every public channel of the workspace, so one that it does not find is private, or gone. */
async function isClosed(options: ReviewOptions, channelId: string): Promise<boolean> {
  const channel = await options.channelIds.current(channelId);
  try {
    const answer = await retryRepeatable(() => options.workspace.web.conversations.info({ channel }), options);
    return audienceOf(channelSchema.parse(answer.channel)) !== 'public';
  } catch (error) {
    if (!isFinal(error)) throw error;
    return codeOf(error) === NOT_FOUND;
  }
}
