import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { ask } from '../../support/postgres-schema.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';

const programs = await findPostgres();
/** Of the process that makes the tables. */
const MIGRATING = 0x5374726174;

if (programs.kind === 'missing') it.skip(`skipped: ${programs.reason}`);
else {
  it('a process outlives a server that is killed during upkeep', async () => {
    await using server = await startPostgres(programs);
    const thrown: unknown[] = [];
    const note = (error: unknown) => void thrown.push(error);
    process.on('uncaughtException', note);
    const other = new pg.Client(server.url).on('error', () => undefined);
    await other.connect();
    await other.query(`begin; select pg_advisory_xact_lock(${MIGRATING})`);
    const opened = createPostgresStorage({ url: server.url });
    opened.catch(() => undefined);
    const waiting = () => ask(server.url, "select pid from pg_stat_activity where wait_event = 'advisory'");
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 10_000 });
    await server.kill();
    await expect(opened).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    process.off('uncaughtException', note);
    expect(thrown).toEqual([]);
  }, 60_000);
}
