import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { StrataError } from '../../src/adapter-kit.ts';
import { writeArchive } from '../../src/cli/transfer/archive-file.ts';
import type { ArchiveSink } from '../../src/ports/upkeep.ts';
import { until } from '../fixtures/channel-kit.ts';
import { createSchema, type TestSchema } from '../support/postgres-schema.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { type Folder, openFolder } from './strata.ts';

const TALK = 'My name is Ada and I love green tea.\nWhat do I love?\n';

/** A folder in which somebody talked, and its backup: made once, and copied. */
const talked = openFolder();
beforeAll(async () => {
  const { code, stdout } = await talked.run([], TALK);
  expect(code).toBe(0);
  expect(stdout).toContain('tea');
  expect((await talked.run(['backup', 'good.jsonl'])).code).toBe(0);
});
afterAll(() => talked[Symbol.dispose]());

function copyOfTalk(): Folder {
  const folder = openFolder();
  cpSync(talked.path, folder.path, { recursive: true });
  return folder;
}

function linesOf(folder: Folder, name: string): readonly string[] {
  return readFileSync(folder.file(name), 'utf8').trimEnd().split('\n');
}

const recordSchema = z.object({ table: z.string(), row: z.looseObject({ seq: z.number() }) });
const headerSchema = z.looseObject({ counts: z.looseObject({ entry: z.number() }) });

/** A backup whose last message was said so many times. */
function withEntries([first = '', ...rows]: readonly string[], count: number): string {
  const last = rows.findLast((row) => row.startsWith('{"table":"entry"')) ?? '';
  const { row, table } = recordSchema.parse(JSON.parse(last));
  const more = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ table, row: { ...row, seq: row.seq + index + 1, external_id: null } }),
  );
  const header = headerSchema.parse(JSON.parse(first));
  const counts = { ...header.counts, entry: header.counts.entry + count };
  const at = rows.indexOf(last) + 1;
  return [JSON.stringify({ ...header, counts }), ...rows.toSpliced(at, 0, ...more), ''].join('\n');
}

const STOPPED = { code: 1, stderr: 'strata: The process received a stop signal.\n' };

/** Stops a command as soon as it has begun to write the file. */
async function stopAt(folder: Folder, args: readonly string[], file: string) {
  const child = folder.start(args);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close');
  await until(`${file} appears`, () => existsSync(folder.file(file)) && statSync(folder.file(file)).size > 0);
  child.kill('SIGTERM');
  const [code] = await ended;
  return { code, stderr };
}

