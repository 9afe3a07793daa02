import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { IS_FULL, SIZED, sized } from '../support/size.ts';
import { DEPLOYMENTS } from './harness/deployments.ts';
import { readOptions } from './harness/options.ts';
import { planFaults } from './harness/plan.ts';
import { createChance } from './harness/random.ts';
import type { RunResult } from './harness/result.ts';
import { type RunOptions, runDeployment } from './harness/run.ts';
import { whyNot } from './harness/servers.ts';
import { formatCount, formatDamage, formatTable } from './harness/table.ts';

/**
 * A short run of the fault harness: `strata start` as real processes, killed and frozen. `npm run faults` is the long one.
 * `npm test` runs the deployment with the most kinds of faults.
 */
vi.setConfig({ testTimeout: 600_000 });
const MESSAGES = sized({ small: 110, full: 240 });

async function run(number: number, options: Partial<RunOptions> = {}): Promise<RunResult> {
  return await runDeployment({
    deployment: deploymentOf(number),
    seed: 1,
    messages: MESSAGES,
    conversations: sized({ small: 3, full: 4 }),
    kills: 3,
    everyMs: [1000, 1500],
    gateways: 2,
    workers: 2,
    freezes: [],
    ignoresCompareAndSet: false,
    isJavaScript: false,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
  });
}

function deploymentOf(number: number) {
  const found = DEPLOYMENTS.find((deployment) => deployment.number === number);
  if (found === undefined) throw new Error(`There is no deployment ${number}.`);
  return found;
}

function expectWhole(result: RunResult): void {
  process.stdout.write(`${formatTable([result])}\n`);
  expect(result.damage, formatDamage(result)).toEqual([]);
  expect(result).toMatchObject({ messages: MESSAGES, lost: 0, doublePosts: 0, staleForced: 0 });
  expect(result.summaries).toBeGreaterThan(0);
  expect(result.memories).toBeGreaterThan(0);
}

const postgres = await whyNot(deploymentOf(3));

describe.concurrent('a bot under faults', SIZED, () => {
  it('keeps everything on one SQLite file and Redis', async () => {
    const result = await run(2, { freezes: ['worker'] });
    expectWhole(result);
    expect(result.toll.gateway + result.toll.worker).toBeGreaterThan(1);
    expect(result.toll.redis).toBe(1);
  });

  if (!IS_FULL) return;

  it('keeps everything in one process on SQLite', async () => {
    const result = await run(1);
    expectWhole(result);
    expect(result.toll.all).toBe(3);
  });

  it.skipIf(postgres !== null)(`runs on Postgres alone${postgres === null ? '' : ` (${postgres})`}`, async () => {
    const result = await run(3);
    expectWhole(result);
    expect(result.toll.postgres).toBe(1);
  });

  it('is found damaged when compare-and-set is switched off', async () => {
    const result = await run(2, { gateways: 1, freezes: ['worker'], ignoresCompareAndSet: true });
    expect(result.staleForced).toBeGreaterThan(0);
    expect(result.damage.map(({ invariant }) => invariant)).toContain('I4');
    expect(formatTable([result])).toContain('BROKEN');
  });
});

describe('the fault harness', () => {
  it('plans every fault, and the same for the same seed', () => {
    for (const deployment of DEPLOYMENTS) {
      const options = { kills: 8, freezes: ['worker'], everyMs: [100, 200] } as const;
      const plan = () => planFaults(deployment, createChance(5, 'faults'), options);
      expect(plan()).toEqual(plan());
      const kinds = new Set(plan().map(({ fault }) => ('role' in fault ? `${fault.kind} ${fault.role}` : fault.kind)));
      const servers = [
        ...(deployment.queue === 'redis' ? ['redis'] : []),
        ...(deployment.store === 'postgres' ? ['postgres'] : []),
      ];
      const processes = deployment.number === 1 ? ['kill all'] : ['kill gateway', 'kill worker', 'freeze worker'];
      expect(kinds).toEqual(new Set([...processes, ...servers]));
    }
  });

  it('reports and counts what it could not run', () => {
    const words = formatCount([], [{ number: 3, name: 'Postgres', reason: 'no initdb' }]);
    expect(words).toContain('0 deployments run');
    expect(words).toContain('1 skipped');
    expect(words).toContain('Skipped: 3 Postgres: no initdb.');
  });

  it.each([[['--break', 'everything']], [['--deployments', '5']], [['--kills', 'many']], [['--loud']]])(
    'refuses %s as wrong use',
    (options) => {
      expect(readOptions(options)).toEqual({ problem: expect.stringContaining('--help') });
    },
  );

  it('ends with code 2 after wrong use', () => {
    const ended = harness(['--kills', 'many']);
    expect(ended.status).toBe(2);
    expect(ended.stderr).toContain('--kills');
  });

  it('explains itself', () => {
    expect(readOptions(['--seed', '7', '--help'])).toBe('help');
    const ended = harness(['--help']);
    expect(ended.status).toBe(0);
    expect(ended.stdout).toContain('--seed N');
  });

  it('reads what is given', () => {
    expect(readOptions(['--short', '--deployments', '1,3', '--seed', '7'])).toEqual({
      short: true,
      deployments: [1, 3],
      seed: 7,
    });
  });
});

function harness(options: readonly string[]) {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'harness/main.ts'), ...options], { encoding: 'utf8' });
}
