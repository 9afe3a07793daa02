import { z } from 'zod';
import { type Audience, type DropReason, faultText } from '../../../../src/adapter-kit.ts';
import {
  changedSchema,
  channelId,
  deletedSchema,
  eventMessageSchema,
  type WireEarlier,
  type WireEventMessage,
  type WireMessage,
} from '../wire.ts';
import { deletedFiles } from './files.ts';

/** A message that somebody wrote. */
export interface NewMessage {
  readonly kind: 'message';
  readonly message: WireEventMessage;
  /** The channel is shared with another workspace, as far as that is known. */
  readonly isShared: boolean;
  /** Null for a live message. */
  readonly later: ReadLater | null;
}

/** What is known of a message that was missed, and read from history. */
export interface ReadLater {
  /** Too old to be answered. */
  readonly isPast: boolean;
  /** Put before its text. */
  readonly note: string | null;
  /** The first message of its thread, if it was read. */
  readonly root: WireEventMessage | null;
}

/** A message that somebody changed. */
export interface EditedMessage {
  readonly kind: 'edit';
  readonly message: WireEventMessage;
  readonly isShared: boolean;
  /** When it was changed, in seconds. */
  readonly at: number;
}

/**
 * What happened at Slack and changes stored data. `readIncoming` reads it from an event, catching up makes it from what
 * was missed, and `Take` passes it to the bot.
 */
export type Incoming =
  | NewMessage
  | EditedMessage
  | { readonly kind: 'removal'; readonly channel: string; readonly ts: string; readonly threadTs: string | null }
  /** The readers of the channel have changed: to `audience`, or if that is null, to what a lookup shows. */
  | { readonly kind: 'conversion'; readonly channel: string; readonly audience: Audience | null }
  /** The channel has another id from now on. */
  | { readonly kind: 'renumbering'; readonly channel: string; readonly to: string; readonly at: number | null }
  /** The bot is no longer in the channel. */
  | { readonly kind: 'leaving'; readonly channel: string };

/** An event that is not handled, and why. */
export interface Refused {
  readonly kind: 'dropped';
  readonly reason: DropReason;
  readonly problem: string | null;
}

export interface RawEvent {
  readonly event: unknown;
  /** The channel is shared with another workspace, according to the envelope. */
  readonly isShared: boolean;
}

/** The audience of the channel after each event; null if the event does not show it. */
const CONVERSIONS: ReadonlyMap<string, Audience | null> = new Map([
  ['channel_convert_to_private', 'private'],
  ['channel_convert_to_public', null],
]);
const SHARING: ReadonlyMap<string, Audience | null> = new Map([
  ['channel_shared', 'private'],
  ['channel_unshared', null],
]);
const LEAVING = new Set(['channel_left', 'group_left', 'channel_deleted', 'group_deleted']);

const kindSchema = z.object({ type: z.string(), subtype: z.string().nullish().catch(null) });

/** Null for events that change no stored data. */
export function readIncoming({ event, isShared }: RawEvent): Incoming | Refused | null {
  const { type = '', subtype = '' } = kindSchema.safeParse(event).data ?? {};
  const shared = SHARING.get(type);
  if (shared !== undefined) return readPlaceChange(event, { kind: 'conversion', audience: shared });
  if (type === 'channel_id_changed') return readRenumbering(event);
  if (LEAVING.has(type)) return readPlaceChange(event, { kind: 'leaving' });
  if (type !== 'message' && type !== 'app_mention') return null;
  if (subtype === 'message_changed') return readEdit(event, isShared);
  if (subtype === 'message_deleted') return readRemoval(event);
  const read = eventMessageSchema.safeParse(event);
  if (!read.success) return malformed(read.error);
  const message = read.data;
  const converted = CONVERSIONS.get(message.subtype ?? '');
  if (converted !== undefined) return { kind: 'conversion', channel: message.channel, audience: converted };
  return { kind: 'message', message, isShared, later: null };
}

