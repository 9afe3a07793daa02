/**
 * How often a post is tried that the platform refuses with an error that is not known here: it may be new, and pass. With
 * the pauses in between, about half a minute.
 */
export const MAX_UNKNOWN_TRIES = 7;
