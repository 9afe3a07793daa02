/** The milliseconds of a minute. */
export const MINUTE_MS = 60_000;
/** The milliseconds of an hour. */
export const HOUR_MS = 60 * MINUTE_MS;
/** The milliseconds of 24 hours. */
export const DAY_MS = 24 * HOUR_MS;
/** The last millisecond since 1970 that is a date, and as a negative number the first one. */
export const MAX_TIME_MS = 8_640_000_000_000_000;
