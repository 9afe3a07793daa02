/** The file of an SQLite store in its directory. It may be a link. */
export const STORE_FILE = 'strata.db';
