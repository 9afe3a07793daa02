import type { SocketModeReceiver } from '@slack/bolt';
import { z } from 'zod';
import type { ChannelSink, Drop } from '../../../../src/adapter-kit.ts';
import { PLATFORM } from '../places/place.ts';

/** The loggable parts of a packet: the ids of the event, never its text. */
export type Names = Pick<Drop, 'event' | 'channel' | 'externalId'>;

/** Counts and logs a packet without anything the bot could use. */
export function dropMalformed(sink: Pick<ChannelSink, 'dropped'>, names: Names, problem: string | null): void {
  sink.dropped({ platform: PLATFORM, reason: 'malformed', ...names, problem });
}

/** For requests without an event name. */
export function reportMalformed(sink: Pick<ChannelSink, 'dropped'>): (problem: string) => void {
  return (problem) => dropMalformed(sink, namesOf(null), problem);
}

const objectSchema = z.record(z.string(), z.unknown());
const eventSchema = z.object({ type: z.literal('event_callback'), event: z.object({ type: z.string() }) });
const sideField = z.string().nullish().catch(null);

/** True if the listeners can read the body: an object whose event, if any, has a type. */
export function isReadable(body: unknown): boolean {
  if (!objectSchema.safeParse(body).success) return false;
  return !isEvent(body) || eventSchema.safeParse(body).success;
}

export function isEvent(body: unknown): boolean {
  return z.object({ type: z.literal('event_callback') }).safeParse(body).success;
}

const limitSchema = z.object({
  type: z.literal('app_rate_limited'),
  team_id: z.string(),
  minute_rate_limited: z.number().positive(),
});

/** A minute, in seconds, in which Slack withheld events of a workspace because there were too many; null if not. */
export function withheldMinute(body: unknown): { readonly teamId: string; readonly since: number } | null {
  const limit = limitSchema.safeParse(body).data;
  return limit === undefined ? null : { teamId: limit.team_id, since: limit.minute_rate_limited };
}

const namesSchema = z.object({
  type: sideField,
  event: z
    .object({
      type: sideField,
      channel: sideField,
      ts: sideField,
      deleted_ts: sideField,
      message: z.object({ ts: sideField }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

/** The ids of an event, as far as they can be read. */
export function namesOf(body: unknown): Names {
  const { type, event } = namesSchema.safeParse(body).data ?? {};
  return {
    event: event?.type ?? type ?? 'packet',
    channel: event?.channel ?? null,
    externalId: event?.deleted_ts ?? event?.message?.ts ?? event?.ts ?? null,
  };
}

const envelopeSchema = z.looseObject({ type: z.string(), envelope_id: z.string().optional() });
const disconnectSchema = z.object({ type: z.literal('disconnect'), reason: z.string() });

export interface SocketWatch {
  onMalformed(problem: string): void;
  /** Slack says why it is about to close the socket. */
  onLeaving(reason: string): void;
}

/** The library itself answers these. */
const OWN_TYPES = new Set(['hello', 'disconnect']);
const PAYLOAD_TYPES = new Set(['events_api', 'slash_commands', 'interactive']);
/** No listener has this name; the library emits the type of a packet as an event of its own client. */
const NEUTRAL_TYPE = 'slack_packet';

/**
 * Reads each packet of a socket before the library does. The library throws from its event handler for incomplete
 * packets, which ends the process, and emits types such as `close` as if its own socket had closed.
 */
export function guardSocket(client: SocketModeReceiver['client'], { onMalformed, onLeaving }: SocketWatch): void {
  const inner = client.listeners('ws_message');
  const pass = (data: unknown): void => {
    for (const handle of inner) handle.call(client, data, false);
  };
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown) => {
    const envelope = envelopeSchema.safeParse(parseJson(data)).data;
    if (envelope === undefined) return onMalformed('a frame is not a packet');
    const leaving = disconnectSchema.safeParse(envelope).data;
    if (leaving !== undefined) onLeaving(leaving.reason);
    if (OWN_TYPES.has(envelope.type)) return pass(data);
    // Nothing could be acknowledged.
    if (envelope.envelope_id === undefined) return onMalformed('a packet has no id');
    // Without a payload it is acknowledged and dropped like every other malformed packet.
    const payload = PAYLOAD_TYPES.has(envelope.type) ? envelope['payload'] : null;
    pass(JSON.stringify({ ...envelope, type: NEUTRAL_TYPE, payload }));
  });
}

function parseJson(data: unknown): unknown {
  if (typeof data !== 'string') return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
