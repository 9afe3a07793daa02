import { resolve } from 'node:path';
import { agentDefaults } from './defaults.ts';
import { fileOrigin, type Layer, type Merged, mergeLayers, type Origin } from './layers.ts';
import { type Report, reportProblems } from './report.ts';
import { type AgentSettings, agentSchema } from './schema.ts';
import type { IndexedAgent, Sections } from './sections.ts';
import type { ConfigSource } from './toml/source.ts';
import { type Path, pathKey } from './toml/tree.ts';

/** An agent with every value filled in, and the origin of each. */
export interface MergedAgent {
  readonly settings: AgentSettings;
  /** Origins of the values within the agent. */
  readonly originOf: (path: Path) => Origin;
  /** Index in the file; null for the agent that exists if the file names none. */
  readonly index: number | null;
}

export interface AgentMergeOptions {
  readonly source: ConfigSource;
  readonly report: Report;
  /** Layers above the file: environment and flags. */
  readonly overrides: readonly Layer[];
}

/** Merges `[defaults]`, each `[[agents]]` and the layers above over the built-in values. */
export function mergeAgents(sections: Sections, options: AgentMergeOptions): readonly MergedAgent[] {
  const main: IndexedAgent = { index: -1, entry: { id: 'main' } };
  const agents = sections.agents.length > 0 ? sections.agents : [main];
  const first = agents.find(({ entry }) => entry.default === true) ?? agents[0];
  for (const { entry, index } of agents) {
    if (entry.default !== true || index === first?.index) continue;
    options.report.add(
      ['agents', index, 'default'],
      `only one agent can be the default; ${first?.entry.id} is already`,
    );
  }
  return agents.flatMap((agent) => {
    const merged = mergeAgent(sections, agent, options);
    const settings = complete(merged, agent, {
      isDefault: agent === first,
      report: options.report,
      fallback: () => mergeAgent(sections, agent, { ...options, overrides: [] }),
    });
    const originOf = (path: Path): Origin => merged.origins.get(pathKey(path)) ?? { kind: 'default' };
    return settings ? [{ settings, originOf, index: agent.index < 0 ? null : agent.index }] : [];
  });
}

function mergeAgent(sections: Sections, agent: IndexedAgent, options: AgentMergeOptions): Merged {
  const { id: _id, default: _default, routes: _routes, ...own } = agent.entry;
  return mergeLayers([
    { values: agentDefaults, originOf: () => ({ kind: 'default' }) },
    fileLayer(sections.defaults, ['defaults'], options.source),
    fileLayer(own, ['agents', agent.index], options.source),
    ...options.overrides,
  ]);
}

/** A layer of the file: relative folders start at the folder of the file. */
function fileLayer(values: Sections['defaults'], base: Path, source: ConfigSource): Layer {
  return {
    values: values.prompts ? { ...values, prompts: resolve(source.folder, values.prompts) } : values,
    originOf: (path) => fileOrigin([...base, ...path], source.locate),
  };
}

/**
 * The final validation: only values from outside the file can still be wrong here. They are reported and removed, so
 * that the following checks see the rest.
 */
function complete(
  merged: Merged,
  agent: IndexedAgent,
  context: {
    readonly isDefault: boolean;
    readonly report: Report;
    /** The same without the layers above the file. */
    readonly fallback: (() => Merged) | null;
  },
): AgentSettings | null {
  const value = {
    id: agent.entry.id,
    default: context.isDefault,
    routes: agent.entry.routes ?? [],
    ...merged.values,
  };
  const result = agentSchema.safeParse(value);
  if (result.success) return result.data;
  reportProblems(result.error, { schema: agentSchema, value, merged, report: context.report });
  return context.fallback ? complete(context.fallback(), agent, { ...context, fallback: null }) : null;
}
