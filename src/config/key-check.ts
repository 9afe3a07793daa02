import { addressFault, keyFault } from '../util/text/key-text.ts';
import type { Environment } from './references.ts';
import type { Report } from './report.ts';
import { isTable, type Path, pathKey } from './toml/tree.ts';

interface Checking {
  readonly report: Report;
  /** The raw text of values from the environment, by `pathKey`. */
  readonly written: ReadonlyMap<string, string>;
}

/** Keys and tokens that every request would fail with. Problems name the value, and never show it. */
export function checkKeys(value: unknown, path: Path, checking: Checking): void {
  if (isTable(value)) for (const [name, inner] of Object.entries(value)) checkKeys(inner, [...path, name], checking);
  if (Array.isArray(value)) for (const [index, inner] of value.entries()) checkKeys(inner, [...path, index], checking);
  if (typeof value !== 'string' || value === '') return;
  const fault = faultAt(value, path);
  if (fault === null) return;
  const [, variable] =
    /^(?:env:|\$\{)([A-Za-z_][A-Za-z0-9_]*)\}?$/.exec(checking.written.get(pathKey(path)) ?? '') ?? [];
  checking.report.add(path, variable === undefined ? `it ${fault}` : `the environment variable ${variable} ${fault}`);
}

function faultAt(value: string, path: Path): string | null {
  const name = String(path.at(-1));
  return /(?:token|api_key|secret)$/i.test(name) ? keyFault(value) : null;
}

export function addressProblem(url: string): string | null {
  const fault = addressFault(url);
  return fault === null ? null : `it ${fault}`;
}

/** The keys that providers read by their usual names, such as `OPENAI_API_KEY`. */
export function checkUsualKeys(
  environment: Environment,
  { report, providers }: { readonly report: Report; readonly providers: readonly string[] },
): void {
  const prefixes = providers.map((name) => `${name.toUpperCase()}_`);
  for (const [variable, value = ''] of Object.entries(environment)) {
    if (!variable.endsWith('_API_KEY') || !prefixes.some((prefix) => variable.startsWith(prefix))) continue;
    const fault = keyFault(value.trim());
    if (fault !== null) report.addAt({ kind: 'environment', variable }, { path: [], text: `its value ${fault}` });
  }
}
