import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, StrataError } from '../../domain/errors.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../load.ts';
import type { Config } from '../schema.ts';
import { type ConfigChange, planChange } from './change.ts';
import { watchFiles } from './watch-files.ts';

export interface WatchOptions {
  readonly initial: LoadedConfig;
  readonly load: LoadOptions;
  /** A final check of a valid configuration, for example of its prompts. Throws to reject it. */
  readonly check: (config: Config) => void;
  /** Called after a changed file has taken effect; `waiting` names what requires a restart. */
  readonly onChange: (change: ConfigChange) => void;
  /** Called if the file on disk cannot be used. The last valid configuration stays in use. */
  readonly onReject: (message: string) => void;
  /** A burst of writes counts as one change. */
  readonly debounceMs?: number;
  /** Files are also checked at this interval, because some file systems send no events. */
  readonly pollMs?: number;
}

export interface LiveConfig {
  /** The configuration in use. The same object until a change applies. */
  config(): Config;
  /** Why the file on disk is not in use; null if it is. */
  rejection(): string | null;
  /** Parts of the file that differ and take effect after a restart. */
  waiting(): readonly string[];
  /** Checks the file now. */
  reload(): void;
  close(): void;
}

/**
 * Watches the configuration file and the agents' own prompts and sections. It watches folders, not files: an editor that saves by
 * renaming would leave the watched file behind. Never keeps the process alive.
 */
export function watchConfig(options: WatchOptions): LiveConfig {
  const load: LoadOptions = { ...options.load, explicit: options.load.explicit || options.initial.source.found };
  let running = options.initial.config;
  let isEmpty = options.initial.source.isEmpty;
  let waiting: readonly string[] = [];
  let rejection: string | null = null;

  const accept = (change: ConfigChange): void => {
    rejection = null;
    waiting = change.waiting;
    if (change.changed) running = change.config;
    options.onChange(change);
  };

  const reject = (message: string): void => {
    if (message === rejection) return;
    rejection = message;
    options.onReject(message);
  };

  const reload = (): void => {
    try {
      const { config, source } = loadConfig(load);
      if (source.isEmpty && !isEmpty) throw emptied(load.file);
      const change = planChange(running, config);
      options.check(change.config);
      isEmpty = source.isEmpty;
      accept(change);
    } catch (error) {
      reject(describe(error));
    }
  };

  const files = (): readonly string[] => [load.file, ...promptFiles(running), ...sectionFiles(running)];
  const folders = (): readonly string[] => [
    ...new Set([options.initial.source.folder, ...promptFolders(running), ...sectionFiles(running).map(dirname)]),
  ];
  const watcher = watchFiles({
    files,
    folders,
    onChange: reload,
    // What is wrong may be in a file or folder that only the rejected configuration names.
    isDue: () => rejection !== null,
    debounceMs: options.debounceMs ?? 150,
    pollMs: options.pollMs ?? 5000,
  });
  return {
    config: () => running,
    rejection: () => rejection,
    waiting: () => waiting,
    reload,
    close: () => watcher.close(),
  };
}

/** An editor may empty a file before it writes it, and finds no space on a full disk. */
function emptied(file: string): StrataError {
  const remedy = 'Write it again, or restart Strata to use the defaults';
  return new StrataError('CONFIG_UNREADABLE', { file, reason: 'it is empty', remedy });
}

function sectionFiles(config: Config): readonly string[] {
  const files = config.agents.flatMap(({ sections }) => sections.flatMap(({ file }) => file ?? []));
  return [...new Set(files)];
}

function promptFolders(config: Config): readonly string[] {
  const agents = config.agents.filter(({ prompts }) => prompts !== '');
  const folders = agents.flatMap(({ prompts, language }) => [prompts, join(prompts, language)]);
  return [...new Set(folders.flatMap((folder) => [folder, join(folder, 'fragments')]))];
}

function promptFiles(config: Config): readonly string[] {
  return promptFolders(config).flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.hbs'));
  } catch {
    return [];
  }
}
