import type { RunResult } from './result.ts';
import { JS_REDIS } from './servers.ts';

export interface Skipped {
  readonly name: string;
  readonly number: number;
  readonly reason: string;
}

const MAX_SHOWN = 12;
/** Only where compare-and-set is switched off. */
const FORCED = 'stale commits forced';

/** The results as a Markdown table that is also readable in a terminal. */
export function formatTable(results: readonly RunResult[]): string {
  const columns = results.map(cellsOf);
  const isTold = (name: string) => name !== FORCED || columns.some((column) => column[name] !== '0');
  const names = Object.keys(columns[0] ?? {}).filter(isTold);
  const lines = names.map((name) => [name, ...columns.map((column) => column[name] ?? '')]);
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)));
  const [head = '', ...body] = lines.map(
    (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n');
}

function cellsOf(result: RunResult): Readonly<Record<string, string>> {
  const { deployment, toll, answers, damage } = result;
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
  return {
    deployment: `${deployment.number} ${deployment.name}${result.servers.includes(JS_REDIS) ? ` (${JS_REDIS})` : ''}`,
    messages: String(result.messages),
    kills: String(toll.gateway + toll.worker + toll.all + toll.redis + toll.postgres),
    'of gateways, workers, both in one': `${toll.gateway}, ${toll.worker}, ${toll.all}`,
    'of Redis (wiped), Postgres': `${toll.redis} (${toll.wiped}), ${toll.postgres}`,
    'processes stalled': String(toll.frozen),
    'summaries + condensed': `${result.summaries} + ${result.condensed}`,
    memories: String(result.memories),
    'model calls (failed on purpose)': `${result.modelCalls} (${result.modelFaults})`,
    'stale commits refused': String(result.staleRefused),
    [FORCED]: String(result.staleForced),
    'messages redelivered': String(result.redelivered),
    'duplicate posts recognised': String(result.recognised),
    'double posts': String(result.doublePosts),
    'lost messages': String(result.lost),
    'answer p50, p99, longest': [answers.median, answers.p99, answers.longest].map(seconds).join(', '),
    'checks, seconds': `${result.looks}, ${result.seconds.toFixed(0)}`,
    invariants: damage.length === 0 ? 'hold' : `BROKEN: ${damage.length}`,
  };
}

/** The violations by invariant, with the first of each kind described. */
export function formatDamage({ deployment, damage }: RunResult): string {
  const lines = damage.slice(0, MAX_SHOWN).map(({ invariant, what }) => `  ${invariant}  ${what}`);
  const rest = damage.length > MAX_SHOWN ? [`  … and ${damage.length - MAX_SHOWN} more`] : [];
  return [`${deployment.number} ${deployment.name}:`, ...lines, ...rest].join('\n');
}

/** Deployments that did not run are listed too, so that a short table is not mistaken for a complete one. */
export function formatCount(results: readonly RunResult[], skipped: readonly Skipped[]): string {
  const broken = results.filter(({ damage }) => damage.length > 0).length;
  const words = `${results.length} deployments run, ${results.length - broken} hold, ${broken} broken, ${skipped.length} skipped`;
  return [`${words}.`, ...skipped.map(({ number, name, reason }) => `Skipped: ${number} ${name}: ${reason}.`)].join(
    '\n',
  );
}
