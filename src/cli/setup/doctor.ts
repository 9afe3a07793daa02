import { styleText } from 'node:util';
import type { Command } from 'commander';
import { cleanText } from '../../util/text/text.ts';
import { type Cli, globalsOf, writeJson } from '../cli.ts';
import type { Finding } from './doctor-finding.ts';

interface Options {
  readonly json?: boolean;
  readonly offline?: boolean;
}

export function addDoctor(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .description('Check everything that startup requires, and say how to fix problems.')
    .option('--offline', 'skip the short test call to each model')
    .option('--json', 'print one JSON object: ok, checksRun, findings')
    .addHelpText('after', '\nExample:\n  $ strata doctor --json')
    .action(async ({ json = false, offline = false }: Options, own: Command) => {
      const { runChecks } = await import('./doctor-checks.ts');
      const { checksRun, checksSkipped, findings } = await runChecks(cli, { globals: globalsOf(own), offline });
      const ok = findings.every((finding) => finding.severity !== 'fail');
      if (json) writeJson(cli, { ok, checksRun, checksSkipped, findings });
      else for (const finding of findings) print(cli, finding);
      cli.exit(ok ? 0 : 1);
    });
}

const COLORS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function print(cli: Cli, { severity, checkId, message, fixHint }: Finding): void {
  const word = severity.toUpperCase().padEnd(4);
  const mark = cli.stdout.isTTY === true ? styleText(COLORS[severity], word) : word;
  cli.stdout.write(`${mark}  ${checkId}: ${cleanText(message)}\n`);
  if (fixHint !== null) cli.stdout.write(`      → ${cleanText(fixHint)}\n`);
}
