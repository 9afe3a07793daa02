import { z } from 'zod';

/**
 * The part of Slack's payloads that is read. A minor field of an unexpected type counts as missing, and an unreadable
 * item of a list is left out; neither loses the message around it.
 */

const id = z.string();
/** Of a channel. It becomes part of the keys of conversations, which are short and of few characters. */
export const channelId = z.string().regex(/^[\w-]{1,64}$/);

/** A field that may be missing, null or of an undocumented type. */
function side<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().catch(null);
}

/** The readable items of a list; null if it is not a list. */
function listOf<Schema extends z.ZodType>(schema: Schema) {
  return side(
    z.array(z.unknown()).transform((items) =>
      items.flatMap((item): z.infer<Schema>[] => {
        const { data, success } = schema.safeParse(item);
        return success ? [data] : [];
      }),
    ),
  );
}

const text = side(z.string());
const flag = side(z.boolean());
/** Closes a place or excludes somebody, so an unreadable value counts as set. */
const barrier = z.boolean().nullish().catch(true);
/** Seconds with up to six decimals. */
const timestamp = z.string().regex(/^\d{1,12}(\.\d{1,6})?$/);
const edited = side(z.object({ ts: timestamp }));

export const fileSchema = z.object({
  id,
  name: text,
  title: text,
  mimetype: text,
  size: side(z.number().nonnegative()),
  url_private: text,
  url_private_download: text,
  mode: text,
  /** `check_file_info`: a file of another workspace, for which a message contains only the id. */
  file_access: text,
});
export type WireFile = z.infer<typeof fileSchema>;

const attachmentSchema = z.object({
  fallback: text,
  pretext: text,
  title: text,
  text,
  author_name: text,
  /** Below an app's attachment, such as the repository; below a shared message, where it is from. */
  footer: text,
  is_msg_unfurl: flag,
  is_share: flag,
  from_url: text,
  /** Where a shared message is. */
  channel_id: side(id),
  ts: side(timestamp),
  files: listOf(z.object({ name: text, title: text })),
  fields: listOf(z.object({ title: text, value: text })),
  /** Instead of the texts, in messages of newer apps. */
  blocks: side(z.array(z.unknown())),
});

/** What a person is viewing next to the conversation. Unknown kinds are ignored. */
const appContextSchema = z.object({
  entities: listOf(z.object({ type: z.string(), value: z.unknown() })),
});
export type WireAppContext = z.infer<typeof appContextSchema>;

const messageShape = {
  type: z.enum(['message', 'app_mention']).catch('message'),
  subtype: text,
  ts: timestamp,
  thread_ts: side(timestamp),
  /** The author of the first message of the thread. */
  parent_user_id: side(id),
  user: side(id),
  bot_id: side(id),
  username: text,
  bot_profile: side(z.object({ name: text })),
  text,
  blocks: side(z.array(z.unknown())),
  attachments: listOf(attachmentSchema),
  files: listOf(fileSchema),
  edited,
  team: side(id),
  user_team: side(id),
  source_team: side(id),
  metadata: side(z.object({ event_type: text, event_payload: side(z.record(z.string(), z.unknown())) })),
  app_context: side(appContextSchema),
};

export const messageSchema = z.object(messageShape);
export type WireMessage = z.infer<typeof messageSchema>;

const placedShape = { channel: channelId, channel_type: text };
export const eventMessageSchema = z.object({ ...messageShape, ...placedShape });
export type WireEventMessage = z.infer<typeof eventMessageSchema>;

const earlierSchema = z.object({
  ...{ thread_ts: side(timestamp), edited },
  ...{ text, blocks: side(z.array(z.unknown())), files: listOf(fileSchema) },
});
export type WireEarlier = z.infer<typeof earlierSchema>;

