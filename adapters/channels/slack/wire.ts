import { z } from 'zod';

/**
 * What is read of Slack's payloads, and nothing else: everything unknown is passed over, and what may be missing or
 * null is allowed to be.
 */

const id = z.string();

export const fileSchema = z.object({
  id,
  name: z.string().nullish(),
  title: z.string().nullish(),
  mimetype: z.string().nullish(),
  size: z.number().nullish(),
  url_private: z.string().nullish(),
  url_private_download: z.string().nullish(),
  mode: z.string().nullish(),
  /** `check_file_info`: a file of another workspace, of which a message tells the id alone. */
  file_access: z.string().nullish(),
});
export type WireFile = z.infer<typeof fileSchema>;

const attachmentSchema = z.object({
  fallback: z.string().nullish(),
  pretext: z.string().nullish(),
  title: z.string().nullish(),
  text: z.string().nullish(),
  author_name: z.string().nullish(),
  is_msg_unfurl: z.boolean().nullish(),
  is_share: z.boolean().nullish(),
  from_url: z.string().nullish(),
});

/** What a person looks at beside the conversation. Kinds that are not known are passed over. */
const appContextSchema = z.object({
  entities: z.array(z.object({ type: z.string(), value: z.unknown() })).nullish(),
});
export type WireAppContext = z.infer<typeof appContextSchema>;

const messageShape = {
  type: z.enum(['message', 'app_mention']).default('message'),
  subtype: z.string().nullish(),
  ts: z.string(),
  thread_ts: z.string().nullish(),
  /** Who wrote the message that the thread hangs under. */
  parent_user_id: id.nullish(),
  user: id.nullish(),
  bot_id: id.nullish(),
  username: z.string().nullish(),
  bot_profile: z.object({ name: z.string().nullish() }).nullish(),
  text: z.string().nullish(),
  blocks: z.array(z.unknown()).nullish(),
  attachments: z.array(attachmentSchema).nullish(),
  files: z.array(fileSchema).nullish(),
  edited: z.object({ ts: z.string() }).nullish(),
  team: id.nullish(),
  user_team: id.nullish(),
  source_team: id.nullish(),
  metadata: z
    .object({ event_type: z.string().nullish(), event_payload: z.record(z.string(), z.unknown()).nullish() })
    .nullish(),
  app_context: appContextSchema.nullish().catch(null),
};

export const messageSchema = z.object(messageShape);
export type WireMessage = z.infer<typeof messageSchema>;

const placedShape = { channel: id, channel_type: z.string().nullish() };
export const eventMessageSchema = z.object({ ...messageShape, ...placedShape });
export type WireEventMessage = z.infer<typeof eventMessageSchema>;

const earlierSchema = z.object({ thread_ts: z.string().nullish(), edited: z.object({ ts: z.string() }).nullish() });

export const changedSchema = z.object({
  ...placedShape,
  message: messageSchema,
  previous_message: earlierSchema.nullish(),
});
export const deletedSchema = z.object({
  ...placedShape,
  deleted_ts: z.string(),
  previous_message: earlierSchema.nullish(),
});

export const appContextChangedSchema = z.object({ user: id.nullish(), context: appContextSchema.nullish() });

export const homeOpenedSchema = z.object({
  user: id,
  channel: id,
  tab: z.string().nullish(),
  context: appContextSchema.nullish().catch(null),
});

export const assistantSchema = z.object({
  assistant_thread: z.object({
    user_id: id,
    channel_id: id,
    thread_ts: z.string(),
    context: z.object({ channel_id: id.nullish() }).nullish(),
  }),
});

export const historySchema = z.object({
  messages: z.array(messageSchema).default([]),
  has_more: z.boolean().nullish(),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** The envelope around an event. */
export const bodySchema = z.object({
  team_id: id.nullish(),
  context_team_id: id.nullish(),
  is_ext_shared_channel: z.boolean().nullish(),
  event: z.object({ type: z.string(), subtype: z.string().nullish() }),
});
export type WireBody = z.infer<typeof bodySchema>;

export const userSchema = z.object({
  id,
  name: z.string().nullish(),
  real_name: z.string().nullish(),
  is_bot: z.boolean().nullish(),
  is_admin: z.boolean().nullish(),
  is_owner: z.boolean().nullish(),
  /** Of another workspace. */
  is_stranger: z.boolean().nullish(),
  team_id: id.nullish(),
  profile: z.object({ display_name: z.string().nullish(), real_name: z.string().nullish() }).nullish(),
});
export type WireUser = z.infer<typeof userSchema>;

export const channelSchema = z.object({
  id,
  name: z.string().nullish(),
  is_im: z.boolean().nullish(),
  is_mpim: z.boolean().nullish(),
  is_private: z.boolean().nullish(),
  is_ext_shared: z.boolean().nullish(),
  is_pending_ext_shared: z.boolean().nullish(),
  creator: id.nullish(),
});
export type WireChannel = z.infer<typeof channelSchema>;

export const slashSchema = z.object({
  command: z.string(),
  text: z.string().default(''),
  user_id: id,
  team_id: id,
  channel_id: id,
  trigger_id: z.string().default(''),
  response_url: z.string().default(''),
});

const interactionShape = {
  team: z.object({ id }).nullish(),
  user: z.object({ id, team_id: id.nullish() }),
  trigger_id: z.string().default(''),
  response_url: z.string().default(''),
};

export const actionSchema = z.object({
  ...interactionShape,
  channel: z.object({ id }).nullish(),
  container: z.object({ thread_ts: z.string().nullish() }).nullish(),
  view: z.object({ id, type: z.string() }).nullish(),
  actions: z.array(
    z.object({
      action_id: z.string(),
      value: z.string().nullish(),
      selected_option: z.object({ value: z.string() }).nullish(),
    }),
  ),
});

export const shortcutSchema = z.object({
  ...interactionShape,
  callback_id: z.string(),
  channel: z.object({ id }),
  message: messageSchema,
});

export const viewSchema = z.object({
  ...interactionShape,
  view: z.object({
    id,
    private_metadata: z.string().default(''),
    state: z
      .object({ values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))) })
      .default({ values: {} }),
  }),
});
