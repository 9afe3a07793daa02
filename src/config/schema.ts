import { z } from 'zod';
import { parseKey } from '../domain/key.ts';
import { LOG_LEVELS } from '../ports/log.ts';
import { EFFORTS } from '../ports/model.ts';
import { isTimeZone } from '../util/time/local-time.ts';
import { compaction, memory, recall, section, tokens, toolResults } from './agent-tables.ts';
import { address, folder, modelId, modelOrAuto, name, urlOrNothing } from './shapes.ts';

const MAX_MODELS = 5;
const models = z
  .array(modelId('openai:gpt-4.1-mini'))
  .min(1)
  .max(MAX_MODELS)
  .refine((ids) => new Set(ids).size === ids.length, 'expected each model once');

/**
 * Which messages get a reply: those that address the bot (`mention`), all (`active`), none (`observe`). Always in a DM.
 */
const mode = z.enum(['mention', 'active', 'observe']);

const agentFields = {
  model: z
    .union([modelOrAuto, models], {
      error: `expected "auto", provider:model, or a list of up to ${MAX_MODELS} models`,
    })
    .describe(
      'Model for replies, as provider:model, or a list whose later models answer while earlier ones are unavailable or overloaded; "auto" uses an API key from the environment, a local Ollama, or offline:demo',
    ),
  context_window: z
    .union([tokens, z.literal('auto')], { error: 'expected a whole number above 0, or "auto"' })
    .describe('Context window in tokens; "auto" asks the model, or uses 128000 if that is unknown'),
  max_output_tokens: tokens.describe('Maximum length of an answer in tokens; reserved in the window'),
  temperature: z
    .union([z.number().min(0).max(2), z.literal('auto')], { error: 'expected a number from 0 to 2, or "auto"' })
    .describe('Sampling temperature of replies, from 0 to 2; "auto" leaves it to the provider'),
  effort: z
    .enum(['auto', ...EFFORTS])
    .describe(
      'Reasoning effort of replies: none, minimal, low, medium, high, xhigh or max; "auto" leaves it to the provider',
    ),
  provider_options: z
    .record(z.string().min(1), z.record(z.string().min(1), z.json()))
    .describe(
      "Options of the provider's AI SDK package for all calls of the agent, by provider, as the package names them",
    ),
  max_steps: z
    .int()
    .min(1)
    .max(50)
    .describe('Maximum number of model calls in one turn; the last one must answer without calling tools'),
  timeout_seconds: z.int().min(1).max(3600).describe('Timeout of one model call'),
  mode: mode.describe(
    'Which messages the bot answers in channels: "mention" (only mentions), "active" (all) or "observe" (none)',
  ),
  allow_bots: z.boolean().describe('Also answers messages of other bots, with protection against loops'),
  engine: z.string().min(1).describe('Context engine: "stacked" summaries, or a "sliding" window'),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/, 'expected a language code, for example en')
    .describe('Language of the prompts: a subfolder of your own prompts; missing ones come from "en"'),
  timezone: z
    .string()
    .refine(isTimeZone, 'expected the name of a time zone, for example Europe/Berlin')
    .describe('Time zone of the clock, the dates and the times that the model sees, such as Europe/Berlin'),
  prompts: z.string().describe('Folder with your own prompts, one file each; empty uses the built-in ones'),
  persona: z.string().describe('Who the bot is: the first section of its system prompt; empty uses the built-in text'),
  policy: z.string().describe('What the bot must and must not do; cut from the prompt only as a last resort'),
  tools: z.array(z.string()).describe('Tools that the agent can call; a list replaces the default'),
  sections: z
    .array(section)
    .describe("Sections of your own in the system prompt, after the policy; an agent's list replaces the default"),
  max_section_tokens: tokens.describe('Maximum tokens of all these sections together'),
};

const route = z.strictObject({
  match: z
    .string()
    .refine(
      (pattern) => pattern.includes('*') || isKey(pattern),
      'matches no conversation; expected a key such as discord:811:822, or a pattern with *, such as *:822',
    )
    .describe('Pattern of conversation keys, where * matches anything; the most specific match wins'),
  mode: mode.optional().describe('Overrides the mode in these conversations'),
  compaction: compaction.partial().optional().describe('Overrides some compaction settings'),
});

function isKey(text: string): boolean {
  try {
    parseKey(text);
    return true;
  } catch {
    return false;
  }
}

const isDefault = z.boolean().describe('Serves the conversations that no route matches');

/** One agent with every value filled in. */
export const agentSchema = z.strictObject({
  id: name,
  default: isDefault,
  ...agentFields,
  compaction,
  memory,
  recall,
  tool_results: toolResults,
  routes: z.array(route),
});
/** An agent with every value filled in. [config.toml](../config.toml) explains each one. */
export type AgentSettings = z.infer<typeof agentSchema>;

