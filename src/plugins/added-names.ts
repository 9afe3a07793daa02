import { allCommands } from '../commands/custom/custom-commands.ts';
import type { CommandDefinition } from '../commands/custom/define.ts';
import { BUILT_IN_CHANNELS, BUILT_IN_STORES, builtInNames } from '../config/known.ts';
import { isStrataError, StrataError } from '../domain/errors.ts';
import { toolSpecOf } from '../tools/registry.ts';
import type { PluginParts } from './plugin.ts';

/** Who adds a name: the plugin, and its file as written in the configuration. */
interface Adder {
  readonly plugin: string;
  readonly file: string;
}

/** Accepts the parts of one plugin after the other. */
export interface AddedNames {
  /**
   * Throws `TOOL_INVALID` or `COMMAND_INVALID` for an invalid part, and `PLUGIN_INVALID` for a name that is built in or
   * already added.
   */
  add(adder: Adder, parts: PluginParts): void;
}

const BUILT_IN = {
  tool: builtInNames.tools,
  'context engine': builtInNames.engines,
  'model provider': builtInNames.providers,
  channel: BUILT_IN_CHANNELS,
  store: BUILT_IN_STORES,
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Kind = keyof typeof BUILT_IN;

/** A bot checks all its parts together. This check also names the plugin that adds a name twice, and the other file. */
export function createAddedNames(): AddedNames {
  /** The plugin's file for each kind and name. */
  const files = new Map<string, string>();
  const commands: AddedCommand[] = [];
  const addAll = (adder: Adder, kind: Kind, names: readonly string[]) => {
    const builtIn: readonly string[] = BUILT_IN[kind];
    for (const name of names) {
      const key = `${kind} ${name}`;
      if (builtIn.includes(name)) throw nameTaken(adder, `${kind} "${name}"`, null);
      const file = files.get(key);
      if (file !== undefined) throw nameTaken(adder, `${kind} "${name}"`, file);
      files.set(key, adder.file);
    }
  };
  return {
    add(adder, { tools, commands: own, engines, models, channels, stores }) {
      for (const tool of tools) toolSpecOf(tool);
      const names = tools.map(({ name }) => name);
      addAll(adder, 'tool', names);
      addCommands(commands, own, adder);
      addAll(adder, 'context engine', Object.keys(engines));
      addAll(adder, 'model provider', Object.keys(models));
      addAll(adder, 'channel', Object.keys(channels));
      addAll(adder, 'store', Object.keys(stores));
    },
  };
}

interface AddedCommand {
  readonly definition: CommandDefinition;
  readonly file: string;
}

/** Plugins may share the first word of their commands, so all of them are read together. */
function addCommands(commands: AddedCommand[], own: readonly CommandDefinition[], adder: Adder): void {
  for (const definition of own) {
    try {
      allCommands([...commands.map((added) => added.definition), definition]);
    } catch (error) {
      if (!isStrataError(error, 'COMMAND_DUPLICATE')) throw error;
      const { name } = definition;
      const wordOf = (added: AddedCommand) => added.definition.name.split(' ')[0];
      const sharing = commands.filter((added) => wordOf(added) === name.split(' ')[0]);
      const other = sharing.find((added) => added.definition.name === name) ?? sharing[0];
      throw nameTaken(adder, `command "${name}"`, other?.file ?? null);
    }
    commands.push({ definition, file: adder.file });
  }
}

/** `file` is null for what is built in. */
function nameTaken({ plugin, file: own }: Adder, added: string, file: string | null): StrataError {
  const remedy = file === null ? 'is built in; choose another name' : `${placeOf(file, own)}; rename one of them`;
  return new StrataError('PLUGIN_INVALID', { plugin, problem: `it adds the ${added}, which ${remedy}` });
}

function placeOf(file: string, own: string): string {
  return file === own ? 'it has added already' : `${file} adds, too`;
}
