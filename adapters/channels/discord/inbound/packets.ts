import type { z } from 'zod';
import { problemOf } from '../drops.ts';
import { isAnswer, isSourceDeleted } from '../map.ts';
import { bulkDeleteSchema, deleteSchema, messageSchema, namedSchema, updateSchema, type WireMessage } from '../wire.ts';

/** Gateway events about messages. */
export type MessagePacket =
  | { readonly kind: 'message'; readonly channelId: string; readonly message: WireMessage }
  | {
      readonly kind: 'edit';
      readonly channelId: string;
      readonly id: string;
      readonly guildId: string | null;
      /** False if the packet has no edit time, which a bot's late answer to a command lacks. */
      readonly isEdited: boolean;
      /** Null if the packet contains only part of the message. */
      readonly message: WireMessage | null;
    }
  | {
      readonly kind: 'removal';
      readonly channelId: string;
      readonly guildId: string | null;
      readonly ids: readonly string[];
    };

export type ReadPacket = MessagePacket | Malformed;

export interface Malformed {
  readonly kind: 'malformed';
  readonly channel: string | null;
  readonly externalId: string | null;
  readonly problem: string;
}

const READERS: Readonly<Record<string, (data: unknown) => ReadPacket | null>> = {
  MESSAGE_CREATE: readMessage,
  MESSAGE_UPDATE: readUpdate,
  MESSAGE_DELETE: (data) =>
    parsed(deleteSchema, data, ({ id, channel_id: channelId, guild_id: guildId = null }) => ({
      kind: 'removal',
      channelId,
      guildId,
      ids: [id],
    })),
  MESSAGE_DELETE_BULK: (data) =>
    parsed(bulkDeleteSchema, data, ({ ids, channel_id: channelId, guild_id: guildId = null }) => ({
      kind: 'removal',
      channelId,
      guildId,
      ids,
    })),
};

/** Null if it does not concern messages, or if Discord itself made the change. */
export function readPacket(type: string, data: unknown): ReadPacket | null {
  return Object.hasOwn(READERS, type) ? (READERS[type]?.(data) ?? null) : null;
}

export function readMessage(data: unknown): Extract<MessagePacket, { kind: 'message' }> | Malformed {
  return parsed(messageSchema, data, (message) => ({ kind: 'message', channelId: message.channel_id, message }));
}

function readUpdate(data: unknown): ReadPacket | null {
  const update = updateSchema.safeParse(data).data;
  const isEdited = Boolean(update?.edited_timestamp);
  // Otherwise it is a change by Discord itself: a preview, a pin.
  if (update !== undefined && !isEdited && !isSourceDeleted(update) && !isAnswer(update)) return null;
  return parsed(updateSchema, data, ({ id, channel_id: channelId, guild_id: guildId = null, content, flags }) => {
    if (isSourceDeleted({ flags })) return { kind: 'removal', channelId, guildId, ids: [id] };
    const isWhole = typeof content === 'string';
    const message = isWhole ? (messageSchema.safeParse(data).data ?? null) : null;
    return { kind: 'edit', channelId, id, guildId, isEdited, message };
  });
}

function parsed<Schema extends z.ZodType, Packet extends MessagePacket>(
  schema: Schema,
  data: unknown,
  then: (value: z.output<Schema>) => Packet,
): Packet | Malformed {
  const result = schema.safeParse(data);
  if (result.success) return then(result.data);
  const named = namedSchema.safeParse(data).data;
  return {
    kind: 'malformed',
    channel: named?.channel_id ?? null,
    externalId: named?.id ?? null,
    problem: problemOf(result.error),
  };
}
