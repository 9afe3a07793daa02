import { StrataError } from '../../domain/errors.ts';
import { kindOf } from './kind-of.ts';

/** For programs without a compiler. Throws `USAGE` unless the value is an object; `call` is the function that takes it. */
export function requireObject(value: unknown, call: string, example: string): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Promise);
  if (isObject) return;
  throw new StrataError('USAGE', { problem: `${call} needs an object such as ${example}; got ${kindOf(value)}.` });
}
