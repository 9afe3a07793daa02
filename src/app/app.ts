import type { Adapters, ChannelContext, Notices, Operations, TerminalContext, TerminalEnd } from '../bot/adapters.ts';
import type { Bot } from '../bot/bot.ts';
import type { Role } from '../bot/parts.ts';
import type { CommandServices } from '../commands/services.ts';
import type { LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Finding, Upkeep } from '../ports/upkeep.ts';

/** What is chosen outside the configuration file. Null means the default. */
export interface GlobalOptions {
  /** `--config FILE`. */
  readonly config: string | null;
  /** `--data DIR`. */
  readonly data: string | null;
  /** `--model PROVIDER:MODEL`. */
  readonly model: string | null;
  /** `--log-level LEVEL`. */
  readonly logLevel: string | null;
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

export interface OpenParts {
  readonly adapters: Adapters;
  /** The process's terminal: the CLI's texts and the terminal channel share it. */
  readonly streams: Pick<TerminalContext, 'input' | 'output' | 'errors' | 'isTTY' | 'color'>;
  readonly environment: LoadOptions['environment'];
}

/** A bot that is put together. Its parts can be used before, and without, `start`. */
export interface App {
  readonly bot: Bot;
  readonly parts: CommandServices;
  readonly config: Config;
  readonly upkeep: Upkeep;
  /** Every channel that could be served, those of plugins too. */
  readonly channelAdapters: Adapters['channels'];
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
  /** Starts the plugins, then the bot. Throws `PLUGIN_FAILED`. */
  start(): Promise<void>;
  /** Ends what runs, the bot before the plugins, and closes the store. */
  close(options?: { readonly deadlineMs: number }): Promise<void>;
}

/** How the configuration is to be read: a file that nobody named may be missing. */
export function loadOptionsOf(process: Pick<OpenParts, 'environment'>, globals: GlobalOptions): LoadOptions {
  const { config, data, model, logLevel } = globals;
  return {
    file: config ?? 'config.toml',
    explicit: config !== null,
    environment: process.environment,
    flags: { data, model, logLevel },
  };
}
