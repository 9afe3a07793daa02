import type { Command } from 'commander';
import type { z } from 'zod';
import type { ChannelAdapter } from '../bot/adapters.ts';
import { channelProblems } from '../config/channels.ts';
import { loadConfig } from '../config/load.ts';
import { StrataError } from '../domain/errors.ts';
import { cleanText } from '../util/text.ts';
import { type Cli, globalsOf, loadOptionsOf } from './cli.ts';
import type { GlobalOptions } from './context.ts';

/** The schemas of the channels' sections of the configuration, by name. */
export async function channelSchemas(cli: Cli): Promise<ReadonlyMap<string, z.ZodType>> {
  const rows = Object.entries(await cli.channelAdapters()).map(
    async ([name, load]) => [name, (await load()).settings] as const,
  );
  return new Map(await Promise.all(rows));
}

/** What a platform itself can be told to do, `strata discord register` for example. Loaded only when it is named. */
export async function addPlatform(program: Command, cli: Cli, name: string | undefined): Promise<void> {
  const adapters = await cli.channelAdapters();
  const adapter = name === undefined ? undefined : await adapters[name]?.();
  if (name !== undefined && adapter !== undefined && adapter.tasks.length > 0)
    addTasks(program, cli, { name, adapter });
}

function addTasks(
  program: Command,
  cli: Cli,
  { name, adapter }: { readonly name: string; readonly adapter: ChannelAdapter },
): void {
  const group = program.command(name).description(`What can be done for ${name}.`);
  for (const task of adapter.tasks) {
    group
      .command(task.name)
      .description(task.description)
      .action(async (_options: object, own: Command) => {
        const text = await task.run(await settingsOf(cli, name, globalsOf(own)));
        cli.stdout.write(`${cleanText(text)}\n`);
      });
  }
}

/** The channel's section, judged as at the start; neither the store nor anything else is opened for it. */
async function settingsOf(cli: Cli, name: string, options: GlobalOptions): Promise<unknown> {
  const loaded = loadConfig(loadOptionsOf(cli, options));
  const problems = channelProblems(loaded, await channelSchemas(cli));
  if (problems.length > 0) throw new StrataError('CONFIG_INVALID', { file: loaded.source.file, problems });
  return loaded.config.channels[name] ?? {};
}
