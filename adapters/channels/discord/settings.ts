import { z } from 'zod';
import { didYouMean, StrataError } from '../../../src/adapter-kit.ts';
import { accessList } from '../shared/access-list.ts';
import { catchUpSettings, textKilobytes } from '../shared/settings.ts';
import { LANGUAGES, namesOfCommands } from './languages.ts';

const snowflake = z.string().regex(/^\d{15,22}$/, 'expected an id: 17 to 20 digits in quotes');
const ids = z.array(snowflake);

const url = z.string().regex(/^$|^(https?|wss?):\/\/\S+$/, 'expected a URL, or nothing');

const attachments = z.strictObject({
  image_mb: z.number().min(0).max(100).default(8).describe('The model sees larger images by name only'),
  text_kb: textKilobytes,
});

/** Descriptions of commands that do not exist would never be seen. */
function knowsCommands({ value, issues }: z.core.ParsePayload<Partial<Record<string, Record<string, string>>>>): void {
  const known = namesOfCommands();
  for (const [language, texts] of Object.entries(value)) {
    for (const name of Object.keys(texts ?? {}).filter((text) => !known.has(text))) {
      const meant = didYouMean(name, [...known]) ?? 'memory list page';
      const message = `describes no command, action or option (did you mean "${meant}"?)`;
      issues.push({ code: 'custom', path: [language, name], message, input: texts?.[name] });
    }
  }
}

/** Settings of one bot; every bot in `bots` can override them. */
const bot = {
  token: z.string().min(1).describe('Bot token from the developer portal'),
  message_content: z
    .boolean()
    .default(true)
    .describe('Reads all messages (a privileged intent); false reads only direct messages, mentions and commands'),
  operators: ids
    .default([])
    .describe('Ids of people with the role operator, in addition to the owner of the application'),
  direct_messages: z.boolean().default(true).describe('Whether people can send the bot direct messages'),
  hear_bots: z
    .boolean()
    .default(true)
    .describe('Stores messages of other bots; only agents with allow_bots answer them'),
  guilds: accessList(snowflake).describe('Servers in which the bot works'),
  channels: accessList(snowflake).describe('Channels in which the bot works; a thread follows its channel'),
  roles: accessList(snowflake).describe('Roles whose members can use the bot'),
  users: accessList(snowflake).describe('People who can use the bot'),
  reply_reference: z.boolean().default(true).describe('The first part of a reply references the message it answers'),
  link_previews: z.boolean().default(false).describe('Shows previews of links in replies'),
  why_button: z.boolean().default(false).describe('Adds a button to each reply that shows what the bot saw'),
  streaming: z.boolean().default(false).describe('Shows a reply while it is written, by editing it'),
  streaming_seconds: z.number().min(1).max(60).default(1.5).describe('Minimum time between two edits'),
  file_above_parts: z.int().min(1).max(20).default(4).describe('Sends a reply of more messages than this as a file'),
  join_threads: z.boolean().default(true).describe('Joins new public threads in those channels'),
  purge_on_leave: z
    .boolean()
    .default(false)
    .describe('Deletes all stored data of a channel or server when the bot is removed from it or it is deleted'),
  commands: z.boolean().default(true).describe('Registers the slash commands and message menus'),
  command_guilds: ids.default([]).describe('Registers them in these servers only, where changes show immediately'),
  catch_up: z.strictObject(catchUpSettings).prefault({}),
  attachments: attachments.prefault({}),
  localizations: z
    .partialRecord(z.enum(LANGUAGES), z.record(z.string(), z.string().min(1).max(100)))
    .default({})
    .check(knowsCommands)
    .describe('Translated descriptions by language and name: of a command, an action or an option'),
  shards: z
    .union([z.literal('auto'), z.int().min(1)])
    .default('auto')
    .describe('Total number of shards'),
  shard_ids: z.array(z.int().min(0)).default([]).describe('Shards of this process; empty means all'),
  rest_url: url.default('').describe('Base URL of the REST API, for compatible servers'),
  gateway_url: url.default('').describe('URL of the gateway, if the REST API does not return it'),
};

type Shards = Pick<z.infer<z.ZodObject<typeof bot>>, 'shards' | 'shard_ids'>;

/** Shard ids require a fixed number of shards, and must be below it. */
function areShards({ shards, shard_ids: ids }: Shards): boolean {
  return ids.length === 0 || (shards !== 'auto' && ids.every((id) => id < shards));
}

const SHARDS = { path: ['shard_ids'], error: 'requires shards to be a number larger than each of them' };

const botSchema = z.strictObject(bot).refine(areShards, SHARDS);
/** The settings of one bot with every default filled in. */
export type BotSettings = z.infer<typeof botSchema>;

const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,20}$/, 'expected lower-case letters, digits, - and _');

/** Schema of `[channels.discord]`. */
export const settingsSchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe('false ignores the table'),
    ...bot,
    token: bot.token.optional().describe('Bot token from the developer portal'),
    bots: z
      .record(name, botSchema)
      .default({})
      .describe(
        'More bots in this process, each with its own token; their conversations are discord:NAME@server:channel',
      ),
  })
  .refine(areShards, SHARDS)
  .refine(({ token, bots }) => token !== undefined || Object.keys(bots).length > 0, { path: ['token'] });

export type DiscordSettings = z.input<typeof settingsSchema>;

export const API_URL = 'https://discord.com/api';

/** Where people view what the REST interface serves; the pages of another server have their own URL. */
export function siteOf({ rest_url: url }: Pick<BotSettings, 'rest_url'>): string {
  const origin = url === '' || url.startsWith(API_URL) ? null : URL.parse(url)?.origin;
  return origin ?? 'https://discord.com';
}

export interface NamedBot {
  /** Empty for the bot of the table itself. */
  readonly name: string;
  readonly settings: BotSettings;
}

/** Every bot that a table describes. */
export function botsOf(table: unknown): readonly NamedBot[] {
  const parsed = settingsSchema.safeParse(table);
  if (!parsed.success) throw new StrataError('USAGE', { problem: UNCONFIGURED });
  const { enabled: _enabled, bots: named, token, ...own } = parsed.data;
  const main = token === undefined ? [] : [{ name: '', settings: { ...own, token } }];
  return [...main, ...Object.entries(named).map(([key, settings]) => ({ name: key, settings }))];
}

const UNCONFIGURED =
  'The Discord channel needs a token: token = "env:DISCORD_BOT_TOKEN" in [channels.discord] of the configuration, or settings: { token } in a program. `strata config check` lists what else is wrong.';
