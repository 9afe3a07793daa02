import type { Log } from '../ports/log.ts';

/** Writes nothing: the log of whoever asked for none. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
