import type { ChannelSink, Drop } from '../../../src/index.ts';
import { PLATFORM } from './place.ts';

/** Tells the bot what is not kept; what is not known of it may be left out. */
export function dropped(
  sink: Pick<ChannelSink, 'dropped'>,
  drop: Pick<Drop, 'reason' | 'event'> & Partial<Drop>,
): void {
  sink.dropped({ platform: PLATFORM, channel: null, externalId: null, problem: null, ...drop });
}
