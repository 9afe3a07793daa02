import { type FSWatcher, statSync, watch } from 'node:fs';

export interface FileWatch {
  /** Called at each look. */
  readonly files: () => readonly string[];
  /** Whose events cause a look. */
  readonly folders: () => readonly string[];
  readonly onChange: () => void;
  readonly debounceMs: number;
  readonly pollMs: number;
}

/**
 * Calls back when any of the files was written, replaced, added or removed since the last look. A look follows the first
 * event of a folder after `debounceMs`, and the clock, because some file systems tell nothing. Never keeps the process
 * alive.
 */
export function watchFiles(options: FileWatch): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  let seen = stampsOf(options.files());
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    timer = null;
    const now = stampsOf(options.files());
    if (textOf(now) !== textOf(seen)) {
      options.onChange();
      // Stamps from before the reading: what is written while it goes on is seen by the next look.
      seen = new Map([...stampsOf(options.files())].map(([file, stamp]) => [file, now.get(file) ?? stamp]));
    }
    follow();
  };
  const soon = (): void => {
    timer ??= setTimeout(look, options.debounceMs).unref();
  };
  const follow = (): void => {
    const folders = new Set(options.folders());
    for (const [folder, watcher] of watchers) if (!folders.has(folder)) drop(watchers, folder, watcher);
    for (const folder of folders) if (!watchers.has(folder)) add(watchers, folder, soon);
  };

  follow();
  const poll = setInterval(look, options.pollMs).unref();
  return {
    close() {
      clearInterval(poll);
      if (timer) clearTimeout(timer);
      for (const [folder, watcher] of watchers) drop(watchers, folder, watcher);
    },
  };
}

function add(watchers: Map<string, FSWatcher>, folder: string, onEvent: () => void): void {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent);
    // A watcher that breaks is let go; the clock looks on, and the next look tries the folder again.
    watcher.on('error', () => drop(watchers, folder, watcher));
    watchers.set(folder, watcher);
  } catch {
    // The folder is missing or the system has no watch left: the clock does the work.
  }
}

function drop(watchers: Map<string, FSWatcher>, folder: string, watcher: FSWatcher): void {
  watchers.delete(folder);
  watcher.close();
}

type Stamps = ReadonlyMap<string, string>;

function stampsOf(files: readonly string[]): Stamps {
  return new Map(files.map((file) => [file, provenanceOf(file)]));
}

function textOf(stamps: Stamps): string {
  return [...stamps].map((pair) => pair.join(' ')).join('\n');
}

/** Changes with every write and every replacement of the file. */
function provenanceOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return `${ino}/${size}/${mtimeMs}/${ctimeMs}`;
  } catch {
    return 'missing';
  }
}
