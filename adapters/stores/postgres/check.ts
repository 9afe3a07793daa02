import { type Kysely, sql } from 'kysely';
import { counted, type Finding } from '../../../src/adapter-kit.ts';
import type { Tables } from '../sql/index.ts';
import { explain, MAX_CONNECTIONS, WRITABLE } from './failures.ts';

/** The oldest supported release with the features that are used here. */
const OLDEST_MAJOR = 14;
/** Leases rely on the clocks of several machines. */
const MAX_SKEW_MS = 2_000;
/** Claims on replies last as long. */
const FATAL_SKEW_MS = 10_000;

export interface ServerFacts {
  readonly version: number;
  readonly release: string;
  readonly now: number;
  readonly may_create: boolean;
  readonly is_owner: boolean;
  readonly may_write: boolean;
  readonly is_read_only: boolean;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly autovacuum: string;
  readonly connections: number;
  readonly migrations: number;
}

/** Requirements for the server, each with a remedy. */
export async function checkServer(upkeep: Kysely<Tables>, place: string): Promise<readonly Finding[]> {
  const asked = Date.now();
  try {
    const { rows } = await FACTS.execute(upkeep);
    const [facts] = rows;
    if (facts === undefined) return [];
    return judgeServer(facts, facts.now - (asked + Date.now()) / 2);
  } catch (error) {
    const message = String(explain(place, error));
    return [
      finding('fail', {
        id: 'server',
        message,
        fixHint: 'Check that the server is running and that the URL is correct.',
      }),
    ];
  }
}

/** One finding per requirement. Pure. */
export function judgeServer(facts: ServerFacts, skewMs: number): readonly Finding[] {
  return [
    checkVersion(facts),
    checkRights(facts),
    checkWrites(facts),
    checkClock(skewMs),
    checkDurability(facts),
    checkConnections(facts),
    finding('ok', { id: 'migrations', message: `all ${facts.migrations} migrations are applied` }),
  ];
}

const FACTS = sql<ServerFacts>`
  select current_setting('server_version_num')::int as version, current_setting('server_version') as release,
    (extract(epoch from clock_timestamp()) * 1000)::bigint as now,
    has_schema_privilege(current_schema(), 'create') as may_create,
    (select pg_has_role(relowner, 'usage') from pg_class where oid = 'entry'::regclass) as is_owner,
    (select bool_and(has_table_privilege(own.oid, 'insert') and has_table_privilege(own.oid, 'select')
      and has_table_privilege(own.oid, 'update') and has_table_privilege(own.oid, 'delete'))
      from pg_class own, pg_class entry where entry.oid = 'entry'::regclass and own.relkind = 'r'
      and own.relnamespace = entry.relnamespace and own.relowner = entry.relowner) as may_write,
    current_setting('transaction_read_only') = 'on' as is_read_only,
    current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
    current_setting('autovacuum') as autovacuum,
    (select least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      case when rolsuper then null else nullif(rolconnlimit, -1) end,
      case when rolsuper then null else nullif(datconnlimit, -1) end)
      from pg_roles, pg_database where rolname = current_user and datname = current_database()) as connections,
    (select count(*) from kysely_migration) as migrations`;

function finding(
  severity: Finding['severity'],
  { id, message, fixHint = null }: { readonly id: string; readonly message: string; readonly fixHint?: string | null },
): Finding {
  return { checkId: id, severity, message, fixHint };
}

function checkVersion({ version, release }: ServerFacts): Finding {
  const message = `Postgres ${release}`;
  if (version >= OLDEST_MAJOR * 10_000) return finding('ok', { id: 'version', message });
  return finding('fail', { id: 'version', message, fixHint: `Use Postgres ${OLDEST_MAJOR} or newer.` });
}

function checkRights({ may_create: mayCreate, is_owner: isOwner, may_write: mayWrite }: ServerFacts): Finding {
  if (!mayWrite) {
    const message = 'the user is not allowed to read and write all tables';
    const fixHint = 'grant select, insert, update, delete on all tables in schema public to the user;';
    return finding('fail', { id: 'rights', message, fixHint });
  }
  if (!mayCreate) {
    const message = 'the user is not allowed to create tables, which a newer Strata may need';
    return finding('warn', { id: 'rights', message, fixHint: 'grant create on schema public to the user;' });
  }
  if (!isOwner) {
    const message =
      'the tables belong to another user, so deleted text stays in the files until the server vacuums them';
    return finding('warn', { id: 'rights', message, fixHint: 'Connect as the user that created the tables.' });
  }
  return finding('ok', { id: 'rights', message: 'the user owns the tables' });
}

/** A replica, or the primary of before that became one. */
function checkWrites({ is_read_only: isReadOnly }: ServerFacts): Finding {
  if (!isReadOnly) return finding('ok', { id: 'writes', message: 'the server accepts writes' });
  return finding('fail', { id: 'writes', message: 'the server accepts no writes', fixHint: `${WRITABLE}.` });
}

function checkClock(skewMs: number): Finding {
  const message = `the clock of the server is ${Math.abs(Math.round(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead'}`;
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return finding('ok', { id: 'clock', message });
  const fixHint =
    'Synchronise the clocks with NTP: claims on conversations last only seconds, so processes take work from each other.';
  return finding(Math.abs(skewMs) < FATAL_SKEW_MS ? 'warn' : 'fail', { id: 'clock', message, fixHint });
}

function checkDurability(facts: ServerFacts): Finding {
  const off = (['fsync', 'autovacuum'] as const).filter((name) => facts[name] === 'off');
  if (off.length === 0) {
    return finding('ok', {
      id: 'durability',
      message: `commits are on disk (synchronous_commit ${facts.synchronous_commit})`,
    });
  }
  const message = `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: a power failure or crash can damage the data`;
  return finding('warn', { id: 'durability', message, fixHint: `Set ${off.join(' and ')} to on in postgresql.conf.` });
}

function checkConnections({ connections }: ServerFacts): Finding {
  const processes = Math.floor(connections / MAX_CONNECTIONS);
  const message = `${connections} connections are enough for ${counted(processes, 'process', 'processes')} without a queue on this server`;
  if (processes >= 4) return finding('ok', { id: 'connections', message });
  const fixHint =
    'Raise max_connections, or the connection limit of the database or the user, or start fewer processes.';
  return finding(processes === 0 ? 'fail' : 'warn', { id: 'connections', message, fixHint });
}
