import { type Damage, doublePosts } from './damage.ts';
import type { Deployment } from './deployments.ts';
import type { Toll } from './executioner.ts';
import type { PlatformRecord } from './platform.ts';
import type { Rows } from './rows.ts';
import type { World } from './world.ts';

export interface RunResult {
  readonly deployment: Deployment;
  readonly servers: readonly string[];
  readonly messages: number;
  readonly toll: Toll;
  readonly summaries: number;
  readonly condensed: number;
  readonly memories: number;
  readonly modelCalls: number;
  /** Of them, the ones that failed on purpose. */
  readonly modelFaults: number;
  readonly staleRefused: number;
  readonly staleForced: number;
  readonly redelivered: number;
  readonly recognised: number;
  readonly doublePosts: number;
  readonly lost: number;
  /** Looks at everything, after each fault and at the end. */
  readonly looks: number;
  readonly damage: readonly Damage[];
  /** From saying to the reply that people see, in milliseconds. */
  readonly answers: { readonly median: number; readonly p99: number; readonly longest: number };
  readonly seconds: number;
}

/** What came of a run, counted. */
export function resultOf(
  { deployment, servers, platform, model, court, executioner, commits }: World,
  end: Pick<RunResult, 'damage' | 'seconds'>,
): RunResult {
  const { rows } = court.evidence();
  return {
    ...end,
    deployment,
    servers: servers.names,
    messages: platform.record.messages.size,
    toll: executioner.toll,
    ...summariesIn(rows),
    memories: new Set(rows.memories.map(({ id }) => id)).size,
    modelCalls: Object.values(model.record.calls).reduce((sum, count) => sum + count, 0),
    modelFaults: model.record.faults,
    staleRefused: commits.refused,
    staleForced: commits.forced,
    redelivered: platform.record.redelivered,
    recognised: platform.record.recognised,
    doublePosts: doublePosts(platform.record).length,
    lost: court.lost(),
    looks: court.looks,
    answers: answerTimes(platform.record),
  };
}

function summariesIn({ summaries }: Rows): Pick<RunResult, 'summaries' | 'condensed'> {
  const written = summaries.filter(({ kind }) => kind === 'summary');
  const first = written.filter(({ level }) => level === 0).length;
  return { summaries: first, condensed: written.length - first };
}

function answerTimes({ messages }: PlatformRecord): RunResult['answers'] {
  const times = [...messages.values()]
    .flatMap(({ asks, sentAt, answeredAt }) => (asks && answeredAt !== null ? [answeredAt - sentAt] : []))
    .toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { median: at(0.5), p99: at(0.99), longest: times.at(-1) ?? 0 };
}
