import { z } from 'zod';
import { didYouMean } from '../util/text/did-you-mean.ts';
import { isTable, type Path, valueAt, withoutCredentials } from './toml/tree.ts';

/** A problem at a path, in words. */
export interface Problem {
  readonly path: Path;
  readonly text: string;
  /** About the name of a key, not its value. */
  readonly isUnknownKey: boolean;
}

export interface ProblemContext {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** False if the value came from the environment or is a secret, so that it is not printed. */
  readonly mayShow: (path: Path) => boolean;
  /** Dotted paths of all known keys, to recognise keys in the wrong table. */
  readonly elsewhere: readonly string[];
  /** The checked section of the file; empty for the file itself. */
  readonly section: string;
}

/** Of one table; more are only counted. */
const MAX_UNKNOWN_KEYS = 50;

/** Turns the issues of a schema into words: what was expected, what was found, and what was probably meant. */
export function problemsOf(error: z.ZodError, context: ProblemContext): readonly Problem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue, context));
}

function problemsOfIssue(issue: z.core.$ZodIssue, context: ProblemContext): readonly Problem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code === 'unrecognized_keys') {
    const shown = issue.keys.slice(0, MAX_UNKNOWN_KEYS);
    const more = issue.keys.length - shown.length;
    return [
      ...shown.map((key) => ({ path: [...path, key], text: unknownKey(key, path, context), isUnknownKey: true })),
      ...(more === 0 ? [] : [{ path, text: `${more} more unknown keys`, isUnknownKey: true }]),
    ];
  }
  const value = valueAt(context.value, path);
  if (value === undefined) return [{ path, text: `is missing${reason(issue)}`, isUnknownKey: false }];
  const came = context.mayShow(path) ? `, got ${shownValue(value)}` : '';
  return [{ path, text: `${expectation(issue)}${came}${suggestion(issue, value)}`, isUnknownKey: false }];
}

/** The reason why a rule of the schema requires a missing value. zod has its own wording for rules without one. */
function reason(issue: z.core.$ZodIssue): string {
  return issue.code === 'custom' && issue.message !== 'Invalid input' ? `: ${issue.message}` : '';
}

/** The same key in another table is a likelier mistake than a similar key in this one. */
function unknownKey(key: string, path: Path, context: ProblemContext): string {
  const places = context.elsewhere.filter((known) => known.endsWith(`.${key}`));
  const section = places.filter((known) => known.startsWith(`${context.section}.`));
  const near = didYouMean(key, keysAt(context.schema, path));
  const meant = section[0] ?? near ?? places[0];
  return meant === undefined ? 'unknown key' : `unknown key; did you mean ${meant}?`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'too_big':
      return `expected ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
    case 'too_small':
      return issue.origin === 'string'
        ? 'must not be empty'
        : `expected ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'invalid_value':
      return `expected ${alternatives(issue.values)}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
};

function alternatives(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value));
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
}

function suggestion(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return '';
  const near = didYouMean(
    value,
    issue.values.filter((known) => typeof known === 'string'),
  );
  return near === null ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (isTable(value)) return 'a table';
  if (typeof value !== 'string') return String(value);
  return value.length > 60 ? `a text of ${value.length} characters` : JSON.stringify(withoutCredentials(value));
}

/** The schema at a path, through lists and tables. */
function schemaAt(schema: z.ZodType, path: Path): z.ZodType | null {
  let current: unknown = unwrapped(schema);
  for (const part of path) {
    if (current instanceof z.ZodObject) current = unwrapped(current.shape[part]);
    else if (current instanceof z.ZodArray) current = unwrapped(current.element);
    else if (current instanceof z.ZodRecord) current = unwrapped(current.valueType);
    else return null;
  }
  return current instanceof z.ZodType ? current : null;
}

function keysAt(schema: z.ZodType, path: Path): readonly string[] {
  const found = schemaAt(schema, path);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

/** The schema inside optional, nullable, default and transform wrappers. */
function unwrapped(schema: unknown): unknown {
  const inner = WRAPPERS.find((wrapper) => schema instanceof wrapper);
  if (inner !== undefined && schema instanceof inner) return unwrapped(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}

const WRAPPERS = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault, z.ZodReadonly] as const;

/** Dotted paths of all keys in a schema. */
export function knownPaths(schema: z.ZodType, path = ''): readonly string[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && inner.element instanceof z.ZodObject) return knownPaths(inner.element, path);
  const own = path === '' ? [] : [path];
  if (!(inner instanceof z.ZodObject)) return own;
  const beneath = Object.entries(inner.shape).flatMap(([name, field]) =>
    field instanceof z.ZodType ? knownPaths(field, path === '' ? name : `${path}.${name}`) : [],
  );
  return [...own, ...beneath];
}
