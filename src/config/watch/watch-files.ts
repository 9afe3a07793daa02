import { type FSWatcher, statSync, watch } from 'node:fs';

export interface FileWatch {
  /** Called at each check. */
  readonly files: () => readonly string[];
  /** Folders whose events cause a check. */
  readonly folders: () => readonly string[];
  /** At a change, and at each check while `isDue`: not all files that matter may be known. */
  readonly onChange: () => void;
  readonly isDue: () => boolean;
  readonly debounceMs: number;
  readonly pollMs: number;
}

/**
 * Calls back if any of the files was written, replaced, added or removed since the last check. A check runs
 * `debounceMs` after the first event of a folder, and at regular intervals, because some file systems send no events.
 * Never keeps the process alive.
 */
export function watchFiles(options: FileWatch): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  let seen = versionsOf(options.files());
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    timer = null;
    const now = versionsOf(options.files());
    if (options.isDue() || textOf(now) !== textOf(seen)) {
      options.onChange();
      // Stamps from before the read: a write during the read is detected by the next check.
      seen = new Map([...versionsOf(options.files())].map(([file, version]) => [file, now.get(file) ?? version]));
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
    // A failed watcher is closed; the interval continues, and the next check watches the folder again.
    watcher.on('error', () => drop(watchers, folder, watcher));
    watchers.set(folder, watcher);
  } catch {
    // The folder is missing or the system's watch limit is reached: the interval still works.
  }
}

function drop(watchers: Map<string, FSWatcher>, folder: string, watcher: FSWatcher): void {
  watchers.delete(folder);
  watcher.close();
}

type FileVersions = ReadonlyMap<string, string>;

function versionsOf(files: readonly string[]): FileVersions {
  return new Map(files.map((file) => [file, versionOf(file)]));
}

function textOf(versions: FileVersions): string {
  return [...versions].map((pair) => pair.join(' ')).join('\n');
}

/** Changes with every write and every replacement of the file. */
function versionOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return `${ino}/${size}/${mtimeMs}/${ctimeMs}`;
  } catch {
    return 'missing';
  }
}
