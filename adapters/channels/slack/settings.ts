import { z } from 'zod';
import { StrataError } from '../../../src/adapter-kit.ts';
import { accessList } from '../shared/access-list.ts';
import { catchUpSettings, textKilobytes } from '../shared/settings.ts';

const slackId = z.string().regex(/^[A-Z][A-Z0-9]{1,30}$/, 'expected an id of Slack, such as C0123ABCD');
const person = z
  .string()
  .regex(
    /^(T[A-Z0-9]{1,30}:)?[A-Z][A-Z0-9]{1,30}$/,
    'expected an id of Slack, such as U0123ABCD or T0123ABCD:U0123ABCD',
  );

const http = z.strictObject({
  host: z.string().default('0.0.0.0').describe('Address to listen on'),
  port: z.int().min(0).max(65_535).default(3000).describe('Port to listen on; 0 picks a free one'),
  public_url: z
    .string()
    .regex(/^$|^https?:\/\/\S+[^/]$/, 'expected a URL without a slash at its end')
    .default('')
    .describe('Public URL at which Slack and browsers reach the server'),
});

const catchUp = z.strictObject({
  ...catchUpSettings,
  requests_per_minute: z
    .number()
    .positive()
    .max(100)
    .default(40)
    .describe('History requests per minute; 1 for commercially distributed apps outside the Marketplace'),
  page: z.int().min(1).max(200).default(100).describe('Messages per request; 15 for those apps'),
});

const files = z.strictObject({
  image_mb: z.number().min(0).max(20).default(4).describe('The model sees larger images by name only'),
  text_kb: textKilobytes,
});

const prompt = z.strictObject({ title: z.string().min(1).max(75), message: z.string().min(1).max(400) });

const fields = {
  enabled: z.boolean().default(true).describe('false ignores the table'),
  transport: z
    .enum(['socket', 'http'])
    .default('socket')
    .describe('Connection to Slack: socket needs no public address, http does'),
  bot_token: z.string().min(1).optional().describe('Bot token (xoxb-) for a single workspace, as env:NAME'),
  app_token: z.string().min(1).optional().describe('App-level token (xapp-) with connections:write, for socket'),
  signing_secret: z.string().min(1).optional().describe('Signing secret of the app, for http'),
  client_id: z.string().min(1).optional().describe('Client ID of the app; replaces bot_token for many workspaces'),
  client_secret: z.string().min(1).optional().describe('Client secret of the app, with client_id'),
  installation_key: z
    .string()
    .regex(/^.{32,}$/s, 'expected at least 32 characters, such as those that `openssl rand -hex 32` prints')
    .optional()
    .describe('Key that encrypts the workspace tokens in the store, with client_id; the same in all processes'),
  workspaces: accessList(slackId).describe('Workspaces that can install the app, with client_id'),
  surface: z
    .enum(['agent', 'classic'])
    .default('agent')
    .describe('agent for new apps; classic for apps with the assistant view, or without any'),
  operators: z
    .array(person)
    .default([])
    .describe(
      'Ids of people with the role operator; with client_id, prefixed with the workspace, such as T0123ABCD:U0123ABCD',
    ),
  direct_messages: z.boolean().default(true).describe('Whether people can send the bot direct messages'),
  direct_conversation: z
    .enum(['thread', 'person'])
    .default('thread')
    .describe('thread makes each thread of a direct message a conversation; person merges them into one'),
  channel_replies: z
    .enum(['thread', 'channel'])
    .default('thread')
    .describe('thread answers a mention in a new thread with its own conversation; channel answers in the channel'),
  hear_bots: z
    .boolean()
    .default(true)
    .describe('Stores messages of other bots; only agents with allow_bots answer them'),
  outsiders: z
    .boolean()
    .default(true)
    .describe('Whether people of other workspaces can use the bot in shared channels'),
  channels: accessList(slackId).describe('Channels in which the bot works'),
  users: accessList(slackId).describe('People who can use the bot'),
  link_previews: z.boolean().default(false).describe('Shows previews of links in replies'),
  why_button: z.boolean().default(false).describe('Adds a button to each reply that shows what the bot saw'),
  streaming: z.boolean().default(false).describe('Shows a reply in a thread while it is written'),
  streaming_seconds: z.number().min(0.1).max(60).default(1).describe('Minimum time between two updates'),
  greeting: z
    .string()
    .max(1000)
    .default('Hello! Ask me anything. I remember what matters; /strata memory list shows it.')
    .describe('Greeting when a person first opens the direct message; empty for none'),
  prompts: z
    .array(prompt)
    .max(4)
    .default([{ title: 'What do you remember?', message: 'What do you remember about me?' }])
    .describe('Suggested prompts in an empty direct message'),
  thinking: z.string().max(50).default('is thinking…').describe('Status while the model works; empty for none'),
  commands: z
    .enum(['umbrella', 'all'])
    .default('umbrella')
    .describe('umbrella registers /strata only; all adds each command as /strata-NAME'),
  command_prefix: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,20}$/, 'expected lower-case letters, digits and -')
    .default('strata')
    .describe('Name of the slash command'),
  purge_on_leave: z
    .boolean()
    .default(false)
    .describe('Deletes all stored data of a channel when the bot is removed from it or it is deleted'),
  sockets: z
    .int()
    .min(1)
    .max(4)
    .default(2)
    .describe('Number of parallel connections, so that one stays open while another is renewed'),
  http: http.prefault({}),
  catch_up: catchUp.prefault({}),
  files: files.prefault({}),
  api_url: z
    .string()
    .regex(/^$|^https?:\/\/\S+\/$/, 'expected a URL with a slash at its end, or nothing')
    .default('')
    .describe('Base URL of the Web API, for compatible servers'),
};

