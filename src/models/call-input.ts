import type { JsonValue } from '../domain/message.ts';

/** What reads JSON recurses for each level, so deeper input could be stored and then never read again. */
const MAX_LEVELS = 100;

/** In the place of such input. It is a text, so the tool's own validation refuses it and the model reads why. */
export const TOO_DEEP = `(more than ${MAX_LEVELS} levels of lists and objects)`;

/** Whether lists and objects nest so deeply that code which recurses for each level could overflow the stack. */
export function nestsTooDeeply(value: unknown): boolean {
  let level = [value];
  for (let levels = 0; levels <= MAX_LEVELS; levels += 1) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** The input of a call as the conversation keeps it. */
export function inputToKeep(input: JsonValue): JsonValue {
  return nestsTooDeeply(input) ? TOO_DEEP : input;
}
