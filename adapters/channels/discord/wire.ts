import { z } from 'zod';

/**
 * The part of Discord's payloads that is read. Ids and the author are required; anything else that is missing, null or
 * of another shape is left out, and the rest is kept.
 */

/** Whole snowflakes; they are compared as numbers. */
const id = z.string().regex(/^\d{1,20}$/, 'expected an id');
const optionalId = id.nullish().catch(null);
const text = z.string().nullish().catch(null);

/** The readable items. */
function listOf<Schema extends z.ZodType>(schema: Schema) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((items): readonly z.output<Schema>[] =>
      items.flatMap((item) => {
        const parsed = schema.safeParse(item);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}

export const userSchema = z.object({
  id,
  username: z.string().catch(''),
  global_name: text,
  bot: z.boolean().nullish().catch(null),
});
export type WireUser = z.infer<typeof userSchema>;

export const memberSchema = z.object({
  nick: text,
  roles: listOf(id),
  permissions: z
    .string()
    .regex(/^\d{1,40}$/)
    .nullish()
    .catch(null),
});
export type WireMember = z.infer<typeof memberSchema>;

const attachmentSchema = z.object({
  id: z.string(),
  filename: z.string(),
  content_type: text,
  size: z.number().catch(0),
  url: z.string(),
});
export type WireAttachment = z.infer<typeof attachmentSchema>;

const embedSchema = z.object({
  author: z.object({ name: text }).nullish().catch(null),
  title: text,
  description: text,
  fields: listOf(z.object({ name: z.string(), value: z.string() })),
  footer: z.object({ text }).nullish().catch(null),
});

const pollSchema = z.object({
  question: z.object({ text }).catch({ text: null }),
  answers: listOf(z.object({ poll_media: z.object({ text, emoji: z.object({ name: text }).nullish().catch(null) }) })),
});

const contentShape = {
  content: z.string().catch(''),
  attachments: listOf(attachmentSchema),
  sticker_items: listOf(z.object({ name: z.string() })),
  poll: pollSchema.nullish().catch(null),
  mentions: listOf(userSchema.extend({ member: z.object({ nick: text }).nullish().catch(null) })),
  mention_roles: listOf(id),
  embeds: listOf(embedSchema),
  components: listOf(z.unknown()),
};

const quotedSchema = z.object({ id, author: userSchema, timestamp: text, ...contentShape });
export type WireQuoted = z.infer<typeof quotedSchema>;

const referenceSchema = z.object({
  type: z.number().nullish().catch(null),
  message_id: optionalId,
  channel_id: optionalId,
});

/** Of a person. */
export const MENTION = /<@!?(\d{1,20})>/g;

/** A server may leave out the list of mentions; then the text names the people. */
function withMentions(message: unknown): unknown {
  const unlisted = unlistedSchema.safeParse(message).data;
  if (unlisted === undefined) return message;
  return { ...unlisted, mentions: Array.from(unlisted.content.matchAll(MENTION), ([, named]) => ({ id: named })) };
}

const unlistedSchema = z.looseObject({ mentions: z.null().optional(), content: z.string() });

const wholeMessageSchema = z.object({
  id,
  channel_id: id,
  guild_id: optionalId,
  type: z.number().catch(0),
  author: userSchema,
  member: memberSchema.nullish().catch(null),
  webhook_id: optionalId,
  timestamp: text,
  edited_timestamp: text,
  flags: z.number().nullish().catch(null),
  message_reference: referenceSchema.nullish().catch(null),
  referenced_message: quotedSchema.nullish().catch(null),
  message_snapshots: listOf(z.object({ message: z.object(contentShape) })),
  ...contentShape,
});
export const messageSchema = z.preprocess(withMentions, wholeMessageSchema);
export type WireMessage = z.infer<typeof messageSchema>;

/** A page of messages, each parsed separately. */
export const pageSchema = z.array(z.unknown());
export const messagesIn = (page: readonly unknown[]) => listOf(messageSchema).parse(page);

/** What is known of an unreadable message. */
export const namedSchema = z.object({ id, channel_id: id.nullish().catch(null) });

/** An update may contain only part of a message. Without content, the message has to be fetched. */
export const updateSchema = z.object({
  id,
  channel_id: id,
  guild_id: optionalId,
  type: z.number().nullish().catch(null),
  edited_timestamp: text,
  flags: z.number().nullish().catch(null),
  content: z.string().nullish().catch(null),
});
export const deleteSchema = z.object({ id, channel_id: id, guild_id: optionalId });
export const bulkDeleteSchema = z.object({ ids: listOf(id), channel_id: id, guild_id: optionalId });
export const removedMembersSchema = z.object({ id, guild_id: id, removed_member_ids: listOf(id) });
export const sentSchema = z.object({ id });

/** When a message was edited, in epoch milliseconds; null if never. */
export function editedAt({ edited_timestamp: edited }: Pick<WireMessage, 'edited_timestamp'>): number | null {
  const at = Date.parse(edited ?? '');
  return Number.isNaN(at) ? null : at;
}

/** When a message was written, in epoch milliseconds. If the time cannot be read, it comes from the id. */
export function writtenAt({ id: messageId, timestamp }: Pick<WireMessage, 'id' | 'timestamp'>): number {
  const at = Date.parse(timestamp ?? '');
  return Number.isNaN(at) ? timeOf(messageId) : at;
}

const optionValue = z.union([z.string(), z.number(), z.boolean()]);
const optionSchema = z.object({
  name: z.string(),
  type: z.number(),
  value: optionValue.nullish().catch(null),
  focused: z.boolean().nullish().catch(null),
});
const nestedOptionSchema = optionSchema.extend({ options: listOf(optionSchema).nullish() });
export type WireOption = z.infer<typeof nestedOptionSchema>;

const fieldSchema = z.object({
  custom_id: z.string(),
  value: z.string().catch(''),
  values: z.array(z.string()).nullish().catch(null),
});
/** A field of a form is inside a label or, in the older format, a row. */
const formRowSchema = z.object({ component: fieldSchema.nullish().catch(null), components: listOf(fieldSchema) });

/** The readable ones by id. */
function byId<Schema extends z.ZodType>(schema: Schema) {
  return z
    .record(z.string(), z.unknown())
    .catch({})
    .transform(
      (all) =>
        new Map(
          Object.entries(all).flatMap(([key, one]): [string, z.output<Schema>][] => {
            const parsed = schema.safeParse(one);
            return parsed.success ? [[key, parsed.data]] : [];
          }),
        ),
    );
}

/** What an interaction names, in full. */
const resolvedSchema = z.object({
  messages: byId(quotedSchema),
  users: byId(userSchema),
  members: byId(memberSchema.pick({ nick: true })),
});

export const interactionSchema = z.object({
  id,
  application_id: id,
  type: z.number(),
  token: z.string(),
  guild_id: optionalId,
  channel_id: optionalId,
  channel: z.object({ id }).nullish().catch(null),
  /** The kind of place: in a server, with the bot, or between people. */
  context: z.number().nullish().catch(null),
  member: memberSchema.extend({ user: userSchema }).nullish().catch(null),
  user: userSchema.nullish().catch(null),
  /** The message with the button. */
  message: z.object({ id }).nullish().catch(null),
  data: z
    .object({
      name: text,
      type: z.number().nullish().catch(null),
      options: listOf(nestedOptionSchema),
      target_id: optionalId,
      resolved: resolvedSchema.nullish().catch(null),
      custom_id: text,
      components: listOf(formRowSchema),
    })
    .nullish()
    .catch(null),
});
export type WireInteraction = z.infer<typeof interactionSchema>;

/** A dispatch as the client emits it before handling it. */
export const packetSchema = z.object({ t: z.string(), d: z.unknown() });

const EPOCH_MS = 1_420_070_400_000;

/** When a snowflake was created, in epoch milliseconds. */
export function timeOf(snowflake: string): number {
  return Number(BigInt(snowflake) >> 22n) + EPOCH_MS;
}

/** The first snowflake of a moment; of an unknown moment, the first of all. */
export function snowflakeAt(at: number): string {
  return (BigInt(Math.max(0, Math.floor(at - EPOCH_MS) || 0)) << 22n).toString();
}

/** Imported messages have ids of their own. */
export function isSnowflake(text: string): boolean {
  return /^\d{15,22}$/.test(text);
}

/** Snowflakes by creation time. */
export function isNewer(one: string, other: string): boolean {
  return BigInt(one) > BigInt(other);
}
