import type { z } from 'zod';
import type { ChannelSink, Drop, DropReason } from '../../../src/adapter-kit.ts';
import { PLATFORM } from './places/place.ts';
import type { WireMessage } from './wire.ts';

type Sink = Pick<ChannelSink, 'dropped'>;

/** Reports events that are not stored; unknown details can be omitted. */
export function dropped(sink: Sink, drop: Pick<Drop, 'reason' | 'event'> & Partial<Drop>): void {
  sink.dropped({ platform: PLATFORM, channel: null, externalId: null, problem: null, ...drop });
}

export function dropMessage(
  sink: Sink,
  { id, channel_id: channel }: Pick<WireMessage, 'id' | 'channel_id'>,
  reason: DropReason,
): void {
  dropped(sink, { reason, event: 'MESSAGE_CREATE', channel, externalId: id });
}

/** Of a person, a bot or a place that the settings exclude. */
export function dropEdit(sink: Sink, { id, channel_id: channel }: Pick<WireMessage, 'id' | 'channel_id'>): void {
  dropped(sink, { reason: 'unserved', event: 'MESSAGE_UPDATE', channel, externalId: id });
}

export function dropMalformed(
  sink: Sink,
  event: string,
  { channel, externalId, problem }: Pick<Drop, 'channel' | 'externalId' | 'problem'>,
): void {
  dropped(sink, { reason: 'malformed', event, channel, externalId, problem });
}

const MAX_PROBLEMS = 3;

/** Where it is wrong and what was expected, without the content. */
export function problemOf({ issues }: z.ZodError): string {
  return issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path.join('.') || 'all of it'}: ${message}`)
    .join('; ');
}
