import type { ConfigRow } from './rows.ts';

export interface SettingLines {
  readonly agentId: string;
  /** By name; `compaction.stack_share` is in the table of that name. */
  readonly values: ReadonlyMap<string, string | number>;
}

/**
 * What to write into the file so that these values apply to the agent: into its own tables if it has any, otherwise
 * into `[defaults]`. A remark names the place of a value that is there already.
 */
export function settingLines(rows: readonly ConfigRow[], { agentId, values }: SettingLines): string {
  const origins = new Map(rows.map(({ path, origin }) => [path, origin]));
  const originOf = (name: string) => origins.get(`agents[${agentId}].${name}`) ?? DEFAULT;
  const isNamed = originOf('id') !== DEFAULT;
  const sorted = [...values].toSorted(([one], [other]) => depthOf(one) - depthOf(other));
  const tables = Map.groupBy(sorted, ([name]) => name.split('.').slice(0, -1).join('.'));
  const own = isNamed ? `[[agents]]\nid = ${JSON.stringify(agentId)}` : '[defaults]';
  const headOf = (table: string) => (table === '' ? own : `[${isNamed ? 'agents' : 'defaults'}.${table}]`);
  const blocks = [...tables].map(([table, inside]) => {
    const lines = inside.map(([name, value]) => {
      const before = originOf(name);
      const remark = before === DEFAULT ? '' : ` # now at ${before}`;
      return `${name.split('.').at(-1)} = ${JSON.stringify(value)}${remark}`;
    });
    return [headOf(table), ...lines].join('\n');
  });
  return [...(isNamed && !tables.has('') ? [own] : []), ...blocks].join('\n\n');
}

const DEFAULT = 'default';

/** In a file, the values of a table come before the tables inside it. */
function depthOf(name: string): number {
  return name.split('.').length;
}
