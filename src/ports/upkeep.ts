/** The data as a whole, for operators; a turn never uses it. */
export interface Upkeep {
  /** Where the data is stored, in words without secrets. */
  readonly place: string;
  /**
   * Identifies the data: the same for all processes that share them, and another one for every other store, even for one
   * that was filled from an archive of this one. Queues carry the jobs of one id. Up to 64 letters, digits, `-` and `_`.
   */
  readonly id: string;
  /** What must be true for the data to be safe, for `strata doctor`. */
  check(): Promise<readonly Finding[]>;
  /** A consistent copy of everything. Changes nothing. */
  dump(sink: ArchiveSink): Promise<void>;
  /** Fills an empty store completely, or not at all. Throws `STORE_NOT_EMPTY` or `BACKUP_INVALID`. */
  load(archive: Archive): Promise<void>;
}

/** The result of one check of `strata doctor`. */
export interface Finding {
  readonly checkId: string;
  readonly severity: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it; null if nothing. */
  readonly fixHint: string | null;
}

/** Metadata of an archive. */
export interface ArchiveHeader {
  /** Names of the migrations that it was written after. */
  readonly migrations: readonly string[];
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Receives a dump: one header, then the rows of each table in batches. */
export interface ArchiveSink {
  /** Everything written before this is ignored, because reading started over. */
  begin(header: ArchiveHeader): Promise<void>;
  /** Tables arrive one after the other, each after those that it refers to. Resolves when the rows are written. */
  rows(table: string, rows: readonly ArchiveRow[]): Promise<void>;
}

/** One row by column, the same for every store. Nested values are JSON text. */
export type ArchiveRow = Readonly<Record<string, string | number | null>>;

/** Can be read more than once. */
export interface Archive {
  /** For error messages: the name of its file. */
  readonly name: string;
  readonly header: ArchiveHeader;
  /** In the order in which they were dumped. */
  records(): AsyncIterable<{ readonly table: string; readonly row: ArchiveRow }>;
}
