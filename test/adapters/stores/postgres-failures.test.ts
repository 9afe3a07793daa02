import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { explain } from '../../../adapters/stores/postgres/failures.ts';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { isStoreAway } from '../../../src/adapter-kit.ts';
import { createKit, READER } from '../../contracts/store-kit.ts';
import { ask } from '../../support/postgres-schema.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { CERTIFICATE_FILE } from '../../support/proxy.ts';
import { serverForSuite } from '../../support/suite-server.ts';

/** What a server reports when it cannot serve a read, and what that means for the turn that reads. */

const programs = await findPostgres();

/** The code, and what the error says about it. */
const PASSING = [
  ['40001', 'other work on the server prevented it'],
  ['40P01', 'other work on the server prevented it'],
  ['55P03', 'other work on the server prevented it'],
  ['72000', 'other work on the server prevented it'],
  ['57014', 'the server cancelled a statement'],
  ['53000', 'the server has reached a limit'],
  ['53100', 'the disk of the server is full'],
  ['53200', 'the server is out of memory'],
  ['53300', 'no free connection'],
  ['53400', 'the server has reached a limit'],
  ['25006', 'the server accepts no writes'],
  ['42501', 'the user lacks a permission'],
  ['42P01', 'a table is missing'],
  ['57P01', 'cannot be reached'],
  ['57P03', 'cannot be reached'],
  ['58030', 'the server failed'],
  ['XX000', 'the server failed'],
] as const;
const LASTING = [
  ['XX001', 'the data is damaged'],
  ['XX002', 'the data is damaged'],
  ['22P02', 'on purpose'],
] as const;

describe('a read that Postgres refuses', () => {
  if (programs.kind === 'missing') return it.skip(`skipped: ${programs.reason}`);
  const server = serverForSuite(() => startPostgres(programs));

  const refusals = async (codes: readonly string[]) => {
    const url = new URL(await server().database(`refusing${codes.length}`));
    await ask(server().url, `create role reader${codes.length} login`);
    await ask(server().url, `alter database refusing${codes.length} owner to reader${codes.length}`);
    url.username = `reader${codes.length}`;
    const storage = await createPostgresStorage({ url: url.href });
    const kit = createKit(storage);
    const { conversation } = await kit.say('hi');
    await kit.save(conversation.id, kit.inserting('a fact', [1]));
    await ask(url.href, 'alter table memory enable row level security; alter table memory force row level security');
    const errors: unknown[] = [];
    for (const code of codes) {
      const raise = `begin raise exception 'on purpose' using errcode = '${code}'; end`;
      await ask(
        url.href,
        `create or replace function refuse() returns boolean stable language plpgsql as $$ ${raise} $$`,
      );
      await ask(
        url.href,
        'drop policy if exists refusing on memory; create policy refusing on memory using (refuse())',
      );
      const error: unknown = await storage.store.memories
        .list({ reader: READER, limit: 1, offset: 0 })
        .catch((thrown) => thrown);
      errors.push(error);
    }
    await storage.store.close();
    return errors;
  };

  it('may succeed later, and says what to do', async () => {
    const errors = await refusals(PASSING.map(([code]) => code));
    const seen = errors.map((error, index) => [PASSING[index]?.[0], isStoreAway(error), String(error)]);
    expect(seen).toEqual(PASSING.map(([code, reason]) => [code, true, expect.stringContaining(reason)]));
  }, 60_000);

  it('never succeeds if the data or the statement is wrong', async () => {
    const errors = await refusals(LASTING.map(([code]) => code));
    const seen = errors.map((error, index) => [LASTING[index]?.[0], isStoreAway(error), String(error)]);
    expect(seen).toEqual(LASTING.map(([code, reason]) => [code, false, expect.stringContaining(reason)]));
  });
});

it('names each address of a server that is gone', () => {
  const errors = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:5432`));
  const failure = Object.assign(new AggregateError(errors), { code: 'ECONNREFUSED' });
  expect(String(explain('postgres://localhost/strata', failure))).toContain(
    'cannot be reached: connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432.',
  );
});

describe('a connection with TLS', () => {
  /** What a start says if the server answers the request for TLS with this letter. */
  const refusalOf = async (letter: 'S' | 'N') => {
    const pem = readFileSync(CERTIFICATE_FILE);
    const encrypt = (socket: Socket) =>
      new TLSSocket(socket, { isServer: true, key: pem, cert: pem }).on('error', () => undefined).resume();
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write(letter);
          if (letter === 'S') encrypt(socket);
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const url = `postgres://ada@127.0.0.1:${port}/strata?sslmode=verify-full`;
    const error: unknown = await createPostgresStorage({ url }).catch((thrown) => thrown);
    server.close();
    return [isStoreAway(error), String(error)];
  };

  it('says which certificate to trust', async () => {
    const words = /self-signed certificate.*\. Nothing was changed\. Set NODE_EXTRA_CA_CERTS to .*\.$/u;
    expect(await refusalOf('S')).toEqual([true, expect.stringMatching(words)]);
  });

  it('says that the server has none', async () => {
    const words = /the server does not support SSL .*\. Set sslmode=disable .*\.$/iu;
    expect(await refusalOf('N')).toEqual([true, expect.stringMatching(words)]);
  });
});
