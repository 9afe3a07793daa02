import type { JsonValue, ToolSpec } from '../../../src/adapter-kit.ts';

/** Keeps fields that the tool's schema knows and that have a value. */
export function fieldsFor({ inputSchema }: ToolSpec, fields: Readonly<Record<string, JsonValue>>): JsonValue {
  const { properties } = inputSchema;
  if (typeof properties !== 'object' || properties === null) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => name in properties && value !== ''));
}
