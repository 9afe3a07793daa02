import type { Command } from 'commander';
import { readArchive } from './archive-file.ts';
import { contentsOf } from './backup.ts';
import { type Cli, globalsOf } from './cli.ts';

export function addRestore(program: Command, cli: Cli): void {
  program
    .command('restore <file>')
    .description('Fill an empty store from a backup, wholly or not at all.')
    .addHelpText('after', HELP)
    .action(async (file: string, _options: object, own: Command) => {
      const archive = await readArchive(file);
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
The backup may come from the other kind of store. A reply that was still owed or not yet posted when it was made is
owed again.

Examples:
  $ strata restore strata-2026-11-20.jsonl.gz --data restored
  $ STRATA_STORAGE_URL=postgres://strata@db/strata strata restore strata-2026-11-20.jsonl.gz`;
