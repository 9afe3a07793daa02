import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPostgresStorage } from '../adapters/stores/postgres/index.ts';
import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import type { Storage } from '../src/services.ts';
import type { BulkConversation } from './bulk.ts';
import { fillPostgres } from './bulk-postgres.ts';
import { fillSqlite } from './bulk-sqlite.ts';
import { type ModelServer, openModelServer } from './model-server.ts';
import { REPLY_MODEL, SUMMARY_MODEL } from './models.ts';
import { createWords } from './words.ts';

const ENTRY = fileURLToPath(new URL('../bin/strata.js', import.meta.url));

export interface SiteOptions {
  /** Empty for an SQLite file. */
  readonly storageUrl: string;
  /** Empty for the in-process queue: then only one process at a time opens the store. */
  readonly queueUrl: string;
  readonly latencyMs: number;
}

/** A deployment as a user sets it up: a config.toml, processes of `strata start`, and the model that they call. */
export interface Site extends AsyncDisposable {
  readonly models: ModelServer;
  /** While no process runs: creates conversations that each need one summary. */
  prepare(names: readonly string[], options: { readonly isDue: boolean }): Promise<void>;
  openStorage(): Promise<Storage>;
  /** Resolves when the process is ready to work. */
  start(role: 'worker' | 'all'): Promise<SiteProcess>;
}

export interface SiteProcess {
  /** With -9. */
  kill(): Promise<void>;
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), 'strata-site-'));
  const models = await openModelServer(options.latencyMs);
  writeFileSync(join(directory, 'config.toml'), configOf(options, models.url));
  const children: ChildProcess[] = [];
  const { storageUrl, queueUrl } = options;
  return {
    models,
    async prepare(names, { isDue }) {
      const talks = names.map((name, seed) => ({ ...longTalk(name, seed), isDue }));
      await (storageUrl === '' ? fillSqlite(directory, talks) : fillPostgres(storageUrl, talks));
    },
    openStorage: () =>
      storageUrl === ''
        ? createSqliteStorage({ directory, shared: queueUrl !== '' })
        : createPostgresStorage({ url: storageUrl }),
    async start(role) {
      const child = start(directory, role);
      children.push(child);
      await untilReady(child);
      return { kill: () => kill(child) };
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) await kill(child);
      await models[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const WINDOW = 8_000;

/** The agent of its config.toml, for a process that is not started from it. */
export const SITE_AGENT = { context_window: WINDOW, max_output_tokens: 500, tools: [] };

function configOf({ storageUrl, queueUrl }: SiteOptions, modelUrl: string): string {
  return `
    [defaults]
    model = "${REPLY_MODEL}"
    context_window = ${WINDOW}
    max_output_tokens = 500
    tools = []
    [defaults.compaction]
    model = "${SUMMARY_MODEL}"
    [providers.bench]
    base_url = "${modelUrl}"
    [storage]
    directory = "."
    url = "${storageUrl}"
    [queue]
    url = "${queueUrl}"
    [log]
    level = "warn"
    [operations]
    listen = "127.0.0.1:0"`;
}

const ENTRIES = 105;
const WORDS = 30;

/** Its entries take slightly more of the window than allowed. */
function longTalk(name: string, seed: number): BulkConversation {
  const words = createWords(seed);
  return { name, entries: ENTRIES, text: () => `${name} ${words.text(WORDS)}` };
}

/** The prepared conversation that a model request belongs to. */
export function nameIn(request: string, names: readonly string[]): string | null {
  return names.find((name) => request.includes(`${name} `)) ?? null;
}

function start(directory: string, role: string): ChildProcess {
  const environment = { PATH: process.env['PATH'] ?? '', OLLAMA_HOST: 'http://127.0.0.1:9' };
  // Its input stays open, because the end of its input would end the process.
  return spawn(process.execPath, [ENTRY, 'start', '--role', role], {
    cwd: directory,
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

const READY_LIMIT_MS = 30_000;
const READY_LOOK_MS = 20;

async function untilReady(child: ChildProcess): Promise<void> {
  const told: string[] = [];
  const address = Promise.withResolvers<string>();
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      told.push(line);
      const url = /^State: (\S+)\/metrics$/u.exec(line)?.[1];
      if (url !== undefined) address.resolve(url);
    });
  }
  const fail = () => address.reject(new Error(`A process did not start: ${told.join('\n')}`));
  child.once('exit', fail);
  const timer = setTimeout(fail, READY_LIMIT_MS);
  const url = await address.promise.finally(() => clearTimeout(timer));
  while (!(await isReady(url))) await delay(READY_LOOK_MS);
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
