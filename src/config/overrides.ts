import type { Layer } from './layers.ts';
import type { Environment } from './references.ts';
import type { Path, Tree } from './toml/tree.ts';

/** The flags of the command line that set a value. */
const FLAGS = { model: '--model', data: '--data', logLevel: '--log-level' } as const;
type FlagName = keyof typeof FLAGS;

/** The values of the flags. Null and undefined leave the value to the lower layers. */
export type ConfigFlags = { readonly [Name in FlagName]?: string | null | undefined };

interface Override {
  /** `agent`: set for every agent. */
  readonly scope: 'agent' | 'general';
  readonly path: readonly string[];
  readonly variable: string;
  /** Null if only the environment can set it. */
  readonly flag: FlagName | null;
}

/** The values that can be set without a file. */
export const overrides: readonly Override[] = [
  { scope: 'agent', path: ['model'], variable: 'STRATA_MODEL', flag: 'model' },
  { scope: 'general', path: ['storage', 'directory'], variable: 'STRATA_DATA', flag: 'data' },
  { scope: 'general', path: ['storage', 'url'], variable: 'STRATA_STORAGE_URL', flag: null },
  { scope: 'general', path: ['queue', 'url'], variable: 'STRATA_QUEUE_URL', flag: null },
  { scope: 'general', path: ['log', 'level'], variable: 'STRATA_LOG_LEVEL', flag: 'logLevel' },
  { scope: 'general', path: ['operations', 'listen'], variable: 'STRATA_LISTEN', flag: null },
];

/** The environment, then the flags above it. An empty variable counts as unset, and spaces around a value are left out. */
export function overrideLayers(
  scope: Override['scope'],
  given: { readonly environment: Environment; readonly flags: ConfigFlags },
): readonly Layer[] {
  const rows = overrides.filter((row) => row.scope === scope);
  return [
    {
      values: treeOf(rows, ({ variable }) => given.environment[variable]?.trim()),
      originOf: (path) => ({ kind: 'environment', variable: rowAt(rows, path)?.variable ?? '' }),
    },
    {
      values: treeOf(rows, ({ flag }) => flag && given.flags[flag]),
      originOf: (path) => {
        const flag = rowAt(rows, path)?.flag;
        return { kind: 'flag', flag: flag ? FLAGS[flag] : '' };
      },
    },
  ];
}

function rowAt(rows: readonly Override[], path: Path): Override | undefined {
  return rows.find((row) => row.path.join('.') === path.join('.'));
}

function treeOf(rows: readonly Override[], given: (row: Override) => string | null | undefined): Tree {
  const tree: Record<string, Record<string, unknown> | string> = {};
  for (const row of rows) {
    const value = given(row);
    const [first = '', second] = row.path;
    if (!value) continue;
    const inner = tree[first];
    tree[first] = second === undefined ? value : { ...(typeof inner === 'object' ? inner : {}), [second]: value };
  }
  return tree;
}
