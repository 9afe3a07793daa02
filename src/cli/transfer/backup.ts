import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { StrataError } from '../../domain/errors.ts';
import { counted, formatNumber } from '../../util/text/text.ts';
import { type Cli, globalsOf } from '../cli.ts';
import { writeArchive } from './archive-file.ts';

interface Options {
  readonly force?: boolean;
}

export function addBackup(program: Command, cli: Cli): void {
  program
    .command('backup <file>')
    .description('Write all stored data to one file. If the store is a server, the bot can keep running.')
    .option('--force', 'replace the file if it exists')
    .addHelpText('after', HELP)
    .action(async (file: string, { force = false }: Options, own: Command) => {
      refuseTarget(file, force);
      const { store, upkeep } = await cli.openStorage({ ...globalsOf(own), create: false });
      try {
        const { header, bytes } = await writeArchive(file, upkeep.dump, cli.signal);
        cli.stderr.write(`Backed up ${contentsOf(header.counts)} to ${file} (${formatNumber(bytes / 1_000)} kB).\n`);
      } finally {
        await store.close();
      }
    });
}

/** The finished file replaces what has its name, so it must not be the name of a device, a pipe or a folder. */
function refuseTarget(file: string, isForced: boolean): void {
  if (file === '-' || (existsSync(file) && !statSync(file).isFile())) {
    const problem = `${file} is not a regular file, so no backup can be written to it. Name a file, for example strata.jsonl.gz.`;
    throw new StrataError('USAGE', { problem });
  }
  if (isForced || !existsSync(file)) return;
  throw new StrataError('USAGE', { problem: `${file} already exists. Choose another file, or add --force.` });
}

/** The row counts as text. */
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
The file contains people's messages, so only its owner can read it. If its name ends in .gz, it is compressed. It can be
restored into either kind of store.

Example:
  $ strata backup strata-2026-11-20.jsonl.gz`;
