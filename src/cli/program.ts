import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { describe } from '../domain/errors.ts';
import { packageFile } from '../util/files/package-file.ts';
import type { Cli } from './cli.ts';
import { exitCodeOf } from './exit.ts';
import { addHelp } from './help.ts';
import { COMMANDS, type CommandName } from './names.ts';

type Adder = (program: Command, cli: Cli) => void;

/** Every command in the order of the help. Only the called one is loaded, to keep startup fast. */
const commands: Readonly<Record<CommandName, () => Promise<Adder>>> = {
  start: async () => (await import('./running/start.ts')).addStart,
  chat: async () => (await import('./running/chat.ts')).addChat,
  send: async () => (await import('./running/send.ts')).addSend,
  import: async () => (await import('./transfer/import.ts')).addImport,
  replay: async () => (await import('./running/replay.ts')).addReplay,
  recall: async () => (await import('./conversations/recall.ts')).addRecall,
  context: async () => (await import('./conversations/context.ts')).addContext,
  why: async () => (await import('./conversations/why.ts')).addWhy,
  'what-if': async () => (await import('./conversations/what-if.ts')).addWhatIf,
  summaries: async () => (await import('./conversations/summaries.ts')).addSummaries,
  transcript: async () => (await import('./conversations/transcript.ts')).addTranscript,
  cost: async () => (await import('./conversations/cost.ts')).addCost,
  memory: async () => (await import('./memory/memory.ts')).addMemory,
  config: async () => (await import('./setup/config.ts')).addConfig,
  prompts: async () => (await import('./prompts/prompts.ts')).addPrompts,
  backup: async () => (await import('./transfer/backup.ts')).addBackup,
  restore: async () => (await import('./transfer/restore.ts')).addRestore,
  inspect: async () => (await import('./running/inspect.ts')).addInspect,
  doctor: async () => (await import('./setup/doctor.ts')).addDoctor,
};

/** Runs one command line. Failures print one sentence to standard error and set the exit code. */
export async function runCli(argv: readonly string[], cli: Cli): Promise<void> {
  try {
    const program = await createProgram(argv, cli);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Commander has already printed the problem; help and version are not failures.
    if (error instanceof CommanderError) return cli.exit(error.exitCode === 0 ? 0 : 2);
    cli.stderr.write(`strata: ${describe(error)}\n`);
    cli.exit(exitCodeOf(error));
  }
}

async function createProgram(argv: readonly string[], cli: Cli): Promise<Command> {
  const program = new Command('strata')
    .description('A chat bot whose conversations never freeze and never forget.')
    .version(ownVersion(), '--version', 'print the version')
    .option('--config <file>', 'configuration file (default: config.toml in this folder, if it exists)')
    .option('--data <dir>', 'folder of the embedded store (default: data)')
    .option('--model <provider:model>', 'model for replies, instead of the configured one')
    .option('--log-level <level>', 'debug, info, warn, error or silent')
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXAMPLES);
  // The search for a platform's command already reads the options.
  settle(program, cli);
  const wanted = wantedCommand(argv);
  for (const name of COMMANDS) {
    if (wanted === null || wanted === name) (await commands[name]())(program, cli);
  }
  if (wanted === null) await addPlatformOf(argv, program, cli);
  addHelp(program);
  settle(program, cli);
  return program;
}

function ownVersion(): string {
  const file = readFileSync(packageFile('package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(file)).version;
}

/** The command that a line certainly calls; null if all are needed, for help or to suggest the nearest name. */
function wantedCommand(argv: readonly string[]): string | null {
  if (argv.length === 0) return 'start';
  const [first = ''] = argv;
  return COMMANDS.some((name) => name === first) ? first : null;
}

/** Commands of a platform, for example `strata discord invite`. */
async function addPlatformOf(argv: readonly string[], program: Command, cli: Cli): Promise<void> {
  const { addPlatform } = await import('./setup/platform.ts');
  await addPlatform(program, cli, argv);
}

/** Commands write only to the given streams and never end the process. */
function settle(command: Command, cli: Cli): void {
  command
    .exitOverride()
    .showHelpAfterError('(use --help for details)')
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      writeErr: (text) => cli.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'strata: ')),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  for (const child of command.commands) settle(child, cli);
}

const EXAMPLES = `
Examples:
  $ strata                                        talk to the bot in this terminal
  $ printf 'Hi\\n/status\\n' | strata               the same from a pipe
  $ strata import chat.jsonl --conversation terminal:local:main
  $ strata context --conversation terminal:local:main --json
  $ strata memory search tea --conversation terminal:local:main
  $ strata doctor
  $ strata discord invite                         print the link that adds the bot to a Discord server
  $ strata slack manifest                         print the manifest of the Slack app

Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.`;
