import type { Command } from 'commander';
import type { z } from 'zod';
import type { ChannelAdapter } from '../adapters.ts';
import { cleanText } from '../text.ts';
import { type Cli, globalsOf, withApp } from './cli.ts';

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
        await withApp(cli, globalsOf(own), async (app) => {
          const text = await task.run(app.config.channels[name] ?? {}, app.channelContext);
          cli.stdout.write(`${cleanText(text)}\n`);
        });
      });
  }
}
