import type { z } from 'zod';
import { checkAgents } from '../config/checks.ts';
import { BUILT_IN_ENGINES, isBuiltInEngine } from '../config/known.ts';
import type { Origin } from '../config/layers.ts';
import { createReport } from '../config/report.ts';
import { type AgentSettings, agentSchema } from '../config/schema.ts';
import type { Path } from '../config/toml/tree.ts';
import { StrataError } from '../domain/errors.ts';
import { faultsIn, inWords } from '../util/errors/faults.ts';

/** The settings that a forecast can change. */
export const FORECAST_SETTINGS = [
  'engine',
  'context_window',
  'max_output_tokens',
  'compaction.background_threshold',
  'compaction.aggressive_threshold',
  'compaction.emergency_threshold',
  'compaction.background_target',
  'compaction.aggressive_target',
  'compaction.emergency_target',
  'compaction.message_threshold',
  'compaction.fixed_share',
  'compaction.stack_share',
  'compaction.tail_share',
  'compaction.reserve_share',
] as const;

export type ForecastSetting = (typeof FORECAST_SETTINGS)[number];
export type ForecastValues = ReadonlyMap<ForecastSetting, string | number>;

/** Those that can be "auto": their schemas accept this word, and no other. */
export const AUTO_SETTINGS: ReadonlySet<ForecastSetting> = new Set(
  FORECAST_SETTINGS.filter((name) => accepts(name, 'auto') && !accepts(name, 'automatic')),
);

function accepts(name: ForecastSetting, value: string): boolean {
  const [table = '', key] = name.split('.');
  const { shape } = agentSchema;
  const fields: Readonly<Record<string, z.ZodType>> = key === undefined ? shape : shape.compaction.shape;
  return fields[key ?? table]?.safeParse(value).success === true;
}

const FLAG = '--try';

/** The agent with settings such as `context_window=16000,compaction.stack_share=0.2`. Throws `USAGE`. */
export function withSettings(agent: AgentSettings, text: string): AgentSettings {
  const values = new Map<ForecastSetting, string | number>();
  const refuse = (expected: string) =>
    new StrataError('USAGE', { problem: `${FLAG} is "${text.slice(0, 80)}". ${expected}` });
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    const known = FORECAST_SETTINGS.find((setting) => setting === name);
    if (known === undefined) throw refuse(`It takes ${FORECAST_SETTINGS.join(', ')}.`);
    values.set(known, settingValue(pair.slice(at + 1)));
  }
  return withValues(agent, values, { source: FLAG, refuse });
}

/** A number, or the text itself. */
export function settingValue(text: string): string | number {
  const value = text.trim();
  const number = Number(value);
  return value !== '' && Number.isFinite(number) ? number : value;
}

export interface ForecastSource {
  /** Where the values come from, for messages. */
  readonly source: string;
  refuse(expected: string): StrataError;
}

/** Throws `USAGE`. */
export function withValues(agent: AgentSettings, values: ForecastValues, from: ForecastSource): AgentSettings {
  let own: object = {};
  let compaction: object = agent.compaction;
  for (const [name, value] of values) {
    const [table = '', key] = name.split('.');
    if (key === undefined) own = { ...own, [table]: value };
    else compaction = { ...compaction, [key]: value };
  }
  const settings = parsed({ ...agent, ...own, compaction }, from);
  assertConsistent(settings, values, from);
  return settings;
}

/** The present value of a setting. */
export function settingOf(agent: AgentSettings, name: ForecastSetting): string | number {
  const [table = '', key] = name.split('.');
  const values: Readonly<Record<string, unknown>> = key === undefined ? agent : agent.compaction;
  const value = values[key ?? table];
  return typeof value === 'number' ? value : String(value);
}

function parsed(value: object, { refuse }: ForecastSource): AgentSettings {
  const result = agentSchema.safeParse(value, { error: inWords });
  if (!result.success) {
    throw refuse(`${faultsIn(result.error).join('; ')}.`);
  }
  const { engine } = result.data;
  if (!isBuiltInEngine(engine)) throw refuse(`engine: expected ${BUILT_IN_ENGINES.join(' or ')}.`);
  return result.data;
}

/** The checks of a configuration across several values. */
function assertConsistent(settings: AgentSettings, given: ForecastValues, { source: flag }: ForecastSource): void {
  const isGiven = (path: Path) => FORECAST_SETTINGS.some((name) => name === path.join('.') && given.has(name));
  const source = { file: 'configured', folder: '.', found: false, isEmpty: false, tree: {}, locate: () => null };
  const report = createReport(source);
  const originOf = (path: Path): Origin =>
    isGiven(path) ? { kind: 'flag', flag } : { kind: 'file', path, position: null };
  checkAgents([{ settings, originOf, index: null }], { source, report, known: null });
  const problems = report.lines();
  if (problems.length > 0) throw new StrataError('USAGE', { problem: problems.join('\n') });
}
