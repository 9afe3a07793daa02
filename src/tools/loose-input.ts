import { z } from 'zod';
import type { JsonValue } from '../domain/message.ts';

type Issue = Pick<z.core.$ZodIssue, 'path'> & { readonly expected?: unknown };

/** Input with more mistakes is of another form, and changing each of them would take long. */
const MAX_ISSUES = 20;

/**
 * The input with values of another type in the form that the schema asked for. Models write numbers as texts, `null` for
 * what they leave out, and one value for a list of one. The schema decides about the result.
 */
export function looseInput(input: JsonValue, issues: readonly Issue[]): JsonValue {
  if (issues.length > MAX_ISSUES) return input;
  return issues.reduce<JsonValue>(
    (changed, { path, expected }) => withValueAt(changed, path, (value) => inForm(value, expected)),
    input,
  );
}

type Change = (value: JsonValue) => JsonValue | undefined;

/** Undefined leaves out the property. */
function withValueAt(value: JsonValue, [key, ...rest]: readonly PropertyKey[], change: Change): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === key ? (changedAt(item, rest, change) ?? item) : item));
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const changed = name === key ? changedAt(item, rest, change) : item;
      return changed === undefined ? [] : [[name, changed]];
    }),
  );
}

function changedAt(item: JsonValue, rest: readonly PropertyKey[], change: Change): JsonValue | undefined {
  return rest.length === 0 ? change(item) : withValueAt(item, rest, change);
}

const NUMBER = /^#?(-?\d{1,15}(?:\.\d{1,15})?)$/;

function inForm(value: JsonValue, expected: unknown): JsonValue | undefined {
  if (value === null) return undefined;
  switch (expected) {
    case 'number':
    case 'int': {
      const [, number] = NUMBER.exec(typeof value === 'string' ? value.trim() : '') ?? [];
      return number === undefined ? value : Number(number);
    }
    case 'boolean':
      return value === 'true' || value === 'false' ? value === 'true' : value;
    case 'array':
      return typeof value === 'object' ? value : listOf(value);
    default:
      return value;
  }
}

const itemsSchema = z.array(z.union([z.string(), z.number(), z.boolean()]));

/** A list that is written as a text is no list of one. If it holds more than plain values, the schema refuses it. */
function listOf(value: string | number | boolean): JsonValue {
  const written = typeof value === 'string' ? parsed(value) : value;
  return Array.isArray(written) ? (itemsSchema.safeParse(written).data ?? value) : [value];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
