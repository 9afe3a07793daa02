import type { Command } from 'commander';
import type { AgentSettings } from '../../config/schema.ts';
import { type Cli, globalsOf } from '../cli.ts';

interface ListOptions {
  readonly json?: boolean;
}

export function addPrompts(program: Command, cli: Cli): void {
  const group = program
    .command('prompts')
    .description('List, check and evaluate the prompts, or copy them for editing.')
    .addHelpText('after', EXAMPLES);
  group
    .command('list')
    .description('List the file used for each prompt of each agent.')
    .option('--json', 'print one JSON object per line')
    .action(async ({ json = false }: ListOptions, own: Command) => {
      const { listPrompts } = await import('./prompt-files.ts');
      cli.exit(listPrompts(cli, { agents: await agentsOf(cli, own), json }));
    });
  group
    .command('check')
    .description('Render every prompt of every agent.')
    .option('--json', 'print one JSON object: ok, problems')
    .action(async ({ json = false }: ListOptions, own: Command) => {
      const { checkPrompts } = await import('./prompt-files.ts');
      cli.exit(checkPrompts(cli, { agents: await agentsOf(cli, own), json }));
    });
  group
    .command('eval [files...]')
    .description(
      'Summarise recorded conversations with the configured model, and count which of their facts are kept, compared with the last run.',
    )
    .option('--json', 'print one JSON object: model, prompts, scores, before')
    .action(async (files: readonly string[], { json = false }: ListOptions, own: Command) => {
      const { evaluatePrompts } = await import('./prompts-eval.ts');
      await evaluatePrompts(cli, own, { files, json });
    });
  group
    .command('eject [names...]')
    .description('Copy built-in prompts (all, or the named ones) into your own folder.')
    .option('--to <folder>', 'folder to write to', 'prompts-own')
    .option('--language <name>', 'language of the prompts', 'en')
    .option('--force', 'overwrite existing files')
    .action(
      async (
        names: readonly string[],
        { to, language, force = false }: { readonly to: string; readonly language: string; readonly force?: boolean },
      ) => {
        const { ejectPrompts } = await import('./prompt-files.ts');
        cli.exit(ejectPrompts(cli, { names, folder: to, language, force }));
      },
    );
}

async function agentsOf(cli: Cli, own: Command): Promise<readonly AgentSettings[]> {
  const { loadConfig } = await import('../../config/load.ts');
  const { findPlugins } = await import('../../app/configuration.ts');
  const { load } = await findPlugins(cli, globalsOf(own));
  return loadConfig(load).config.agents;
}

const EXAMPLES = `
Examples:
  $ strata prompts list
  $ strata prompts eject persona guidance --to my-prompts
  $ strata prompts eval --model offline:demo`;
