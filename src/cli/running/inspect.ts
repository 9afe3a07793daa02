import type { Command } from 'commander';
import { isAddress } from '../../config/shapes.ts';
import { StrataError } from '../../domain/errors.ts';
import { holdProcess } from '../../util/async/hold-process.ts';
import { type Cli, globalsOf, withApp } from '../cli.ts';
import { stopped } from './serve.ts';

interface Options {
  readonly listen?: string;
}

/** Where `strata inspect` listens if the configuration disables the inspector. */
const LOOPBACK = '127.0.0.1:0';

export function addInspect(program: Command, cli: Cli): void {
  program
    .command('inspect')
    .description('Open the inspector: what the model sees, what was summarised, what is remembered, and what it costs.')
    .option('--listen <host:port>', 'address of the pages (default: listen in [inspector])')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options, own: Command) => {
      if (options.listen !== undefined) assertAddress(options.listen);
      await withApp(cli, globalsOf(own), async (app) => {
        const inspector = (await app.inspect(options.listen)) ?? (await app.inspect(LOOPBACK));
        cli.stdout.write(`Inspector: ${inspector?.url}\n`);
        cli.stderr.write(`Data: ${app.services.dataLocation}. Ctrl-C stops.\n`);
        const release = holdProcess();
        await stopped(cli.signal);
        release();
        await inspector?.close();
      });
    });
}

function assertAddress(address: string): void {
  if (isAddress(address)) return;
  throw new StrataError('USAGE', { problem: `--listen is "${address.slice(0, 60)}". Expected host:port.` });
}

const EXAMPLES = `
Examples:
  $ strata inspect
  $ strata inspect --data /var/lib/strata
  $ strata inspect --listen 127.0.0.1:7080`;
