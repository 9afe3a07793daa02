import { z } from 'zod';

const share = z.number().gt(0).max(1);
const tokens = z.int().positive();
const model = z
  .string()
  .regex(/^(auto|[a-z0-9][a-z0-9_-]*:\S+)$/, 'expected "auto" or provider:model, for example openai:gpt-4.1-mini');

/** Thresholds are shares of the window; their order is checked after the layers are merged. */
const compaction = z.strictObject({
  background_threshold: share.describe(
    'Share of the window at which the oldest 30 % of the tail is summarised in the background',
  ),
  aggressive_threshold: share.describe('Share of the window at which the oldest 50 % is summarised'),
  emergency_threshold: share.describe(
    'Share of the window at which the oldest 50 % leaves the view at once, to be summarised later',
  ),
  stack_share: share.describe('Largest share of the window for summaries before the oldest are condensed'),
  model: model.describe('Model that summarises and extracts, as provider:model; "auto" takes the agent\'s own'),
  timeout_seconds: z.int().min(1).max(3600).describe('Time limit of one summarisation call'),
  idle_minutes: z
    .number()
    .positive()
    .describe('Memories of a conversation that fell silent are extracted after this time'),
});

const memory = z.strictObject({
  recall_limit: z
    .int()
    .min(0)
    .max(50)
    .describe('How many memories are put beside the newest message; 0 switches recall off'),
  share_public: z.boolean().describe("Public channels of one workspace read each other's public memories"),
});

const recall = z.strictObject({
  tokens: z
    .union([z.int().min(0), z.literal('auto')], { error: 'expected a whole number, or "auto"' })
    .describe(
      'Most tokens of memories and earlier messages beside a new message; "auto" is 10 % of the window, at most 2000; 0 switches both off',
    ),
});

/** Who is answered: everyone who addresses the bot (`mention`), everyone (`active`), nobody (`observe`). Always in a DM. */
const mode = z.enum(['mention', 'active', 'observe']);

const agentFields = {
  model: model.describe(
    'Model that answers, as provider:model; "auto" takes a key in the environment, a local Ollama, or offline:demo',
  ),
  context_window: z
    .union([tokens, z.literal('auto')], { error: 'expected a whole number above 0, or "auto"' })
    .describe('Window of the model in tokens; "auto" takes what the model tells, else 128000'),
  max_output_tokens: tokens.describe('Kept free in the window for the answer, and the most that an answer may have'),
  max_steps: z.int().min(1).max(50).describe('Most model calls in one turn, tool calls included'),
  timeout_seconds: z.int().min(1).max(3600).describe('Time limit of one model call'),
  mode: mode.describe('Whom the bot answers in channels: "mention", "active" or "observe"'),
  allow_bots: z.boolean().describe('Messages of other bots are answered too, within the guard against loops'),
  engine: z.string().min(1).describe('Context engine: "stacked" summaries, or a "sliding" window'),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/, 'expected a language code, for example en')
    .describe('Language of the prompts: a folder of prompts/; what it lacks is taken from "en"'),
  prompts: z.string().describe('Folder with prompts of your own, one file each; empty uses the built-in ones'),
  persona: z.string().describe('Who the bot is: the first section of its system prompt; empty uses the built-in text'),
  policy: z.string().describe('What the bot must and must not do: never cut from the prompt'),
  tools: z.array(z.string()).describe('Names of the tools that the agent may call'),
};

const route = z.strictObject({
  match: z
    .string()
    .min(1)
    .describe('Pattern of conversation keys, * for anything; of several that match, the most specific counts'),
  mode: mode.optional().describe('Overrides the mode in these conversations'),
  compaction: compaction.partial().optional().describe('Overrides some of the compaction values'),
});

const id = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected lower-case letters, digits, - and _');
const isDefault = z.boolean().describe('Serves the conversations that no route matches');

