import { z } from 'zod';
import { didYouMean } from '../text/did-you-mean.ts';
import { kindOf } from './kind-of.ts';

/**
 * What is wrong with a value that a program passes, as `tools[0].run: is missing`. Where the schema has no words of its
 * own, these replace those of zod.
 */
export function faultsOf(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value, { error: inWords });
  return error === undefined ? [] : faultsIn(error);
}

/** The same of a value that was parsed with `inWords`. */
export function faultsIn({ issues }: z.ZodError): readonly string[] {
  return issues.map(faultText);
}

/** One fault in words, such as `tools[0].run: is missing`. Names no field if the whole value is wrong. */
export function faultText({ path, message }: Pick<z.core.$ZodIssue, 'path' | 'message'>): string {
  return [fieldOf(path), message].filter(Boolean).join(': ');
}

/** For `safeParse`. */
export const inWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, issue.inst)).join('; ');
  if (issue.code === 'too_small')
    return `expected ${issue.inclusive ? 'at least' : 'more than'} ${sizeOf(issue, issue.minimum)}`;
  if (issue.code === 'too_big')
    return `expected ${issue.inclusive ? 'at most' : 'less than'} ${sizeOf(issue, issue.maximum)}`;
  if (issue.code !== 'invalid_type' && issue.code !== 'invalid_value') return undefined;
  if (issue.input === undefined && (issue.path ?? []).length > 0) return 'is missing';
  if (issue.code === 'invalid_type')
    return `expected ${NAMES[issue.expected] ?? issue.expected}, got ${kindOf(issue.input)}`;
  return `expected ${issue.values.map((known) => JSON.stringify(known)).join(' or ')}`;
};

const NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const UNITS: Readonly<Record<string, string>> = {
  array: ' entries',
  file: ' bytes',
  map: ' entries',
  set: ' entries',
  string: ' characters',
};

function sizeOf({ origin }: { readonly origin: string }, size: number | bigint): string {
  return `${size}${UNITS[origin] ?? ''}`;
}

function unknownKey(key: string, schema: unknown): string {
  const meant = schema instanceof z.ZodObject ? didYouMean(key, Object.keys(schema.shape)) : null;
  return `unknown key ${key}${meant === null ? '' : `, did you mean ${meant}?`}`;
}

/** `tools[0].run` */
export function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

/** What errors call a tool, a command or a plugin. */
export function nameOf(definition: unknown): string {
  const name: unknown = typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : null;
  return typeof name === 'string' ? name : '(without a name)';
}
