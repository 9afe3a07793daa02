import { checkAgents } from '../config/checks.ts';
import type { Origin } from '../config/layers.ts';
import { createReport } from '../config/report.ts';
import { type AgentSettings, agentSchema } from '../config/schema.ts';
import type { Path } from '../config/tree.ts';
import { StrataError } from '../domain/errors.ts';

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

const FLAG = '--try';

/** The agent with settings such as `context_window=16000,compaction.stack_share=0.2`. Throws `USAGE`. */
export function withSettings(agent: AgentSettings, text: string): AgentSettings {
  const given = new Set<string>();
  let own: object = {};
  let compaction: object = agent.compaction;
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (!FORECAST_SETTINGS.some((known) => known === name))
      throw refusal(text, `It takes ${FORECAST_SETTINGS.join(', ')}.`);
    given.add(name);
    const value = valueIn(pair.slice(at + 1).trim());
    const [table = '', key] = name.split('.');
    if (key === undefined) own = { ...own, [table]: value };
    else compaction = { ...compaction, [key]: value };
  }
  const settings = parsed({ ...agent, ...own, compaction }, text);
  assertConsistent(settings, given);
  return settings;
}

function valueIn(text: string): string | number {
  const number = Number(text);
  return text !== '' && Number.isFinite(number) ? number : text;
}

function parsed(value: object, text: string): AgentSettings {
  const result = agentSchema.safeParse(value);
  if (!result.success) {
    const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw refusal(text, `${faults.join('; ')}.`);
  }
  const { engine } = result.data;
  if (engine !== 'stacked' && engine !== 'sliding') throw refusal(text, 'engine: expected stacked or sliding.');
  return result.data;
}

/** The checks of a configuration across several values. */
function assertConsistent(settings: AgentSettings, given: ReadonlySet<string>): void {
  const source = { file: 'configured', folder: '.', found: false, tree: {}, locate: () => null };
  const report = createReport(source);
  const originOf = (path: Path): Origin =>
    given.has(path.join('.')) ? { kind: 'flag', flag: FLAG } : { kind: 'file', path, position: null };
  checkAgents([{ settings, originOf, index: null }], { source, report, known: null });
  const problems = report.lines();
  if (problems.length > 0) throw new StrataError('USAGE', { problem: problems.join('\n') });
}

function refusal(text: string, expected: string): StrataError {
  return new StrataError('USAGE', { problem: `${FLAG} is "${text.slice(0, 80)}". ${expected}` });
}