/** One agent with every value filled in. */
export const agentSchema = z.strictObject({
  id,
  default: isDefault,
  ...agentFields,
  compaction,
  memory,
  recall,
  routes: z.array(route),
});
export type AgentSettings = z.infer<typeof agentSchema>;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const general = {
  storage: z.strictObject({
    directory: z.string().min(1).describe('Where the embedded store lies; relative to this file'),
    url: z
      .string()
      .regex(/^$|^[a-z][a-z0-9+.-]*:\/\/\S+$/, 'expected a URL such as postgres://host/name, or nothing')
      .describe('Store on a server, as a postgres:// URL for any number of processes; empty is the embedded one'),
  }),
  queue: z.strictObject({
    url: z
      .string()
      .regex(/^$|^(redis|rediss|postgres|postgresql):\/\/\S+$/, 'expected a redis:// or postgres:// URL, or nothing')
      .describe('Queue of the maintenance jobs, as a redis:// or postgres:// URL; empty keeps it in the process'),
  }),
  log: z.strictObject({
    level: z.enum(LOG_LEVELS).describe('Least severe lines that are written: debug, info, warn, error or silent'),
    text: z.boolean().describe('Writes the text of messages to the log too'),
  }),
  operations: z.strictObject({
    listen: z
      .string()
      .regex(/^$|^(\[[\da-f:]+\]|[^\s:/@]+):\d{1,5}$/i, 'expected host:port, for example 127.0.0.1:9464, or nothing')
      .describe('Where /livez, /readyz and /metrics answer, as host:port; empty for nowhere'),
  }),
  privacy: z.strictObject({
    retention_days: z
      .int()
      .min(0)
      .describe('Messages older than this are deleted with what came of them; 0 keeps them'),
  }),
};

/** Everything that is not an agent's, a provider's or a channel's. */
export const generalSchema = z.strictObject(general);
export type GeneralSettings = z.infer<typeof generalSchema>;

const provider = z.strictObject({
  base_url: z
    .string()
    .regex(/^$|^https?:\/\/\S+$/, 'expected an http:// or https:// URL')
    .describe("Where the provider answers; empty for the provider's own address"),
  api_key: z.string().describe("Key of the provider, as env:NAME; empty for the provider's usual variable"),
});

const name = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected lower-case letters, digits, - and _');
const table = z.record(z.string(), z.unknown());
const pluginFile = z.string().min(1).describe('File of the plugin; relative to this file');
const pluginTable = z.looseObject({ file: pluginFile });

/** The whole configuration with every value filled in and every secret resolved. */
export const configSchema = z.strictObject({
  agents: z.array(agentSchema).min(1),
  ...general,
  providers: z.record(name, provider),
  /** Raw: each channel adapter brings the schema of its own table. */
  channels: z.record(name, table),
  /** Raw: each plugin brings the schema of its own settings. By name, in the order of the file. */
  plugins: z.record(name, pluginTable),
});
export type Config = z.infer<typeof configSchema>;

/** A layer of an agent as a file may hold it. No defaults in here: they would hide the layers below. */
const agentLayer = z
  .strictObject({
    ...agentFields,
    compaction: compaction.partial(),
    memory: memory.partial(),
    recall: recall.partial(),
  })
  .partial();

const agentEntry = agentLayer.extend({ id, default: isDefault.optional(), routes: z.array(route).optional() });
export type AgentEntry = z.infer<typeof agentEntry>;

/** What config.toml may hold, section by section. */
export const fileSections = {
  defaults: agentLayer,
  agents: z.array(agentEntry),
  storage: general.storage.partial(),
  queue: general.queue.partial(),
  log: general.log.partial(),
  operations: general.operations.partial(),
  privacy: general.privacy.partial(),
  providers: z.record(name, provider.partial()),
  channels: z.record(name, table),
  plugins: z.record(name, pluginTable),
} as const;

/** The short form of `plugins`, for plugins without settings: a list of files. */
export const pluginListSchema = z.array(pluginFile);
export const fileSchema = z.strictObject(fileSections).partial();
