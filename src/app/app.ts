import type { Adapters, ChannelContext, Notices, Operations, TerminalContext, TerminalEnd } from '../bot/adapters.ts';
import type { Bot } from '../bot/bot.ts';
import type { ProcessRole } from '../bot/options.ts';
import type { CommandServices } from '../commands/services.ts';
import type { LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Finding, Upkeep } from '../ports/upkeep.ts';
import type { Uncaught } from './uncaught.ts';

/** Options from outside the configuration file. Null means the default. */
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

/** How an app is opened. */
export interface OpenOptions extends GlobalOptions {
  /** Platforms to serve. `configured`: those the configuration enables, or the terminal if there are none. */
  readonly platforms: 'configured' | readonly string[];
  /** Never reply, regardless of the configuration. */
  readonly listenOnly: boolean;
  /**
   * Create the store if it does not exist. False for read-only commands, so that a mistyped directory does not look
   * like an empty bot.
   */
  readonly create: boolean;
  /** A folder for an empty store that replaces the configured one, next to a queue in this process. Default: none. */
  readonly scratch?: string;
  /** The role of this process. */
  readonly role: ProcessRole;
  readonly terminal: { readonly conversation: ConversationKey | null; readonly user: string } | null;
}

export interface AppHost {
  readonly adapters: Adapters;
  /** The terminal of the process, shared by the CLI's output and the terminal channel. */
  readonly streams: Pick<TerminalContext, 'input' | 'output' | 'errors' | 'isTTY' | 'color'>;
  readonly environment: LoadOptions['environment'];
}

/** A fully wired bot. Its services can be used before `start`, or without it. */
export interface App {
  readonly bot: Bot;
  readonly services: CommandServices;
  readonly config: Config;
  readonly upkeep: Upkeep;
  /** Every channel adapter, including those of plugins. */
  readonly channelAdapters: Adapters['channels'];
  /** The settings of each channel. */
  readonly channelContext: ChannelContext;
  readonly platforms: readonly string[];
  readonly notices: Notices;
  /**
   * Resolves when the terminal's input has ended, or the app is closed. Rejects when a platform has permanently refused
   * the bot.
   */
  readonly ended: Promise<TerminalEnd>;
  /** Checks of the queue's server, if the queue has one. */
  checkQueue(): Promise<readonly Finding[]>;
  /** The operations server, if it is configured. */
  operate(): Promise<Operations | null>;
  /** The inspector, unless it is disabled. `listen` overrides the configured address. */
  inspect(listen?: string): Promise<Operations | null>;
  /** Reports an error that nothing caught. The host decides whether the process continues. */
  reportUncaught(failure: Uncaught): void;
  /** Starts the plugins, then the bot; if one of them fails, stops those that it started. Throws `PLUGIN_FAILED`. */
  start(): Promise<void>;
  /** Stops the bot, then the plugins, and closes the store. */
  close(options?: { readonly deadlineMs: number }): Promise<void>;
}

/** Options for reading the configuration: the default file may be missing. */
export function loadOptionsOf(process: Pick<AppHost, 'environment'>, globals: GlobalOptions): LoadOptions {
  const { config, data, model, logLevel } = globals;
  return {
    file: config ?? 'config.toml',
    explicit: config !== null,
    environment: process.environment,
    flags: { data, model, logLevel },
  };
}
