import { describeOrigin } from './layers.ts';
import type { LoadedConfig } from './load.ts';
import { isSecretPath, isTable, type Path, withoutCredentials } from './toml/tree.ts';

export interface ConfigRow {
  readonly path: string;
  readonly value: unknown;
  readonly origin: string;
}

/** Every value in use with its origin; of one agent by its index. Secrets are shown as written in the file. */
export function rowsOf(loaded: LoadedConfig, agent: number | null): readonly ConfigRow[] {
  const leaves =
    agent === null ? leavesOf(loaded.config, []) : leavesOf(loaded.config.agents[agent], ['agents', agent]);
  return leaves.map(({ path, value }) => ({
    path: namedPath(path, loaded),
    value: safeValue(value, path, loaded),
    origin: describeOrigin(loaded.originOf(path), loaded.source.file),
  }));
}

/** Values that are not tables. Lists count as values, except the list of agents. */
function leavesOf(value: unknown, path: Path): readonly { readonly path: Path; readonly value: unknown }[] {
  if (isTable(value)) return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
  if (path.length === 1 && path[0] === 'agents' && Array.isArray(value)) {
    return value.flatMap((agent, index) => leavesOf(agent, [...path, index]));
  }
  return [{ path, value }];
}

function namedPath(path: Path, loaded: LoadedConfig): string {
  const [section, index, ...rest] = path;
  if (section !== 'agents') return path.join('.');
  return [`agents[${loaded.config.agents[Number(index)]?.id ?? index}]`, ...rest].join('.');
}

/** The value, with secrets as written in the file. */
export function safeValue(value: unknown, path: Path, loaded: LoadedConfig): unknown {
  if (isTable(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, safeValue(inner, [...path, name], loaded)]),
    );
  }
  if (Array.isArray(value)) return value.map((item, index) => safeValue(item, [...path, index], loaded));
  const written = loaded.writtenAs(path);
  if (written !== null) return written;
  if (isSecretPath(path) && value !== '') return '[secret]';
  return typeof value === 'string' ? withoutCredentials(value) : value;
}
