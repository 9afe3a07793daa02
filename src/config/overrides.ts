import type { Layer } from './layers.ts';
import type { Environment } from './references.ts';
import type { Path, Tree } from './tree.ts';

/** What the command line can set. Null and undefined leave the value to the lower layers. */
export interface ConfigFlags {
  readonly model?: string | null | undefined;
  readonly data?: string | null | undefined;
  readonly logLevel?: string | null | undefined;
  readonly storage?: string | null | undefined;
  readonly queue?: string | null | undefined;
  readonly listen?: string | null | undefined;
}

interface Override {
  /** `agent`: set for every agent. */
  readonly scope: 'agent' | 'general';
  readonly path: readonly string[];
  readonly variable: string;
  readonly flag: string;
  readonly from: (flags: ConfigFlags) => string | null | undefined;
}

/** The values that can be set without a file. */
export const overrides: readonly Override[] = [
  { scope: 'agent', path: ['model'], variable: 'STRATA_MODEL', flag: '--model', from: (flags) => flags.model },
  {
    scope: 'general',
    path: ['storage', 'directory'],
    variable: 'STRATA_DATA',
    flag: '--data',
    from: (flags) => flags.data,
  },
  {
    scope: 'general',
    path: ['storage', 'url'],
    variable: 'STRATA_STORAGE_URL',
    flag: '--storage',
    from: (flags) => flags.storage,
  },
  {
    scope: 'general',
    path: ['queue', 'url'],
    variable: 'STRATA_QUEUE_URL',
    flag: '--queue',
    from: (flags) => flags.queue,
  },
  {
    scope: 'general',
    path: ['log', 'level'],
    variable: 'STRATA_LOG_LEVEL',
    flag: '--log-level',
    from: (flags) => flags.logLevel,
  },
  {
    scope: 'general',
    path: ['operations', 'listen'],
    variable: 'STRATA_LISTEN',
    flag: '--listen',
    from: (flags) => flags.listen,
  },
];

/** The environment, then the flags above it. An empty variable counts as unset. */
export function overrideLayers(
  scope: Override['scope'],
  given: { readonly environment: Environment; readonly flags: ConfigFlags },
): readonly Layer[] {
  const rows = overrides.filter((row) => row.scope === scope);
  return [
    {
      values: treeOf(rows, (row) => given.environment[row.variable]),
      originOf: (path) => ({ kind: 'environment', variable: rowAt(rows, path)?.variable ?? '' }),
    },
    {
      values: treeOf(rows, (row) => row.from(given.flags)),
      originOf: (path) => ({ kind: 'flag', flag: rowAt(rows, path)?.flag ?? '' }),
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