const general = {
  storage: z.strictObject({
    directory: folder.describe('Folder of the embedded store; relative to this file'),
    url: urlOrNothing(
      /^[a-z][a-z0-9+.-]*:\/\/\S+$/,
      'expected a URL such as postgres://host/name, or nothing',
    ).describe('Store on a server, as a postgres:// URL, for any number of processes; empty uses the embedded store'),
  }),
  queue: z.strictObject({
    url: urlOrNothing(
      /^(redis|rediss|postgres|postgresql):\/\/\S+$/,
      'expected a redis:// or postgres:// URL, or nothing',
    ).describe('Queue for maintenance jobs, as a redis:// or postgres:// URL; empty keeps it in the process'),
  }),
  log: z.strictObject({
    level: z.enum(LOG_LEVELS).describe('Minimum severity: debug, info, warn, error or silent'),
    text: z.boolean().describe('Also logs the text of messages'),
  }),
  operations: z.strictObject({
    listen: address('127.0.0.1:9464').describe(
      'Address that serves /livez, /readyz and /metrics, as host:port; empty disables it',
    ),
  }),
  inspector: z.strictObject({
    listen: address('127.0.0.1:7080').describe(
      'Address of the inspector, as host:port; port 0 picks a free one, empty disables it',
    ),
    url: z
      .string()
      .regex(/^$|^https?:\/\/[^\s/]+\/?$/, 'expected a URL such as https://strata.example.org, or nothing')
      .describe('Public address of the inspector, if a proxy gives it one'),
    password: z.string().describe('Password for the inspector, as env:NAME; empty accepts only the printed address'),
    identity_header: z
      .string()
      .regex(/^$|^[A-Za-z0-9-]+$/, 'expected the name of a header, or nothing')
      .describe('Header in which a proxy names the person, for example x-forwarded-user'),
    proxies: z.array(z.string().min(1)).describe('IP addresses of the proxies that may set this header'),
    operators: z.array(z.string().min(1)).describe('Names in this header that can read everything and change settings'),
    moderators: z
      .array(z.string().min(1))
      .describe('Names in this header that can read channels; all others see only figures'),
  }),
  privacy: z.strictObject({
    retention_days: z
      .int()
      .min(0)
      .describe('Deletes messages older than this, with everything derived from them; 0 keeps them'),
  }),
};

/** All settings that do not belong to an agent, a provider or a channel. */
export const generalSchema = z.strictObject(general);
export type GeneralSettings = z.infer<typeof generalSchema>;

const provider = z.strictObject({
  base_url: z
    .string()
    .regex(/^$|^https?:\/\/\S+$/, 'expected an http:// or https:// URL')
    .describe('Address of the provider; empty uses its default'),
  api_key: z.string().describe("API key, as env:NAME; empty uses the provider's usual variable"),
});

const dollars = z.number().min(0);
/** US dollars for a million tokens. */
const price = z.strictObject({
  input: dollars.describe('US dollars for a million input tokens'),
  output: dollars.describe('US dollars for a million output tokens'),
  cache_read: dollars.optional().describe('The same for input tokens read from a cache; without it, as input'),
  cache_write: dollars.optional().describe('The same for input tokens written to a cache; without it, as input'),
});
const prices = z.record(modelId('local:qwen3'), price);

const table = z.record(z.string(), z.unknown());
const pluginFile = z.string().min(1).describe('Plugin file; relative to this file');
const pluginTable = z.looseObject({ file: pluginFile });

/** The whole configuration with every value filled in and every secret resolved. */
export const configSchema = z.strictObject({
  agents: z.array(agentSchema).min(1),
  ...general,
  providers: z.record(name, provider),
  /** By model. */
  prices,
  /** Raw: each channel adapter has the schema of its own table. */
  channels: z.record(name, table),
  /** Raw: each plugin has the schema of its own settings. By name, in the order of the file. */
  plugins: z.record(name, pluginTable),
});
export type Config = z.infer<typeof configSchema>;

/** A layer of an agent in a file. It has no defaults, because they would hide the layers below. */
const agentLayer = z
  .strictObject({
    ...agentFields,
    compaction: compaction.partial(),
    memory: memory.partial(),
    recall: recall.partial(),
    tool_results: toolResults.partial(),
  })
  .partial();

const agentEntry = agentLayer.extend({ id: name, default: isDefault.optional(), routes: z.array(route).optional() });
/**
 * An agent as written in `[[agents]]` or passed to `createBot`: its `id`, and the keys of `[defaults]` that it overrides.
 * Missing settings have their defaults. [config.toml](../config.toml) lists every key with its meaning, unit and default.
 */
export type AgentEntry = z.infer<typeof agentEntry>;

/** The sections of config.toml. */
export const fileSections = {
  defaults: agentLayer,
  agents: z.array(agentEntry),
  storage: general.storage.partial(),
  queue: general.queue.partial(),
  log: general.log.partial(),
  operations: general.operations.partial(),
  inspector: general.inspector.partial(),
  privacy: general.privacy.partial(),
  providers: z.record(name, provider.partial()),
  prices,
  channels: z.record(name, table),
  plugins: z.record(name, pluginTable),
} as const;

/** The short form of `plugins`, for plugins without settings: a list of files. */
export const pluginListSchema = z.array(pluginFile);
export const fileSchema = z.strictObject(fileSections).partial();
