import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type Handlebars from 'handlebars/dist/handlebars.min.js';
import { z } from 'zod';
import { describe } from '../domain/errors.ts';
import { oneLine } from '../util/text/foreign-text.ts';
import { readVariables } from './template-variables.ts';

/** A file's text, as found. */
export interface TemplateFile {
  readonly file: string;
  readonly text: string;
}

export interface Template {
  readonly file: string;
  /** First 12 hex digits of a hash of the text and the fragments that it uses. */
  readonly hash: string;
  /** Hash of the built-in prompt that the file was copied from; null if it is not a copy. */
  readonly base: string | null;
  /** Dotted paths of all variables that the template reads. */
  readonly used: ReadonlySet<string>;
  /** The text and the fragments that it uses, for `templateOfKept`. */
  readonly kept: string;
  /** `variables` must already be parsed by the schema. */
  render(variables: object): string;
}

export interface TemplateOptions {
  readonly schema: z.ZodType;
  /** By the name that `{{> name}}` uses. */
  readonly fragments: ReadonlyMap<string, TemplateFile>;
}

const COMPILE_OPTIONS = {
  noEscape: true,
  strict: true,
  knownHelpersOnly: true,
  preventIndent: true,
  knownHelpers: { is: true, has: true, line: true },
} as const;

/** The helpers that a template may call. Everything else is rejected, so no template can read undeclared variables. */
const HELPERS = new Set(['if', 'unless', 'each', 'is', 'has', 'line']);

const require = createRequire(import.meta.url);
let engine: typeof Handlebars | null = null;

/** Loaded with the first prompt that is compiled, which is after the start. */
function openEngine(): typeof Handlebars {
  if (engine !== null) return engine;
  const library: typeof Handlebars = require('handlebars/dist/handlebars.min.js');
  engine = library.create();
  engine.registerHelper({
    /** `{{#is value "a" "b"}}`: whether the value is one of these. */
    is(this: unknown, value: unknown, ...rest: unknown[]) {
      const options = blockOf(rest.pop());
      return rest.includes(value) ? options.fn(this) : options.inverse(this);
    },
    /** `(has list "a")`. */
    has: (list: unknown, value: unknown) => Array.isArray(list) && list.includes(value),
    /** A value on one line, so that foreign text cannot start a line of its own. */
    line: (value: unknown) => oneLine(String(value)),
  });
  return engine;
}

/** The first line of a copy; not rendered. */
export function baseLine(hash: string): string {
  return `{{!-- base ${hash} --}}\n`;
}

/** Compiles one prompt strictly. Throws an `Error` with line and reason. */
export function compileTemplate(source: TemplateFile, options: TemplateOptions): Template {
  const { used, problems, fragmentNames } = readVariables(parse(source.text), {
    schema: options.schema,
    helpers: HELPERS,
    fragment: (name) => parseFragment(options, name),
  });
  if (problems.length > 0) throw new Error(problems.join('; '));
  const { compile } = openEngine();
  const texts = [source.text, ...fragmentNames.map((name) => fragmentText(options, name))];
  // Keeping `@index` and the like for each item takes a fifth of the time, and few templates use them.
  const settings = { ...COMPILE_OPTIONS, data: texts.some((text) => text.includes('@')) };
  const compiled = compile<object>(source.text, settings);
  const partials = Object.fromEntries(
    fragmentNames.map((name) => [name, compile(fragmentText(options, name), settings)]),
  );
  return {
    file: source.file,
    hash: hashOf(texts),
    base: /^\{\{!-- base ([0-9a-f]{12}) --\}\}/.exec(source.text)?.[1] ?? null,
    used,
    kept: JSON.stringify({ text: source.text, fragments: keptFragments(options, fragmentNames) }),
    render: (variables) => compiled(variables, { partials }).trim(),
  };
}

const keptSchema = z.strictObject({ text: z.string(), fragments: z.record(z.string(), z.string()) });

/** Compiles what another template has kept of itself. */
export function templateOfKept(kept: string, schema: z.ZodType): Template {
  const { text, fragments } = keptSchema.parse(JSON.parse(kept));
  const files = Object.entries(fragments).map(([name, fragment]) => [name, { file: name, text: fragment }] as const);
  return compileTemplate({ file: 'kept', text }, { schema, fragments: new Map(files) });
}

function keptFragments(options: TemplateOptions, names: Iterable<string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...names].map((name) => [name, fragmentText(options, name)]));
}

function fragmentText(options: TemplateOptions, name: string): string {
  return options.fragments.get(name)?.text ?? '';
}

function parseFragment(options: TemplateOptions, name: string): hbs.AST.Program | null {
  const fragment = options.fragments.get(name);
  return fragment ? parse(fragment.text) : null;
}

function hashOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex').slice(0, 12);
}

function blockOf(options: unknown): Handlebars.HelperOptions {
  if (typeof options !== 'object' || options === null || !('fn' in options)) throw new Error('#is needs a block');
  return options as Handlebars.HelperOptions;
}

function parse(text: string): hbs.AST.Program {
  try {
    return openEngine().parse(text);
  } catch (error) {
    const lines = describe(error).split('\n');
    const line = /on line (\d+)/.exec(lines[0] ?? '')?.[1];
    throw new Error(line ? `line ${line}: ${lines.at(-1)}` : lines.join(' '), { cause: error });
  }
}
