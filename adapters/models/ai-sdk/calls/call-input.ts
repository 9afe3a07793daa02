import { z } from 'zod';
import { type JsonValue, nestsTooDeeply, TOO_DEEP } from '../../../../src/adapter-kit.ts';
import { parseJson } from '../wire/parse-json.ts';

const objectText = z.string().transform(parseJson).pipe(z.record(z.string(), z.json()));

/**
 * Input that is not JSON is kept as text, so that the tool's own validation can explain the problem. Some models write
 * the object as JSON inside a JSON text.
 */
export function toInput(input: unknown): JsonValue {
  if (typeof input === 'string') return objectText.safeParse(input).data ?? input;
  if (nestsTooDeeply(input)) return TOO_DEEP;
  return input === undefined ? {} : z.json().parse(input);
}