describe('backup and restore', () => {
  test('bring everything into another folder, where the bot goes on', async () => {
    using folder = copyOfTalk();
    const made = await folder.run(['backup', 'all.jsonl']);
    expect(made.stderr).toMatch(
      /^Backed up 1 conversation, 4 entries, 0 summaries, \d memor(y|ies) to all\.jsonl \(\d+ kB\)\.\n$/,
    );
    const back = await folder.run(['restore', 'all.jsonl', '--data', 'other']);
    expect(back).toMatchObject({ code: 0, stdout: '' });
    expect(back.stderr).toContain('Restored 1 conversation, 4 entries');
    await folder.run(['backup', 'again.jsonl.gz', '--data', 'other']);
    const again = gunzipSync(readFileSync(folder.file('again.jsonl.gz'))).toString();
    expect(again).toBe(readFileSync(folder.file('all.jsonl'), 'utf8'));
    const talk = await folder.run(['--data', 'other'], 'What do I love?\n');
    expect(talk.stdout).toContain('green tea');
  });

  test('write a file for its owner alone and overwrite none', async () => {
    using folder = copyOfTalk();
    await folder.run(['backup', 'all.jsonl']);
    expect(statSync(folder.file('all.jsonl')).mode & 0o777).toBe(0o600);
    const second = await folder.run(['backup', 'all.jsonl']);
    expect(second).toMatchObject({
      code: 2,
      stderr: 'strata: all.jsonl already exists. Choose another file, or add --force.\n',
    });
    expect((await folder.run(['backup', 'all.jsonl', '--force'])).code).toBe(0);
  });

  test('end at a signal and leave nothing', async () => {
    using folder = copyOfTalk();
    writeFileSync(folder.file('many.jsonl'), withEntries(linesOf(folder, 'good.jsonl'), 12_000));
    expect(await stopAt(folder, ['restore', 'many.jsonl', '--data', 'new'], 'new/strata.db-wal')).toEqual(STOPPED);
    // Nothing is there, so it can be restored again.
    expect((await folder.run(['restore', 'many.jsonl', '--data', 'new'])).code).toBe(0);
    const before = readdirSync(folder.path);
    expect(await stopAt(folder, ['backup', 'all.jsonl', '--data', 'new'], 'all.jsonl.part')).toEqual(STOPPED);
    expect(readdirSync(folder.path)).toEqual(before);
  }, 120_000);

  test('refuse a store that holds something', async () => {
    using folder = copyOfTalk();
    const { code, stderr } = await folder.run(['restore', 'good.jsonl']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^strata: There is already data at .*\n$/);
  });

  test('blame the file, not the data, for a full disk', async () => {
    using folder = openFolder();
    const file = folder.file('nowhere/all.jsonl');
    const dump = async ({ begin }: ArchiveSink) => {
      await begin({ migrations: [], counts: {} }).catch((cause: unknown) => {
        // As stores do with errors of the system.
        throw new StrataError('STORE_UNUSABLE', { path: 'data', reason: 'the disk is full' }, { cause });
      });
    };
    await expect(writeArchive(file, dump, new AbortController().signal)).rejects.toThrow(
      `The backup cannot be written to ${file}: `,
    );
  });

  test('leave no file behind when the place cannot be written', async () => {
    using folder = copyOfTalk();
    const { code, stderr } = await folder.run(['backup', 'nowhere/all.jsonl']);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'strata: The backup cannot be written to nowhere/all.jsonl: its folder does not exist. Name a file in a folder with enough space, where this user may write.\n',
    );
  });

  test.each(['-', 'folder', 'pipe'])('do not replace "%s", which is no file', async (name) => {
    using folder = copyOfTalk();
    mkdirSync(folder.file('folder'));
    execFileSync('mkfifo', [folder.file('pipe')]);
    const before = readdirSync(folder.path);
    const { code, stderr } = await folder.run(['backup', '--force', name]);
    expect(stderr).toContain(`${name} is not a regular file, so no backup can be written to it.`);
    expect(code).toBe(2);
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test.each<readonly [string, RegExp, (lines: readonly string[]) => string]>([
    ['is empty', /it is empty/, () => ''],
    [
      'is something else',
      /:1 cannot be restored: it is not a Strata backup/,
      () => '{"id":"m1","author":"Ada","text":"hi"}\n',
    ],
    ['is no JSON', /:1 cannot be restored: the line is not JSON/, () => 'hello\n'],
    ['lacks its end', /it should hold/, (lines) => `${lines.slice(0, 3).join('\n')}\n`],
    [
      'was cut off inside a line',
      /:3 cannot be restored: the line is not JSON/,
      (lines) => `${lines.slice(0, 2).join('\n')}\n${lines[2]?.slice(0, 30)}`,
    ],
    [
      'has a row of another kind',
      /a row of entry cannot be read \(seq: .*\)/,
      (lines) => lines.join('\n').replace('"seq":1,', '"seq":"first",'),
    ],
    [
      'has a damaged message',
      /a row of entry cannot be read \(it is not JSON\)/,
      (lines) => lines.join('\n').replace('"parts":"[', '"parts":"My name'),
    ],
    [
      'is of a newer format',
      /its format 2 is newer than 1/,
      ([first = '', ...rest]) => [first.replace('"version":1', '"version":2'), ...rest].join('\n'),
    ],
    [
      'is of a newer Strata',
      /9999_future is unknown here/,
      ([first = '', ...rest]) => [first.replace('"migrations":[', '"migrations":["9999_future",'), ...rest].join('\n'),
    ],
  ])('refuse a file that %s, and change nothing', async (_name, problem, spoil) => {
    using folder = copyOfTalk();
    writeFileSync(folder.file('bad.jsonl'), spoil(linesOf(folder, 'good.jsonl')));
    const { code, stderr } = await folder.run(['restore', 'bad.jsonl', '--data', 'other']);
    expect(code).toBe(1);
    expect(stderr).toMatch(problem);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect((await folder.run(['restore', 'good.jsonl', '--data', 'other'])).code).toBe(0);
  });
});

const DATABASE_URL = process.env['DATABASE_URL'];
const programs = await findPostgres();

describe('with Postgres', () => {
  if (DATABASE_URL === undefined && programs.kind === 'missing') return test.skip(`skipped: ${programs.reason}`);
  let server: PostgresServer | null = null;
  let schema: TestSchema;
  beforeAll(async () => {
    if (DATABASE_URL === undefined && programs.kind === 'found') server = await startPostgres(programs);
    schema = await createSchema(DATABASE_URL ?? server?.url ?? '');
  }, 120_000);
  afterAll(async () => {
    await schema.dispose();
    await server?.[Symbol.asyncDispose]();
  });

  // Shows: W34
  test('a bot moves to the server and back, memory included', async () => {
    using home = copyOfTalk();
    using away = openFolder({ STRATA_STORAGE_URL: schema.url });
    writeFileSync(away.file('good.jsonl'), readFileSync(home.file('good.jsonl')));
    const moved = await away.run(['restore', 'good.jsonl']);
    expect(moved).toMatchObject({ code: 0 });
    await away.run(['backup', 'same.jsonl']);
    expect(linesOf(away, 'same.jsonl')).toEqual(linesOf(away, 'good.jsonl'));
    const talk = await away.run([], 'What do I love?\nI moved to Utrecht in May.\n');
    expect(talk.stdout).toContain('green tea');
    expect(talk.stderr).toMatch(/ · postgres:\/\//m);
    await away.run(['backup', 'away.jsonl']);
    writeFileSync(home.file('away.jsonl'), readFileSync(away.file('away.jsonl')));
    expect((await home.run(['restore', 'away.jsonl', '--data', 'back'])).code).toBe(0);
    const again = await home.run(['--data', 'back'], 'Where did I move?\n');
    expect(again.stdout).toContain('Utrecht');
  }, 120_000);

  test('the doctor looks at the server', async () => {
    using folder = openFolder({ STRATA_STORAGE_URL: schema.url });
    const { code, stdout } = await folder.run(['doctor', '--json']);
    const report: { readonly findings: readonly { readonly checkId: string; readonly severity: string }[] } =
      JSON.parse(stdout);
    const data = report.findings.filter(({ checkId }) => checkId.startsWith('data.'));
    expect(data.map(({ checkId }) => checkId)).toEqual(
      ['version', 'rights', 'writes', 'clock', 'durability', 'connections', 'migrations'].map((id) => `data.${id}`),
    );
    expect(data.filter(({ severity }) => severity === 'fail')).toEqual([]);
    expect(code).toBe(0);
  });

  test('the doctor names the remedy while the server is down', async () => {
    using folder = openFolder({ STRATA_STORAGE_URL: 'postgres://ada:secret-word@127.0.0.1:9/strata' });
    const { code, stdout } = await folder.run(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL {2}data: The data at postgres:\/\/ada@127\.0\.0\.1:9\/strata cannot be reached/);
    expect(stdout).not.toContain('secret-word');
  });

  test('a folder beside a server is refused', async () => {
    using folder = openFolder({ STRATA_STORAGE_URL: schema.url });
    const { code, stderr } = await folder.run(['--data', 'here'], 'Hi\n');
    expect(code).toBe(2);
    expect(stderr).toContain('--data selects an embedded store, but [storage] url selects a server.');
  });
});