type Fields = z.infer<z.ZodObject<typeof fields>>;
type Fault = readonly [isAtFault: boolean, path: readonly (string | number)[], message: string];

/** What the transport and the kind of installation require and exclude. */
function faultsOf(settings: Fields): readonly Fault[] {
  const { transport, bot_token: token, client_id: id, client_secret: secret, installation_key: key } = settings;
  const isMany = id !== undefined || secret !== undefined || key !== undefined;
  return [
    [transport === 'socket' && !settings.app_token, ['app_token'], 'the transport "socket" needs app_token'],
    [transport === 'http' && !settings.signing_secret, ['signing_secret'], 'the transport "http" needs signing_secret'],
    [
      !isMany && token === undefined,
      ['bot_token'],
      'a single workspace needs bot_token; many workspaces need client_id instead',
    ],
    [
      isMany && token !== undefined,
      ['bot_token'],
      'expected either bot_token, for one workspace, or client_id, for many',
    ],
    [isMany && id === undefined, ['client_id'], 'many workspaces need client_id'],
    [isMany && secret === undefined, ['client_secret'], 'many workspaces need client_secret'],
    [isMany && key === undefined, ['installation_key'], 'many workspaces need installation_key'],
    [
      isMany && settings.http.public_url === '',
      ['http', 'public_url'],
      'many workspaces need the public URL for the redirect after an installation',
    ],
    ...settings.operators.map((operator, index): Fault => {
      return [
        isMany && !operator.includes(':'),
        ['operators', index],
        'expected an id with its workspace: T0123ABCD:U0123ABCD',
      ];
    }),
  ];
}

/** Schema of `[channels.slack]`. */
export const settingsSchema = z.strictObject(fields).superRefine((settings, context) => {
  for (const [isAtFault, path, message] of faultsOf(settings)) {
    if (isAtFault) context.addIssue({ code: 'custom', path: [...path], message });
  }
});

/** The table from the configuration. Throws `USAGE` if it is missing or invalid. */
export function readSettings(table: unknown): SlackSettings {
  const parsed = settingsSchema.safeParse(table);
  if (parsed.success) return parsed.data;
  throw new StrataError('USAGE', { problem: UNCONFIGURED });
}

const UNCONFIGURED =
  'The Slack channel needs at least bot_token and app_token, in [channels.slack] of the configuration or in the settings of a program. `strata config check` lists what else is wrong.';

/** The settings with every default filled in. */
export type SlackSettings = z.infer<typeof settingsSchema>;

/** What a command begins with, as people type it: `/strata `. */
export function prefixOf({ command_prefix: name }: Pick<SlackSettings, 'command_prefix'>): string {
  return `/${name} `;
}

/** The settings of one workspace: its own operators, without its name. */
export function settingsOf(settings: SlackSettings, teamId: string): SlackSettings {
  const operators = settings.operators.flatMap((id) => {
    const [first = '', second] = id.split(':');
    if (second === undefined) return [first];
    return first === teamId ? [second] : [];
  });
  return { ...settings, operators };
}

/** The settings for installing into many workspaces; null if one token serves one. */
export function oauthOf({ client_id: clientId, client_secret: clientSecret, installation_key: key }: SlackSettings) {
  if (clientId === undefined || clientSecret === undefined || key === undefined) return null;
  return { clientId, clientSecret, installationKey: key };
}