function readEdit(event: unknown, isShared: boolean): Incoming | Refused {
  const read = changedSchema.safeParse(event);
  if (!read.success) return malformed(read.error);
  const { channel, channel_type: channelType, message, previous_message: before, ts: changedAt } = read.data;
  const { ts, thread_ts: threadTs } = message;
  if (message.subtype === 'tombstone') return { kind: 'removal', channel, ts, threadTs: threadTs ?? null };
  if (!isChanged(message, before ?? null)) return { kind: 'dropped', reason: 'note', problem: null };
  const at = Math.max(Number(changedAt ?? ts), Number(message.edited?.ts ?? ts));
  return { kind: 'edit', message: { ...message, channel, channel_type: channelType }, isShared, at };
}

/**
 * Whether somebody changed the content; other changes are Slack's own, such as a preview or a reply count. The edit time
 * alone does not show it: it may be in whole seconds, and a text that an app streams and a deleted file have none.
 */
function isChanged(message: WireMessage, before: WireEarlier | null): boolean {
  if (message.edited && message.edited.ts !== before?.edited?.ts) return true;
  if (deletedFiles(message) > deletedFiles(before)) return true;
  if (before === null) return false;
  const isReworded = typeof before.text === 'string' && before.text !== (message.text ?? '');
  return isReworded || (before.blocks != null && JSON.stringify(before.blocks) !== JSON.stringify(message.blocks));
}

function readRemoval(event: unknown): Incoming | Refused {
  const read = deletedSchema.safeParse(event);
  if (!read.success) return malformed(read.error);
  const { channel, deleted_ts: ts, previous_message: before } = read.data;
  return { kind: 'removal', channel, ts, threadTs: before?.thread_ts ?? null };
}

const placedSchema = z.object({
  channel: z.union([channelId, z.object({ id: channelId }).transform(({ id }) => id)]),
});

type PlaceChange = { readonly kind: 'conversion'; readonly audience: Audience | null } | { readonly kind: 'leaving' };

function readPlaceChange(event: unknown, change: PlaceChange): Incoming | Refused {
  const read = placedSchema.safeParse(event);
  if (!read.success) return malformed(read.error);
  return { ...change, channel: read.data.channel };
}

const renumberedSchema = z.object({
  old_channel_id: channelId,
  new_channel_id: channelId,
  event_ts: z.coerce.number().positive().nullish().catch(null),
});

function readRenumbering(event: unknown): Incoming | Refused {
  const read = renumberedSchema.safeParse(event);
  if (!read.success) return malformed(read.error);
  const { old_channel_id: channel, new_channel_id: to, event_ts: at } = read.data;
  return { kind: 'renumbering', channel, to, at: at ?? null };
}

/** The same with another id of the channel. */
export function withChannel(incoming: Incoming, channel: string): Incoming {
  if (incoming.kind !== 'message' && incoming.kind !== 'edit') return { ...incoming, channel };
  return { ...incoming, message: { ...incoming.message, channel } };
}

export function channelOf(incoming: Incoming): string {
  return incoming.kind === 'message' || incoming.kind === 'edit' ? incoming.message.channel : incoming.channel;
}

function malformed({ issues }: z.ZodError): Refused {
  const [issue] = issues;
  const problem = issue === undefined ? null : faultText(issue);
  return { kind: 'dropped', reason: 'malformed', problem };
}

/** The same for each delivery of the same event. */
export function nameOf(incoming: Incoming): string {
  switch (incoming.kind) {
    case 'message':
      return `${messageName(incoming.message.channel, incoming.message.ts)}message`;
    case 'edit': {
      const { channel, ts } = incoming.message;
      return `${messageName(channel, ts)}edit:${incoming.at}`;
    }
    case 'removal':
      return `removal:${incoming.channel}:${incoming.ts}`;
    default:
      return `${incoming.channel}:${incoming.kind}`;
  }
}

/** The common prefix of the names for a message and its edits. */
export function messageName(channel: string, ts: string): string {
  return `${channel}:${ts}:`;
}
