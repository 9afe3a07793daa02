import { describe, expect, test, vi } from 'vitest';
import { createPostgresStorage } from '../../adapters/stores/postgres/index.ts';
import { ask } from '../support/postgres-schema.ts';
import { findPostgres, startPostgres } from '../support/postgres-server.ts';
import { openFolder } from './strata.ts';

const programs = await findPostgres();

describe('a process on Postgres', () => {
  if (programs.kind === 'missing') return test.skip(`skipped: ${programs.reason}`);

  test('logs from the start what the doctor would find', async () => {
    await using server = await startPostgres(programs);
    await (await createPostgresStorage({ url: server.url })).store.close();
    await ask(server.url, 'create role visitor login');
    await ask(server.url, 'grant select, insert, delete on all tables in schema public to visitor');
    const store = new URL(server.url);
    store.username = 'visitor';
    using folder = openFolder({ STRATA_STORAGE_URL: store.href, STRATA_QUEUE_URL: server.url });
    const worker = folder.start(['start', '--role', 'worker']);
    let errors = '';
    worker.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const found = /not allowed to read and write.*grant select, insert.*store\.rights/u;
    await vi.waitFor(() => expect(errors).toMatch(found), 120_000);
    worker.kill('SIGKILL');
  });
});
