import type { JsonValue } from '../domain/message.ts';

export function isJsonObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !isJsonList(value);
}

export function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
