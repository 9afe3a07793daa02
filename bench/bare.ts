import { join } from 'node:path';
import Database from 'better-sqlite3';

/** A table and nothing else, as durable as the store's: what the disk and the driver cost by themselves. */
export interface BareStore {
  /** One row in a transaction of its own, on the disk when it returns. */
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
