import { enableCompileCache } from 'node:module';
import { adapters } from '../../../adapters/registry.ts';
import type { App } from '../../../src/app/app.ts';
import { openApp, openStore } from '../../../src/app/open.ts';
import type { Adapters, StoreOptions } from '../../../src/bot/adapters.ts';
import { runCli } from '../../../src/cli/program.ts';
import { scriptedAdapter } from './channel.ts';
import { createRewinder } from './rewind.ts';
import { createTraps, watchStorage } from './watched-storage.ts';
import { type Command, commandSchema, lifeSchema, type Report } from './wire.ts';

/**
 * `strata start` with its stores, queues and models from the registry. Only the platform belongs to the harness, and
 * the store is watched. It exists to be killed.
 */
enableCompileCache();
const life = lifeSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
const listeners: ((command: Command) => void)[] = [];
const traps = createTraps(tellAndWait);

process.on('message', (message) => {
  const command = commandSchema.parse(message);
  if (command.kind === 'trap') traps.set(command);
  if (command.kind === 'disarm') traps.set(null);
  for (const hear of listeners) hear(command);
});
// Without its harness it has no purpose.
process.on('disconnect', () => process.exit(1));

const told = new AbortController();
process.on('SIGTERM', () => told.abort(new Error('The process received a stop signal.')));

const parts = {
  adapters: {
    ...adapters,
    channels: { scripted: async () => scriptedAdapter({ tell, onCommand: (hear) => listeners.push(hear) }) },
    stores: watchedStores(adapters.stores),
  },
  streams: { input: process.stdin, output: process.stdout, errors: process.stderr, isTTY: false, color: false },
  environment: process.env,
};
await runCli(['start', '--role', life.role, '--config', life.config], {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  signal: told.signal,
  open: async (options) => telling(await openApp(parts, options)),
  openStorage: (options) => openStore(parts, options),
  adapters: async () => parts.adapters,
  onUncaught: () => undefined,
  exit: (code) => {
    process.exitCode = code;
  },
});
// Whatever keeps the process alive, above all the channel to the harness, ends with the command.
process.exit();

function tell(report: Report): void {
  process.send?.(report);
}

/** Resolves when the report has left the process. */
function tellAndWait(report: Report): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(report, undefined, undefined, () => resolve());
  });
}

/** Reports that the bot has started. */
function telling(app: App): App {
  const start = async () => {
    await app.start();
    tell({ kind: 'ready' });
  };
  return { ...app, start };
}

function watchedStores(stores: Adapters['stores']): Adapters['stores'] {
  const watched = Object.entries(stores).map(([name, load]) => {
    const loadWatched = async () => {
      const create = await load();
      return async (options: StoreOptions) => {
        const rewind = life.ignoresCompareAndSet ? createRewinder(options) : null;
        return watchStorage(await create(options), { traps, tell, rewind });
      };
    };
    return [name, loadWatched] as const;
  });
  return Object.fromEntries(watched);
}
