import type { Command } from 'commander';
import type { Adapters, ChannelContext, Notices, Operations, TerminalEnd } from '../bot/adapters.ts';
import type { Bot } from '../bot/bot.ts';
import type { Role } from '../bot/parts.ts';
import type { CommandServices } from '../commands/services.ts';
import type { LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Finding, Upkeep } from '../ports/upkeep.ts';
import type { Storage } from '../services.ts';
import type { CliContext, ExitCode, GlobalOptions } from './context.ts';

/** The CLI's world: its streams, and the way to a bot. */
export interface Cli extends CliContext {
  /** Loads the configuration and opens the store. Starts nothing. */
  open(options: OpenOptions): Promise<App>;
  /** Loads the configuration and opens the store alone. */
  openStorage(options: GlobalOptions & Pick<OpenOptions, 'create'>): Promise<Storage>;
  /** The platforms by name. Each is loaded when it is called. */
  channelAdapters(): Promise<Adapters['channels']>;
  /** Is told what the process shall exit with. */
  exit(code: ExitCode): void;
}

export interface OpenOptions extends GlobalOptions {
  /** Which platforms to serve. `configured`: those that the configuration enables, else the terminal. */
  readonly platforms: 'configured' | readonly string[];
  /** Answer nobody, whatever the configuration says. */
  readonly listenOnly: boolean;
  /** Make the store where there is none: a mistyped directory must not look like an empty bot. */
  readonly create: boolean;
  /** What this process does of the bot's work. */
  readonly role: Role;
  readonly terminal: { readonly conversation: ConversationKey | null; readonly user: string } | null;
}

/** A bot that is put together. Its parts can be used before, and without, `start`. */
export interface App {
  readonly bot: Bot;
  readonly parts: CommandServices;
  readonly config: Config;
  readonly upkeep: Upkeep;
  /** What the channels were given. */
  readonly channelContext: ChannelContext;
  readonly platforms: readonly string[];
  readonly notices: Notices;
  /** Resolves when the terminal's input has ended, rejects when a platform has refused the bot for good. */
  readonly ended: Promise<TerminalEnd>;
  /** What must hold of the queue's server, where it has one. */
  checkQueue(): Promise<readonly Finding[]>;
  /** Answers those who look after the process, where the configuration says so. */
  operate(): Promise<Operations | null>;
  /** Ends what runs, and closes the store. */
  close(options?: { readonly deadlineMs: number }): Promise<void>;
}

/** The options given before and after the command's name. */
export function globalsOf(command: Command): GlobalOptions {
  const { config, data, model, logLevel } = command.optsWithGlobals<Partial<Record<keyof GlobalOptions, string>>>();
  return { config: config ?? null, data: data ?? null, model: model ?? null, logLevel: logLevel ?? null };
}

/** How the configuration is to be read: a file that nobody named may be missing. */
export function loadOptionsOf(cli: Pick<CliContext, 'environment'>, globals: GlobalOptions): LoadOptions {
  const { config, data, model, logLevel } = globals;
  return {
    file: config ?? 'config.toml',
    explicit: config !== null,
    environment: cli.environment,
    flags: { data, model, logLevel },
  };
}

/** Opens a bot for one command and closes it whatever happens. */
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
    await app.close();
  }
}

export function writeJson(cli: Pick<Cli, 'stdout'>, value: unknown): void {
  cli.stdout.write(`${JSON.stringify(value)}\n`);
}
