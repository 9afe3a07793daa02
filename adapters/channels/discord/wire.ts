import { z } from 'zod';

/**
 * What is read of Discord's payloads, and nothing else: everything unknown is passed over, and what may be missing or
 * null is allowed to be.
 */

const id = z.string();

export const userSchema = z.object({
  id,
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().nullish(),
});
export type WireUser = z.infer<typeof userSchema>;

export const memberSchema = z.object({
  nick: z.string().nullish(),
  roles: z.array(id).default([]),
  permissions: z.string().nullish(),
});
export type WireMember = z.infer<typeof memberSchema>;

const attachmentSchema = z.object({
  id,
  filename: z.string(),
  content_type: z.string().nullish(),
  size: z.number(),
  url: z.string(),
});
export type WireAttachment = z.infer<typeof attachmentSchema>;

const embedSchema = z.object({
  title: z.string().nullish(),
  description: z.string().nullish(),
  fields: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

const contentShape = {
  content: z.string().default(''),
  attachments: z.array(attachmentSchema).default([]),
  sticker_items: z.array(z.object({ name: z.string() })).nullish(),
  poll: z
    .object({
      question: z.object({ text: z.string().nullish() }),
      answers: z.array(z.object({ poll_media: z.object({ text: z.string().nullish() }) })).default([]),
    })
    .nullish(),
  mentions: z.array(userSchema.extend({ member: memberSchema.partial().nullish() })).default([]),
  mention_roles: z.array(id).default([]),
  embeds: z.array(embedSchema).default([]),
  components: z.array(z.unknown()).default([]),
};

const quotedSchema = z.object({
  id,
  author: userSchema,
  timestamp: z.string().nullish(),
  ...contentShape,
});
export type WireQuoted = z.infer<typeof quotedSchema>;

export const messageSchema = z.object({
  id,
  channel_id: id,
  guild_id: id.nullish(),
  type: z.number().default(0),
  author: userSchema,
  member: memberSchema.nullish(),
  webhook_id: id.nullish(),
  timestamp: z.string(),
  edited_timestamp: z.string().nullish(),
  message_reference: z
    .object({ type: z.number().nullish(), message_id: id.nullish(), channel_id: id.nullish() })
    .nullish(),
  referenced_message: quotedSchema.nullish(),
  message_snapshots: z.array(z.object({ message: z.object(contentShape) })).nullish(),
  ...contentShape,
});
export type WireMessage = z.infer<typeof messageSchema>;

export const messagesSchema = z.array(messageSchema);

/** An update may hold a part of a message only. */
export const updateSchema = z.object({
  id,
  channel_id: id,
  guild_id: id.nullish(),
  edited_timestamp: z.string().nullish(),
});
export const deleteSchema = z.object({ id, channel_id: id, guild_id: id.nullish() });
export const bulkDeleteSchema = z.object({ ids: z.array(id), channel_id: id, guild_id: id.nullish() });
export const sentSchema = z.object({ id });

const optionValue = z.union([z.string(), z.number(), z.boolean()]);
const optionSchema = z.object({
  name: z.string(),
  type: z.number(),
  value: optionValue.nullish(),
  focused: z.boolean().nullish(),
});
const nestedOptionSchema = optionSchema.extend({ options: z.array(optionSchema).nullish() });
export type WireOption = z.infer<typeof nestedOptionSchema>;

const fieldSchema = z.object({ custom_id: z.string(), value: z.string().default('') });
/** A text field of a form stands in a label or, in the older form, in a row. */
const formRowSchema = z.object({ component: fieldSchema.nullish(), components: z.array(fieldSchema).nullish() });

export const interactionSchema = z.object({
  id,
  application_id: id,
  type: z.number(),
  token: z.string(),
  guild_id: id.nullish(),
  channel_id: id.nullish(),
  member: memberSchema.extend({ user: userSchema }).nullish(),
  user: userSchema.nullish(),
  data: z
    .object({
      name: z.string().nullish(),
      type: z.number().nullish(),
      options: z.array(nestedOptionSchema).nullish(),
      target_id: id.nullish(),
      resolved: z.object({ messages: z.record(z.string(), quotedSchema).nullish() }).nullish(),
      custom_id: z.string().nullish(),
      components: z.array(formRowSchema).nullish(),
    })
    .nullish(),
});
export type WireInteraction = z.infer<typeof interactionSchema>;

/** A dispatch as the client tells of it before it does anything itself. */
export const packetSchema = z.object({ t: z.string(), d: z.unknown() });

const EPOCH_MS = 1_420_070_400_000;

/** When a snowflake was made, epoch milliseconds. */
export function timeOf(snowflake: string): number {
  return Number(BigInt(snowflake) >> 22n) + EPOCH_MS;
}

/** The first snowflake of a moment. */
export function snowflakeAt(at: number): string {
  return (BigInt(Math.max(0, at - EPOCH_MS)) << 22n).toString();
}

/** Messages that were brought in from elsewhere have ids of their own. */
export function isSnowflake(text: string): boolean {
  return /^\d{15,22}$/.test(text);
}

/** Snowflakes in the order of their making. */
export function isNewer(one: string, other: string): boolean {
  return BigInt(one) > BigInt(other);
}
