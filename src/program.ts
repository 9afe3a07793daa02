/**
 * What `strata start` does, for your own programs: the configuration file, its plugins, and the adapters that it names.
 */

import { adapters } from '../adapters/registry.ts';
import type { App, GlobalOptions, OpenOptions } from './app/app.ts';
import { findPlugins, withPlugins } from './app/configuration.ts';
import { openStore as openStoreWith, openApp as openWith } from './app/open.ts';
import { loadChannels } from './app/open-adapters.ts';
import { PROCESS_ROLES } from './bot/options.ts';
import { type LoadedConfig, loadConfig as loadWith } from './config/load.ts';
import { StrataError } from './domain/errors.ts';
import type { Storage } from './services.ts';
import { terminalStreams } from './util/terminal-streams.ts';
import { didYouMean } from './util/text/did-you-mean.ts';

export type { App, GlobalOptions, OpenOptions } from './app/app.ts';
export type { LoadedConfig } from './config/load.ts';

/** What the compiler tells programs in TypeScript. Throws `USAGE`. */
function checkOptions(given: Partial<OpenOptions>, names: readonly string[]): void {
  if (typeof given !== 'object' || given === null) {
    throw new StrataError('USAGE', { problem: `Expected an object with options, got ${kindOf(given)}.` });
  }
  checkNames(given, names);
  const { config = null, platforms = 'configured' } = given;
  if (config !== null && typeof config !== 'string') {
    throw new StrataError('USAGE', { problem: `config: expected the path of a file, got ${kindOf(config)}.` });
  }
  if (platforms !== 'configured' && !Array.isArray(platforms)) {
    throw new StrataError('USAGE', {
      problem: `platforms: expected "configured" or a list of names such as ["discord"].`,
    });
  }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function checkNames(given: object, names: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = didYouMean(unknown, names);
  const hint = meant === null ? `Known: ${names.join(', ')}.` : `Did you mean ${meant}?`;
  throw new StrataError('USAGE', { problem: `There is no option ${unknown}. ${hint}` });
}

const NO_CHOICES: GlobalOptions = { config: null, data: null, model: null, logLevel: null };

/**
 * Reads the configuration and its plugins as the command line does. Default: `config.toml` in the working directory, if
 * it exists. Throws `CONFIG_INVALID` with every problem, or `CONFIG_UNREADABLE`.
 *
 * @example
 * const { config } = await loadConfig({ config: 'bot.toml' });
 * console.log(config.agents.map(({ id, model }) => `${id}: ${model}`));
 */
export async function loadConfig(options: Partial<GlobalOptions> = {}): Promise<LoadedConfig> {
  checkOptions(options, Object.keys(NO_CHOICES));
  const { load, plugins } = await findPlugins({ environment: process.env }, { ...NO_CHOICES, ...options });
  const loaded = loadWith(load);
  await loadChannels(await withPlugins(adapters, plugins), loaded, []);
  return loaded;
}

/**
 * Creates the configured bot: store, queue, models, platforms, plugins. Starts nothing before `start`.
 * Throws what `loadConfig` throws, and what the store and the adapters throw. `.env` is not read: call
 * `process.loadEnvFile()` for that.
 *
 * @example
 * const app = await openApp({ config: 'config.toml' });
 * process.once('SIGTERM', () => app.close());
 * await app.start();
 * await app.ended; // the terminal has ended, or app.close() was called
 * await app.close();
 */
export async function openApp(options: Partial<OpenOptions> = {}): Promise<App> {
  const host = { adapters, streams: terminalStreams(), environment: process.env };
  const whole = { platforms: 'configured', listenOnly: false, create: true, role: 'all', terminal: null } as const;
  checkOptions(options, [...Object.keys({ ...NO_CHOICES, ...whole }), 'scratch']);
  const { role = 'all' } = options;
  if (!PROCESS_ROLES.includes(role))
    throw new StrataError('USAGE', { problem: `Expected the role ${PROCESS_ROLES.join(', ')}.` });
  return await openWith(host, { ...NO_CHOICES, ...whole, ...options });
}

/**
 * Opens only the store of the configuration.
 *
 * @example
 * const { store } = await openStore({ create: false });
 * const conversation = await store.conversations.find(makeKey({ platform: 'terminal', workspace: 'local', channel: 'main' }));
 * console.log(conversation?.nextSeq);
 * await store.close();
 */
export async function openStore(
  options: Partial<GlobalOptions> & { readonly create?: boolean } = {},
): Promise<Storage> {
  checkOptions(options, [...Object.keys(NO_CHOICES), 'create']);
  return await openStoreWith({ adapters, environment: process.env }, { ...NO_CHOICES, create: true, ...options });
}
