import { z } from 'zod';
import type { JsonValue } from '../domain/message.ts';
import { isJsonList, isJsonObject } from '../util/json.ts';

const jsonObject = z.record(z.string(), z.json());

/**
 * Parts of a schema that a model does not need: Strata validates the input anyway, and every request contains every
 * word.
 */
const NOISE: ReadonlySet<string> = new Set(['$schema', 'minLength', 'exclusiveMinimum', 'default']);

/** The JSON Schema of a tool's input in the fewest tokens that a model needs to fill it in. */
export function leanSchema(input: z.ZodType): { readonly [key: string]: JsonValue } {
  const lean = strip(jsonObject.parse(z.toJSONSchema(input, { io: 'input' })));
  return jsonObject.parse(lean);
}

function strip(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.map(strip);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name, field]) => !isNoise(name, field));
  return Object.fromEntries(
    kept.map(([name, field]) => [name, name === 'properties' ? each(field, value['required'] ?? []) : strip(field)]),
  );
}

/** Of other properties than those named, only a schema says something: the type of the values of a record. */
function isNoise(name: string, field: JsonValue): boolean {
  if (name === 'additionalProperties') return !isJsonObject(field) || Object.keys(field).length === 0;
  return NOISE.has(name) || field === Number.MAX_SAFE_INTEGER;
}

/** Property names belong to the tool and stay unchanged. */
function each(properties: JsonValue, required: JsonValue): JsonValue {
  if (!isJsonObject(properties)) return properties;
  const isRequired = (name: string) => isJsonList(required) && required.includes(name);
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const lean = strip(schema);
      return [name, isJsonObject(lean) && !isRequired(name) ? withoutNull(lean) : lean];
    }),
  );
}

/** A nullable field that can be omitted: one way to leave it empty is enough. */
function withoutNull(schema: { readonly [key: string]: JsonValue }): JsonValue {
  const { type, anyOf, ...rest } = schema;
  if (type !== undefined && isJsonList(type)) {
    const types = type.filter((one) => one !== 'null');
    return { ...rest, type: types.length === 1 ? (types[0] ?? 'null') : types };
  }
  if (anyOf === undefined || !isJsonList(anyOf)) return schema;
  const choices = anyOf.filter((one) => !(isJsonObject(one) && one['type'] === 'null'));
  const [only] = choices;
  return choices.length === 1 && only !== undefined && isJsonObject(only)
    ? { ...only, ...rest }
    : { ...rest, anyOf: choices };
}
