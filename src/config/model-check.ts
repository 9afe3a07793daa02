import type { MergedAgent } from './agents.ts';
import { modelsOf } from './directory.ts';
import { unknownName } from './known.ts';
import type { Report } from './report.ts';
import type { Path } from './toml/tree.ts';

interface Checking {
  readonly report: Report;
  /** The built-in ones, those of plugins, and the tables of `[providers]`. */
  readonly providers: readonly string[];
}

/** A model of an unknown provider would make every reply, or every summary, fail. */
export function checkModels(agents: readonly MergedAgent[], { report, providers }: Checking): void {
  for (const agent of agents) {
    for (const { model, path } of namedBy(agent)) {
      const [name = ''] = model.split(':');
      if (model === 'auto' || providers.includes(name)) continue;
      refuse(agent, { path, text: unknownName('provider', name, providers), report });
    }
  }
}

interface Named {
  readonly model: string;
  /** Within the agent. */
  readonly path: Path;
}

function namedBy({ settings }: MergedAgent): readonly Named[] {
  const isList = typeof settings.model !== 'string';
  const replies = modelsOf(settings).map((model, index) => ({ model, path: isList ? ['model', index] : ['model'] }));
  const routes = settings.routes.map(({ compaction }, index) => ({
    model: compaction?.model ?? 'auto',
    path: ['routes', index, 'compaction', 'model'],
  }));
  return [...replies, { model: settings.compaction.model, path: ['compaction', 'model'] }, ...routes];
}

interface Refusal extends Pick<Checking, 'report'> {
  readonly path: Path;
  readonly text: string;
}

/** Routes are only in the file, and of a list only the whole has an origin. */
function refuse({ index, originOf }: MergedAgent, { path, text, report }: Refusal): void {
  const whole = [...(index === null ? ['defaults'] : ['agents', index]), ...path];
  const list = path[0] === 'model' ? path.slice(0, 1) : path;
  const origin = originOf(list);
  if (path[0] === 'routes') report.add(whole, text);
  else if (origin.kind === 'file') report.add([...origin.path, ...path.slice(list.length)], text);
  else report.addAt(origin, { path: whole, text });
}
