import type Database from 'better-sqlite3';
import type { Memory } from '../../../src/adapter-kit.ts';

export type Recalls = Pick<Memory, 'recallCount' | 'lastRecalledAt'>;

export interface MemoryWatch {
  /** Counts this connection's changes of memories and their sources, even rolled back ones, except recall counts. */
  changes(): number;
  /** Calls back for each memory whose recall count this connection increases, as every turn does. */
  onRecall(listener: (id: string, recalls: Recalls) => void): void;
}

const COUNTED: readonly string[] = ['recall_count', 'last_recalled_at'];

/**
 * Observes changes with triggers, which belong to the connection and not to the file. Who said a source, and where, never
 * changes while it is one.
 */
export function watchMemories(database: Database.Database): MemoryWatch {
  let changes = 0;
  let notify: (id: string, recalls: Recalls) => void = () => undefined;
  database.function('memory_changed', () => {
    changes += 1;
    return null;
  });
  database.function('memory_recalled', (id: string, recallCount: number, lastRecalledAt: number | null) => {
    notify(id, { recallCount, lastRecalledAt });
    return null;
  });
  const columns = database.prepare<[], string>("select name from pragma_table_info('memory')").pluck().all();
  const watched = columns.filter((name) => !COUNTED.includes(name));
  database.exec(`
    create temp trigger memory_inserted after insert on main.memory begin select memory_changed(); end;
    create temp trigger memory_deleted after delete on main.memory begin select memory_changed(); end;
    create temp trigger memory_updated after update of ${watched.join(', ')} on main.memory
      begin select memory_changed(); end;
    create temp trigger source_inserted after insert on main.memory_source begin select memory_changed(); end;
    create temp trigger source_deleted after delete on main.memory_source begin select memory_changed(); end;
    create temp trigger source_updated after update on main.memory_source begin select memory_changed(); end;
    create temp trigger memory_recalled after update of ${COUNTED.join(', ')} on main.memory
      begin select memory_recalled(new.id, new.recall_count, new.last_recalled_at); end`);
  return {
    changes: () => changes,
    onRecall(listener) {
      notify = listener;
    },
  };
}
