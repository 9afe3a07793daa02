import { join } from 'node:path';
import Database from 'better-sqlite3';

/** A single table, as durable as the store's: the cost of the disk and the driver alone. */
export interface BareStore {
  /** Inserts one row in its own transaction, durable when it returns. */
  append(text: string): void;
  close(): void;
}

export function openBareStore(directory: string): BareStore {
  const database = new Database(join(directory, 'bare.db'));
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = full');
  database.exec('create table entry (seq integer primary key, text text not null)');
  const insert = database.prepare('insert into entry (text) values (?)');
  return { append: (text) => void insert.run(text), close: () => void database.close() };
}
