import { allCommands } from '../commands/custom-commands.ts';
import type { CommandDefinition } from '../commands/define.ts';
import { builtInNames } from '../config/known.ts';
import { StrataError } from '../domain/errors.ts';
import { toolSpecOf } from '../tools/registry.ts';
import type { PluginParts } from './plugin.ts';

/** Accepts the parts of one plugin after the other. */
export interface AddedNames {
  /**
   * Throws `TOOL_INVALID`, `TOOL_DUPLICATE`, `COMMAND_INVALID`, `COMMAND_DUPLICATE`, and `PLUGIN_INVALID` for other
   * names that exist already.
   */
  add(plugin: string, parts: PluginParts): void;
}

/** A bot checks its parts as a whole. This check names the plugin that adds the wrong one. */
export function createAddedNames(): AddedNames {
  const tools = new Set(builtInNames.tools);
  const engines = new Set(builtInNames.engines);
  const providers = new Set<string>();
  let commands: readonly CommandDefinition[] = [];
  return {
    add(plugin, parts) {
      for (const tool of parts.tools) {
        toolSpecOf(tool);
        if (tools.has(tool.name)) throw new StrataError('TOOL_DUPLICATE', { tool: tool.name });
        tools.add(tool.name);
      }
      const all = [...commands, ...parts.commands];
      allCommands(all);
      commands = all;
      addAll(engines, parts.engines, { plugin, kind: 'context engine' });
      addAll(providers, parts.models, { plugin, kind: 'model provider' });
    },
  };
}

function addAll(
  taken: Set<string>,
  added: Readonly<Record<string, unknown>>,
  { plugin, kind }: { readonly plugin: string; readonly kind: string },
): void {
  for (const name of Object.keys(added)) {
    if (taken.has(name)) throw nameTaken(plugin, `the ${kind} "${name}"`);
    taken.add(name);
  }
}

/** For a plugin that adds what the bot or an earlier plugin has. */
export function nameTaken(plugin: string, added: string): StrataError {
  return new StrataError('PLUGIN_INVALID', { plugin, problem: `it adds ${added}, which exists already` });
}
