/** The data as a whole: what an operator asks for, and never a turn. */
export interface Upkeep {
  /** Where everything is kept, in words without secrets. */
  readonly place: string;
  /** What must hold for the data to be safe, for `strata doctor`. */
  check(): Promise<readonly Finding[]>;
  /** Everything as it stands at one moment. Changes nothing. */
  dump(sink: ArchiveSink): Promise<void>;
  /** Fills an empty store: wholly, or not at all. Throws `STORE_NOT_EMPTY` or `BACKUP_INVALID`. */
  load(archive: Archive): Promise<void>;
}

/** What `strata doctor` tells of one check. */
export interface Finding {
  readonly checkId: string;
  readonly severity: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it; null when nothing is. */
  readonly fixHint: string | null;
}

/** What an archive says of itself. */
export interface ArchiveHeader {
  /** Names of the changes of the tables that it was written after. */
  readonly migrations: readonly string[];
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface ArchiveSink {
  /** What was written before this does not count: the reading started over. */
  begin(header: ArchiveHeader): Promise<void>;
  rows(table: string, rows: readonly ArchiveRow[]): Promise<void>;
}

export type ArchiveRow = Readonly<Record<string, string | number | null>>;

/** May be read more than once. */
export interface Archive {
  /** For messages: the name of its file. */
  readonly name: string;
  readonly header: ArchiveHeader;
  /** In the order in which they were dumped. */
  records(): AsyncIterable<{ readonly table: string; readonly row: ArchiveRow }>;
}
