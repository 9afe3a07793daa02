import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { StrataError } from '../domain/errors.ts';
import { counted, formatNumber } from '../util/text.ts';
import { writeArchive } from './archive-file.ts';
import { type Cli, globalsOf } from './cli.ts';

interface Options {
  readonly force?: boolean;
}

export function addBackup(program: Command, cli: Cli): void {
  program
    .command('backup <file>')
    .description('Write everything that is stored into one file. With a server as the store, the bot may keep running.')
    .option('--force', 'replace the file if it is there')
    .addHelpText('after', HELP)
    .action(async (file: string, { force = false }: Options, own: Command) => {
      if (!force && existsSync(file)) {
        throw new StrataError('USAGE', { problem: `${file} is there already. Name another file, or add --force.` });
      }
      const { store, upkeep } = await cli.openStorage({ ...globalsOf(own), create: false });
      try {
        const { header, bytes } = await writeArchive(file, upkeep.dump);
        cli.stderr.write(`Backed up ${contentsOf(header.counts)} to ${file} (${formatNumber(bytes / 1_000)} kB).\n`);
      } finally {
        await store.close();
      }
    });
}

/** In words, for the person who asked. */
export function contentsOf(counts: Readonly<Record<string, number>>): string {
  const { conversation = 0, entry = 0, summary = 0, memory = 0 } = counts;
  return [
    counted(conversation, 'conversation', 'conversations'),
    counted(entry, 'entry', 'entries'),
    counted(summary, 'summary', 'summaries'),
    counted(memory, 'memory', 'memories'),
  ].join(', ');
}

const HELP = `
The file holds what people wrote: only its owner can read it. With a name that ends in .gz it is packed. It can be
restored into either kind of store.

Example:
  $ strata backup strata-2026-11-20.jsonl.gz`;
