import { isTable, type Path, pathKey, type Tree } from './toml/tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A tree with every `env:NAME` and `${NAME}` resolved, and the problems found. */
export interface Resolved {
  readonly tree: Tree;
  readonly problems: readonly { readonly path: Path; readonly variable: string; readonly text: string }[];
  /** The raw text by `pathKey`, shown instead of a secret. */
  readonly written: ReadonlyMap<string, string>;
}

/**
 * Resolves environment references: a whole value `env:NAME`, or `${NAME}` and `${NAME:-default}` within a text; `$${`
 * is an escaped `${`. Lower-case names are left unchanged. Spaces and line breaks around a variable are left out: files with
 * secrets often end in one, and no header or URL takes it. `enabled` decides whether a missing variable at a path is a
 * problem; if not, the value becomes empty.
 */
export function resolveReferences(
  tree: Tree,
  options: { readonly environment: Environment; readonly enabled: (path: Path) => boolean },
): Resolved {
  const problems: { path: Path; variable: string; text: string }[] = [];
  const written = new Map<string, string>();

  const resolveText = (text: string, path: Path): string => {
    const missing = (variable: string): string => {
      const text = `the environment variable ${variable} is not set`;
      if (options.enabled(path)) problems.push({ path, variable, text });
      return '';
    };
    const filled = fill(text, { environment: options.environment, missing });
    if (filled !== text) written.set(pathKey(path), text);
    return filled;
  };

  const resolve = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return resolveText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, [...path, index]));
    return isTable(value) ? resolveTable(value, path) : value;
  };

  const resolveTable = (table: Tree, path: Path): Tree =>
    Object.fromEntries(Object.entries(table).map(([name, value]) => [name, resolve(value, [...path, name])]));

  return { tree: resolveTable(tree, []), problems, written };
}

/** `${NAME}`, the start of `${NAME:-default}`, and the escaped `$${`. */
const REFERENCE = /\$\$\{|\$\{([A-Z_][A-Z0-9_]*)(:-|\})/g;

function fill(
  text: string,
  options: { readonly environment: Environment; readonly missing: (name: string) => string },
): string {
  const whole = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1];
  if (whole) return options.environment[whole]?.trim() || options.missing(whole);
  const filled: string[] = [];
  let from = 0;
  for (const { index, 0: found, 1: name, 2: sign } of text.matchAll(REFERENCE)) {
    if (index < from) continue;
    const close = sign === ':-' ? text.indexOf('}', index) : index + found.length - 1;
    if (close === -1) break;
    const otherwise = sign === ':-' ? text.slice(index + found.length, close) : null;
    const value = name === undefined ? '${' : options.environment[name]?.trim() || (otherwise ?? options.missing(name));
    filled.push(text.slice(from, index), value);
    from = close + 1;
  }
  return [...filled, text.slice(from)].join('');
}
