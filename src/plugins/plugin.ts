import { z } from 'zod';
import type { ChannelAdapter, OpenModel, OpenStore } from '../bot/adapters.ts';
import type { Bot } from '../bot/bot.ts';
import { type CommandDefinition, defineCommand } from '../commands/custom/define.ts';
import { name } from '../config/shapes.ts';
import { StrataError } from '../domain/errors.ts';
import { type Hooks, hooksSchema } from '../hooks/hooks.ts';
import type { ContextEngine } from '../ports/engine.ts';
import { ENGINE_METHODS } from '../ports/engine-methods.ts';
import type { Log } from '../ports/log.ts';
import type { Tool } from '../tools/define.ts';
import { faultsOf, nameOf } from '../util/errors/faults.ts';

/** What a plugin adds to a bot. Every part is optional in `definePlugin`. */
export interface PluginParts {
  /** Tools that agents can list. */
  readonly tools: readonly Tool[];
  /** Commands for people, on every channel. */
  readonly commands: readonly CommandDefinition[];
  /** Platforms, each by the name of its table: `[channels.NAME]`. */
  readonly channels: Readonly<Record<string, ChannelAdapter>>;
  /** Opens the models of a provider: `acme` opens `acme:small` and is called with "small". */
  readonly models: Readonly<Record<string, OpenModel>>;
  /** Context engines, by the name that agents use in `engine`. */
  readonly engines: Readonly<Record<string, ContextEngine>>;
  /** Stores by the scheme of `url` in `[storage]`. */
  readonly stores: Readonly<Record<string, OpenStore>>;
  /** Middleware around what the bot does. The hooks of earlier plugins surround those of later ones. */
  readonly hooks: Hooks;
  /** Called before the bot accepts messages. A rejection prevents the start. */
  readonly start: PluginStep;
  /** Called after the bot has stopped, if `start` was called. */
  readonly stop: PluginStep;
}

/** What a plugin does at the start or stop, which waits for it. */
export type PluginStep = (context: PluginContext) => void | Promise<void>;

/** What `start` and `stop` of a plugin receive in addition to its settings. */
export interface PluginContext {
  readonly bot: Bot;
  readonly log: Log;
  /** Aborted when the bot stops. */
  readonly signal: AbortSignal;
}

/** Each part as a value, or as a function of the plugin's settings. */
export type PluginDefinition<Schema extends z.ZodType> = {
  /** Lower-case letters, digits, - and _. */
  readonly name: string;
  /** Schema of `[plugins.NAME]`, without its `file`. Default: the table has no other keys. */
  readonly settings?: Schema;
} & {
  readonly [Part in Exclude<keyof PluginParts, 'start' | 'stop'>]?:
    | PluginParts[Part]
    | ((settings: z.infer<Schema>) => PluginParts[Part]);
} & {
  readonly [Step in 'start' | 'stop']?: (
    context: PluginContext & { readonly settings: z.infer<Schema> },
  ) => void | Promise<void>;
};

/** The result of `definePlugin`, and the default export of a plugin's file. */
export interface Plugin {
  readonly kind: 'strata-plugin';
  readonly name: string;
  readonly settings: z.ZodType;
  /**
   * The parts for settings that its schema has parsed. Throws `PLUGIN_INVALID` and the errors of the plugin's
   * functions.
   */
  open(settings: unknown): PluginParts;
}

const NO_SETTINGS = z.strictObject({});

/**
 * Declares a plugin: the default export of a file that `plugins` in config.toml names. Throws `PLUGIN_INVALID`.
 *
 * @example
 * export default definePlugin({
 *   name: 'dice',
 *   settings: z.strictObject({ sides: z.int().min(2).default(6) }),
 *   tools: ({ sides }) => [
 *     defineTool({
 *       name: 'roll_dice',
 *       description: 'Rolls one die.',
 *       input: z.object({}),
 *       run: async () => 1 + Math.floor(Math.random() * sides),
 *     }),
 *   ],
 * });
 */
export function definePlugin<Schema extends z.ZodType = typeof NO_SETTINGS>(
  definition: PluginDefinition<Schema>,
): Plugin {
  const { name } = check(definitionSchema, definition, nameOf(definition));
  const schema: z.ZodType = definition.settings ?? NO_SETTINGS;
  return {
    kind: 'strata-plugin',
    name,
    settings: schema,
    open(settings) {
      const given: unknown = Object.fromEntries(
        Object.entries(definition).flatMap(([key, part]: [string, unknown]) => {
          if (key === 'name' || key === 'settings') return [];
          if (typeof part !== 'function') return [[key, part]];
          const isStep = key === 'start' || key === 'stop';
          return [[key, isStep ? (context: PluginContext) => part({ ...context, settings }) : part(settings)]];
        }),
      );
      return check(partsSchema, given, name);
    },
  };
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const open = <Part extends (...args: never[]) => unknown>() => z.custom<Part>(isFunction, 'expected a function');
const hasMethods = (names: readonly string[]) => (value: unknown) =>
  typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'function');
const part = <Value>(names: readonly string[]) =>
  z.custom<Value>(hasMethods(names), `expected an object with ${names.join(', ')}`);

const tool = part<Tool>(['run']).refine(
  ({ name, description, input }) => typeof name === 'string' && typeof description === 'string' && isSchema(input),
  'expected a tool: name, description, a zod schema as input, and run',
);

const command = part<CommandDefinition>(['run']).transform((given) => defineCommand(given));

function isSchema(value: unknown): boolean {
  return hasMethods(['safeParse'])(value);
}

const partsSchema = z.strictObject({
  tools: z.array(tool).default([]),
  commands: z.array(command).default([]),
  channels: z.record(z.string(), part<ChannelAdapter>(['create', 'check'])).default({}),
  models: z.record(z.string(), open<OpenModel>()).default({}),
  engines: z.record(z.string(), part<ContextEngine>(ENGINE_METHODS)).default({}),
  stores: z.record(z.string(), open<OpenStore>()).default({}),
  hooks: hooksSchema.default({}),
  start: open<PluginStep>().default(() => () => undefined),
  stop: open<PluginStep>().default(() => () => undefined),
});

const anyPart = z.unknown().optional();
const definitionSchema = z.strictObject({
  name,
  settings: z.custom<z.ZodType>(isSchema, 'expected a zod schema').optional(),
  tools: anyPart,
  commands: anyPart,
  channels: anyPart,
  models: anyPart,
  engines: anyPart,
  stores: anyPart,
  hooks: anyPart,
  start: anyPart,
  stop: anyPart,
});

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, plugin: string): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new StrataError('PLUGIN_INVALID', { plugin, problem: faultsOf(schema, value).join('; ') });
}
