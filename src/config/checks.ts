import type { MergedAgent } from './agents.ts';
import { agentDefaults } from './defaults.ts';
import { type AgentNames, unknownName } from './known.ts';
import { describeOrigin, fileOrigin, type Origin } from './layers.ts';
import type { Report } from './report.ts';
import type { AgentSettings } from './schema.ts';
import type { ConfigSource } from './toml/source.ts';
import type { Path } from './toml/tree.ts';

export interface AgentChecks {
  readonly source: ConfigSource;
  readonly report: Report;
  /** Null if they are unknown. */
  readonly known: AgentNames | null;
}

/** Checks across several values: order of thresholds, sizes against each other, unique ids, known names. */
export function checkAgents(agents: readonly MergedAgent[], checks: AgentChecks): void {
  checkIds(agents, checks.report);
  for (const agent of agents) {
    const view: View = { agent, ...checks };
    checkThresholds(view, agent.settings.compaction, []);
    checkWindow(view);
    checkRecall(view);
    checkToolResults(view);
    checkNames(view);
    for (const [route, { compaction }] of agent.settings.routes.entries()) {
      if (!compaction) continue;
      checkThresholds(view, withOverrides(agent.settings.compaction, compaction), ['routes', route]);
    }
  }
}

type Compaction = AgentSettings['compaction'];

const usual = agentDefaults.compaction;

interface View extends AgentChecks {
  readonly agent: MergedAgent;
}

/** The values of a route merged over those of its agent. */
export function withOverrides(
  compaction: Compaction,
  overrides: NonNullable<AgentSettings['routes'][number]['compaction']>,
): Compaction {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  return { ...compaction, ...given };
}

const TIERS = ['background_threshold', 'aggressive_threshold', 'emergency_threshold'] as const;

function checkThresholds(view: View, compaction: Compaction, base: Path): void {
  const [background, aggressive, emergency] = TIERS.map((name) => compaction[name]);
  if (Number(background) >= Number(aggressive) || Number(aggressive) >= Number(emergency)) {
    refuse(view, { base, names: TIERS, compaction, text: 'thresholds must rise' });
  }
  if (compaction.stack_share >= compaction.background_threshold) {
    const names = ['stack_share', 'background_threshold'] as const;
    refuse(view, { base, names, compaction, text: 'the stack share must be below the first threshold' });
  }
  checkShares(view, compaction, base);
  checkTargets(view, compaction, base);
}

/** Shares of `auto` take what the others leave. */
function sharesIn(compaction: Compaction): readonly ShareName[] {
  const names = ['fixed_share', 'stack_share', 'tail_share', 'reserve_share'] as const;
  return names.filter((name) => compaction[name] !== 'auto');
}

type ShareName = 'fixed_share' | 'stack_share' | 'tail_share' | 'reserve_share';

function checkShares(view: View, compaction: Compaction, base: Path): void {
  const shares = sharesIn(compaction);
  const isSet = shares.some((name) => name !== 'stack_share' && compaction[name] !== usual[name]);
  if (!isSet || sumOf(compaction, shares) < compaction.background_threshold) return;
  const names = [...shares, 'background_threshold'] as const;
  refuse(view, { base, names, compaction, text: 'the shares must add up to less than the first threshold', sum: true });
}

function sumOf(compaction: Compaction, names: readonly (keyof Compaction)[]): number {
  return names.reduce((sum, name) => sum + Number(compaction[name]), 0);
}

/** Above the first threshold, the next compaction would be due at once. */
function checkTargets(view: View, compaction: Compaction, base: Path): void {
  for (const name of ['background_target', 'aggressive_target', 'emergency_target'] as const) {
    const target = compaction[name];
    if (target === 'auto' || target < compaction.background_threshold) continue;
    const names = [name, 'background_threshold'] as const;
    refuse(view, { base, names, compaction, text: 'a target must be below the first threshold' });
  }
}

interface Refusal {
  readonly base: Path;
  readonly names: readonly (keyof Compaction)[];
  readonly compaction: Compaction;
  readonly text: string;
  /** All but the last are added up. */
  readonly sum?: true;
}

/** Names every value with its origin, so that it is clear what to change. */
function refuse(view: View, refusal: Refusal): void {
  const origins = refusal.names.map((name) => originOf(view, refusal.base, name));
  const shown = refusal.names.map((name, index) => {
    const origin = origins[index];
    return `${name} ${refusal.compaction[name]} (${origin ? describeOrigin(origin, view.source.file) : 'default'})`;
  });
  const path = [...pathOf(view), ...refusal.base, 'compaction'];
  const rising = refusal.sum ? `${shown.slice(0, -1).join(' + ')} < ${shown.at(-1)}` : shown.join(' < ');
  view.report.addAt(nearestOrigin(origins), { path, text: `${refusal.text}: ${rising}` });
}

