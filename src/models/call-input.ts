import type { JsonValue } from '../domain/message.ts';
import { cleanText } from '../util/text/text.ts';

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

/** The input without control characters and direction overrides, as it is stored and shown. At most `MAX_LEVELS` deep. */
export function cleanInput(input: JsonValue): JsonValue {
  if (typeof input === 'string') return cleanText(input);
  if (typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) return input.map(cleanInput);
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [cleanText(name), cleanInput(value)]));
}
