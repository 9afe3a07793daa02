import type { Command } from 'commander';
import { type Cli, globalsOf } from '../cli.ts';
import { readArchive } from './archive-file.ts';
import { contentsOf } from './backup.ts';

export function addRestore(program: Command, cli: Cli): void {
  program
    .command('restore <file>')
    .description('Restore a backup into an empty store, completely or not at all.')
    .addHelpText('after', HELP)
    .action(async (file: string, _options: object, own: Command) => {
      const archive = await readArchive(file, cli.signal);
      const { store, upkeep } = await cli.openStorage({ ...globalsOf(own), create: true });
      try {
        await upkeep.load(archive);
        cli.stderr.write(`Restored ${contentsOf(archive.header.counts)} into ${upkeep.place}.\n`);
      } finally {
        await store.close();
      }
    });
}

const HELP = `
The backup may come from either kind of store. Replies and posts that were pending when it was made are sent after
the restore.

Examples:
  $ strata restore strata-2026-11-20.jsonl.gz --data restored
  $ STRATA_STORAGE_URL=postgres://strata@db/strata strata restore strata-2026-11-20.jsonl.gz`;
