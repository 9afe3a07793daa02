// A store of your own, here the SQLite of Node.js: any database that speaks the SQL of SQLite and has a Kysely dialect.
// npm install kysely, and in config.toml:
//   plugins = ["./own-store.ts"]
//   [storage]
//   url = "node-sqlite://bot.db"
// Then start the bot: npx strata start
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type SqliteDatabase, SqliteDialect } from 'kysely';
import { definePlugin, type Storage } from 'stratabot';
import { createKyselyStorage } from 'stratabot/adapters/stores/kysely';

/** `node:sqlite` in the form that Kysely's dialect for SQLite expects. */
function connect(file: string): SqliteDatabase {
  const database = new DatabaseSync(file);
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      const inputs = (values: readonly unknown[]) => values as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...inputs(values)),
        run: (values) => statement.run(...inputs(values)),
        iterate: (values) => statement.iterate(...inputs(values)),
      };
    },
  };
}

export function createOwnStorage(file: string, create = true): Promise<Storage> {
  const dialect = new SqliteDialect({ database: async () => connect(file) });
  return createKyselyStorage({ dialect, place: file, create });
}

export default definePlugin({
  name: 'own-store',
  stores: {
    'node-sqlite': ({ url, create }) => createOwnStorage(url.slice('node-sqlite://'.length), create),
  },
});
