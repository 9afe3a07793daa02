import { z } from 'zod';

const slackId = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/, 'expected an id of Slack, such as C0123ABCD');
const ids = z.array(slackId);

const list = z.strictObject({
  allow: ids.default([]).describe('Only these; empty for all'),
  deny: ids.default([]).describe('Never these, even when they are allowed'),
});
const lists = () => list.prefault({});
export type AccessList = z.infer<typeof list>;

const http = z.strictObject({
  host: z.string().default('0.0.0.0').describe('Address to listen on'),
  port: z.int().min(0).max(65_535).default(3000).describe('Port to listen on; 0 for any'),
  public_url: z
    .string()
    .regex(/^$|^https?:\/\/\S+[^/]$/, 'expected a URL without a slash at its end')
    .default('')
    .describe('Where Slack reaches the server from outside; for the manifest'),
});

const catchUp = z.strictObject({
  messages: z.int().min(0).max(5000).default(200).describe('Most missed messages read per conversation; 0 for none'),
  hours: z.number().positive().default(72).describe('How far back missed messages are read'),
  answer_minutes: z.number().min(0).default(30).describe('Missed messages older than this are kept, not answered'),
  requests_per_minute: z
    .number()
    .positive()
    .max(100)
    .default(40)
    .describe('History requests a minute; 1 for commercially distributed apps outside the Marketplace'),
  page: z.int().min(1).max(200).default(100).describe('Messages a request; 15 for those apps'),
});

const files = z.strictObject({
  image_mb: z.number().min(0).max(20).default(4).describe('Larger images are named to the model, not shown'),
  text_kb: z.number().min(0).max(1000).default(64).describe('Text files up to this size are read along; 0 for none'),
});

const prompt = z.strictObject({ title: z.string().min(1).max(75), message: z.string().min(1).max(400) });

const fields = {
  enabled: z.boolean().default(true).describe('false passes the table over'),
  transport: z.enum(['socket', 'http']).default('socket').describe('socket needs no public address'),
  bot_token: z.string().min(1).describe('Token of the bot (xoxb-), as env:NAME'),
  app_token: z.string().min(1).optional().describe('App-level token (xapp-) with connections:write, for socket'),
  signing_secret: z.string().min(1).optional().describe('Signing secret of the app, for http'),
  surface: z
    .enum(['agent', 'classic'])
    .default('agent')
    .describe('agent for new apps; classic for those with the assistant view, or none'),
  operators: ids.default([]).describe('Ids of the people who run the bot'),
  direct_messages: z.boolean().default(true).describe('Whether people may write to the bot directly'),
  direct_conversation: z
    .enum(['thread', 'person'])
    .default('thread')
    .describe('Each thread of a direct message is its own conversation, or all with one person is one'),
  channel_replies: z
    .enum(['thread', 'channel'])
    .default('thread')
    .describe('A mention in a channel opens a thread and a conversation of its own, or is answered in the channel'),
  hear_bots: z
    .boolean()
    .default(true)
    .describe('Messages of other bots are read along; they are answered only where an agent has allow_bots'),
  outsiders: z.boolean().default(true).describe('Whether people of other workspaces are served in shared channels'),
  channels: lists().describe('Channels that are served'),
  users: lists().describe('People who are served'),
  link_previews: z.boolean().default(false).describe('Links of replies unfold into previews'),
  streaming: z.boolean().default(false).describe('Shows a reply in a thread while it is written'),
  streaming_seconds: z.number().min(0.1).max(60).default(1).describe('Least time between two additions'),
  greeting: z
    .string()
    .max(1000)
    .default('Hello! Ask me anything. I remember what matters; /strata memory list shows it.')
    .describe('What the bot says when its direct message is opened for the first time; empty for nothing'),
  prompts: z
    .array(prompt)
    .max(4)
    .default([{ title: 'What do you remember?', message: 'What do you remember about me?' }])
    .describe('Suggestions in an empty direct message'),
  thinking: z.string().max(50).default('is thinking…').describe('Status while the model works; empty for none'),
  commands: z
    .enum(['umbrella', 'all'])
    .default('umbrella')
    .describe('/strata with sub-words alone, or each command as /strata-NAME as well'),
  command_prefix: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,20}$/, 'expected lower-case letters, digits and -')
    .default('strata')
    .describe('Name of the slash command'),
  purge_on_leave: z
    .boolean()
    .default(false)
    .describe('Deletes everything kept of a channel when the bot is removed from it or it is deleted'),
  sockets: z.int().min(1).max(4).default(2).describe('Connections side by side: one stays while another is renewed'),
  http: http.prefault({}),
  catch_up: catchUp.prefault({}),
  files: files.prefault({}),
  api_url: z
    .string()
    .regex(/^$|^https?:\/\/\S+\/$/, 'expected a URL with a slash at its end, or nothing')
    .default('')
    .describe('Base address of the Web API, for servers that speak it'),
};

/** Schema of `[channels.slack]`. */
export const settingsSchema = z
  .strictObject(fields)
  .refine(({ transport, app_token: token }) => transport !== 'socket' || token !== undefined, {
    path: ['app_token'],
    message: 'the transport "socket" needs app_token',
  })
  .refine(({ transport, signing_secret: secret }) => transport !== 'http' || secret !== undefined, {
    path: ['signing_secret'],
    message: 'the transport "http" needs signing_secret',
  });

/** The settings, every value filled in. */
export type SlackSettings = z.infer<typeof settingsSchema>;
