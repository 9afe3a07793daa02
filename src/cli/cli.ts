import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { App, GlobalOptions, OpenOptions } from '../app/app.ts';
import type { Uncaught } from '../app/uncaught.ts';
import type { Adapters } from '../bot/adapters.ts';
import { escapeControls } from '../domain/controls.ts';
import type { Storage } from '../services.ts';
import { rejection } from '../util/async/limit.ts';

/** An output stream. `isTTY` is true in a terminal. */
export interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** 0 success, 1 failure, 2 wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** What the CLI depends on instead of the process itself, and functions that open a bot. */
export interface Cli {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** For data: with `--json` it receives nothing else. */
  readonly stdout: TextOutput;
  /** For notices, progress and errors. */
  readonly stderr: TextOutput;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT or SIGTERM: end soon and cleanly. */
  readonly signal: AbortSignal;
  /**
   * Calls the listener with errors that nothing caught. From then on, unhandled rejections no longer end the process.
   * An exception ends it after the listener has returned.
   */
  onUncaught(listener: (failure: Uncaught) => void): void;
  /** Loads the configuration and opens the store. Starts nothing. */
  open(options: OpenOptions): Promise<App>;
  /** Loads the configuration and opens only the store. */
  openStorage(options: GlobalOptions & Pick<OpenOptions, 'create'>): Promise<Storage>;
  /** All adapters. Each is loaded on first use. */
  adapters(): Promise<Adapters>;
  /** Receives the exit code. */
  exit(code: ExitCode): void;
}

/** The options given before or after the command's name. */
export function globalsOf(command: Command): GlobalOptions {
  const { config, data, model, logLevel } = command.optsWithGlobals<Partial<Record<keyof GlobalOptions, string>>>();
  return { config: config ?? null, data: data ?? null, model: model ?? null, logLevel: logLevel ?? null };
}

/** For work in progress when a command is stopped. The store remembers what is left. */
const STOPPED_DEADLINE_MS = 500;

/** Opens a bot for one command and closes it in every case, soon if the command was stopped. */
export async function withApp<Result>(
  cli: Cli,
  options: GlobalOptions & Partial<OpenOptions>,
  work: (app: App) => Promise<Result>,
): Promise<Result> {
  const app = await cli.open({
    platforms: [],
    listenOnly: false,
    create: false,
    role: 'all',
    terminal: null,
    ...options,
  });
  try {
    return await work(app);
  } finally {
    await app.close(cli.signal.aborted ? { deadlineMs: STOPPED_DEADLINE_MS } : undefined);
  }
}

/** For work that takes long and ignores the signal, such as calls of a model. Rejects when the command has to end. */
export function untilStopped<Result>({ signal }: Pick<Cli, 'signal'>, work: Promise<Result>): Promise<Result> {
  return Promise.race([work, rejection(signal)]);
}

/** For a command that reads a file and skips what is stored: it has not done all of its work. */
export function tellIfStopped(cli: Pick<Cli, 'exit' | 'signal' | 'stderr'>): void {
  if (!cli.signal.aborted) return;
  cli.stderr.write('Stopped before the end of the file. Run the same command again to continue.\n');
  cli.exit(1);
}

/** Cells of a row in a terminal; infinite for pipes and files, whose lines stay whole. */
export function widthOf({ stdout }: Pick<Cli, 'stdout'>): number {
  // A pseudo-terminal without a size reports 0.
  return stdout.columns || Number.POSITIVE_INFINITY;
}

/** A time as the JSON output has it. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

export function writeJson(cli: Pick<Cli, 'stdout'>, value: unknown): void {
  cli.stdout.write(`${escapeControls(JSON.stringify(value))}\n`);
}
