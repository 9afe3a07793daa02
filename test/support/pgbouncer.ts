import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { endOf, freePort, listening } from './port.ts';

/** The program, or null. Debian keeps it where only root looks. */
export function findPgBouncer(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(existsSync) ?? null;
}

export interface PgBouncer extends AsyncDisposable {
  /** Leads to the same database. */
  readonly url: string;
}

/** In front of a database that trusts its user. */
export async function startPgBouncer(
  program: string,
  { url, mode, settings = [] }: { readonly url: string; readonly mode: string; readonly settings?: readonly string[] },
): Promise<PgBouncer> {
  const { port: serverPort, username, pathname } = new URL(url);
  const directory = await mkdtemp(join(tmpdir(), 'strata-pgbouncer-'));
  await chmod(directory, 0o755);
  const port = await freePort();
  const users = join(directory, 'users');
  const name = pathname.slice(1);
  const lines = [
    ...['[databases]', `${name} = host=127.0.0.1 port=${serverPort} dbname=${name} user=${username}`],
    ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
    ...['auth_type = any', `auth_file = ${users}`, `pool_mode = ${mode}`, 'default_pool_size = 6', ...settings],
  ];
  await writeFile(users, `"${username}" ""\n`);
  await writeFile(join(directory, 'settings'), lines.join('\n'));
  const child = spawnAsUser(program, join(directory, 'settings'));
  await listening(port, { signal: endOf(child, 'PgBouncer') });
  return {
    url: `postgres://${username}@127.0.0.1:${port}/${name}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** It refuses to run as root. */
function spawnAsUser(program: string, settings: string): ChildProcess {
  const isRoot = process.getuid?.() === 0;
  const [file, args] = isRoot
    ? ['setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', program, settings]]
    : [program, [settings]];
  return spawn(file, args, { stdio: 'ignore' });
}