function originOf(view: View, base: Path, name: keyof Compaction): Origin {
  const within = [...base, 'compaction', name];
  const route = view.agent.settings.routes[Number(base[1])];
  if (base.length === 0 || route?.compaction?.[name] === undefined) return view.agent.originOf(['compaction', name]);
  return fileOrigin([...pathOf(view), ...within], view.source.locate);
}

/** Points at the most specific layer. */
function nearestOrigin(origins: readonly Origin[]): Origin {
  const rank = (origin: Origin): number =>
    origin.kind === 'file' ? origin.path.length + (origin.path[0] === 'agents' ? 10 : 0) : 0;
  return [...origins].sort((a, b) => rank(b) - rank(a))[0] ?? { kind: 'default' };
}

/** In a small window, the default length is not a mistake: `reserve_share` limits what is reserved of it. */
function checkWindow(view: View): void {
  const { context_window: window, max_output_tokens: output } = view.agent.settings;
  if (window === 'auto' || output < window || output === agentDefaults.max_output_tokens) return;
  const outputOrigin = view.agent.originOf(['max_output_tokens']);
  const windowOrigin = view.agent.originOf(['context_window']);
  const [outputFrom, windowFrom] = [outputOrigin, windowOrigin].map((o) => describeOrigin(o, view.source.file));
  view.report.addAt(nearestOrigin([outputOrigin, windowOrigin]), {
    path: [...pathOf(view), 'max_output_tokens'],
    text: `the answer must leave room in the window: max_output_tokens ${output} (${outputFrom}) < context_window ${window} (${windowFrom})`,
  });
}

/** Recalled text comes on top of everything that the first threshold limits. */
function checkRecall(view: View): void {
  const { context_window: window, recall, compaction } = view.agent.settings;
  if (window === 'auto' || recall.tokens === 'auto') return;
  const shares = sharesIn(compaction);
  const limit = compaction.emergency_threshold;
  if (recall.tokens / window + sumOf(compaction, shares) < limit) return;
  const shown = (path: Path, value: unknown) =>
    `${path.at(-1)} ${value} (${describeOrigin(view.agent.originOf(path), view.source.file)})`;
  const parts = shares.map((name) => shown(['compaction', name], compaction[name]));
  const left = [shown(['recall', 'tokens'], recall.tokens), ...parts].join(' + ');
  const right = `${shown(['compaction', 'emergency_threshold'], limit)} of ${shown(['context_window'], window)}`;
  view.report.addAt(nearestOrigin([view.agent.originOf(['recall', 'tokens'])]), {
    path: [...pathOf(view), 'recall', 'tokens'],
    text: `recalled text must leave room in the window: ${left} < ${right}`,
  });
}

/** An excerpt of almost the whole result would save nothing. */
function checkToolResults(view: View): void {
  const { recent_bytes: left, blob_bytes: blob } = view.agent.settings.tool_results;
  if (left < blob) return;
  const paths = (['recent_bytes', 'blob_bytes'] as const).map((name) => ['tool_results', name]);
  const [leftFrom, blobFrom] = paths.map((path) => describeOrigin(view.agent.originOf(path), view.source.file));
  view.report.addAt(nearestOrigin(paths.map(view.agent.originOf)), {
    path: [...pathOf(view), 'tool_results'],
    text: `an excerpt must be shorter than the result: recent_bytes ${left} (${leftFrom}) < blob_bytes ${blob} (${blobFrom})`,
  });
}

/** An unknown tool or engine would make every reply fail. */
function checkNames(view: View): void {
  const { known } = view;
  if (known === null) return;
  const { tools, engine } = view.agent.settings;
  for (const tool of tools) {
    if (!known.tools.includes(tool)) refuseName(view, 'tools', unknownName('tool', tool, known.tools));
  }
  if (known.engines.includes(engine)) return;
  refuseName(view, 'engine', unknownName('context engine', engine, known.engines));
}

function refuseName(view: View, key: 'tools' | 'engine', text: string): void {
  const origin = view.agent.originOf([key]);
  const path = origin.kind === 'file' ? origin.path : [...pathOf(view), key];
  view.report.addAt(origin, { path, text });
}

function checkIds(agents: readonly MergedAgent[], report: Report): void {
  const seen = new Set<string>();
  for (const { settings, index } of agents) {
    if (seen.has(settings.id)) report.add(['agents', index ?? 0, 'id'], `two agents have the id "${settings.id}"`);
    seen.add(settings.id);
  }
}

function pathOf(view: View): Path {
  return view.agent.index === null ? ['defaults'] : ['agents', view.agent.index];
}