export const changedSchema = z.object({
  ...placedShape,
  /** Of the change. */
  ts: side(timestamp),
  message: messageSchema,
  previous_message: side(earlierSchema),
});
export const deletedSchema = z.object({
  ...placedShape,
  deleted_ts: timestamp,
  previous_message: side(earlierSchema),
});

export const appContextChangedSchema = z.object({ user: side(id), context: side(appContextSchema) });

export const homeOpenedSchema = z.object({
  user: id,
  channel: channelId,
  tab: text,
  context: side(appContextSchema),
});

export const assistantSchema = z.object({
  assistant_thread: z.object({
    user_id: id,
    channel_id: channelId,
    thread_ts: timestamp,
    context: side(z.object({ channel_id: side(id) })),
  }),
});

/** A page of a history. Its messages are parsed one by one, so that an invalid one does not lose the others. */
export const historySchema = z.object({
  messages: listOf(messageSchema).transform((messages) => messages ?? []),
  has_more: flag,
  response_metadata: side(z.object({ next_cursor: text })),
});

/** The envelope of an event. */
export const bodySchema = z.object({
  team_id: side(id),
  context_team_id: side(id),
  is_ext_shared_channel: barrier,
  /** The installations that the event is for. */
  authorizations: listOf(z.object({ team_id: id })),
  event: z.object({ type: z.string(), subtype: text }),
});
export type WireBody = z.infer<typeof bodySchema>;

export const userSchema = z.object({
  id,
  name: text,
  real_name: text,
  is_bot: flag,
  is_admin: flag,
  is_owner: flag,
  /** From another workspace. */
  is_stranger: barrier,
  /** A guest, who reads only the channels that they are a member of, even public ones. */
  is_restricted: barrier,
  team_id: side(id),
  /** In an organization: all workspaces that they are a member of. */
  enterprise_user: side(z.object({ teams: listOf(id) })),
  profile: side(z.object({ display_name: text, real_name: text })),
});
export type WireUser = z.infer<typeof userSchema>;

export const channelSchema = z.object({
  id,
  name: text,
  is_im: flag,
  is_mpim: barrier,
  is_private: barrier,
  is_ext_shared: barrier,
  is_pending_ext_shared: barrier,
  /** With another workspace of the organization. */
  is_org_shared: barrier,
  creator: side(id),
});
export type WireChannel = z.infer<typeof channelSchema>;

export const slashSchema = z.object({
  command: z.string(),
  text: z.string().catch(''),
  user_id: id,
  team_id: id,
  channel_id: channelId,
  trigger_id: z.string().catch(''),
  response_url: z.string().catch(''),
});

/** Of a click on a button, an entry of a message's menu, or the button of a form. */
const clickSchema = z.object({
  team: side(z.object({ id })),
  user: z.object({ id, team_id: side(id) }),
  trigger_id: z.string().catch(''),
  response_url: z.string().catch(''),
});
export type WireClick = z.infer<typeof clickSchema>;

export const actionSchema = z.object({
  ...clickSchema.shape,
  channel: side(z.object({ id })),
  container: side(z.object({ thread_ts: text })),
  /** The message with the button. */
  message: side(z.object({ ts: z.string() })),
  view: side(z.object({ id, type: z.string() })),
  actions: z.array(
    z.object({
      action_id: z.string(),
      value: text,
      selected_option: side(z.object({ value: z.string() })),
    }),
  ),
});

export const shortcutSchema = z.object({
  ...clickSchema.shape,
  callback_id: z.string(),
  channel: z.object({ id }),
  message: messageSchema,
});

const fieldSchema = z
  .object({ value: text, selected_option: side(z.object({ value: z.string() })) })
  .catch({ value: null, selected_option: null });
const fieldsSchema = z.record(z.string(), fieldSchema).catch({});

export const viewSchema = z.object({
  ...clickSchema.shape,
  view: z.object({
    id,
    private_metadata: z.string().catch(''),
    state: z.object({ values: z.record(z.string(), fieldsSchema).catch({}) }).catch({ values: {} }),
  }),
});
