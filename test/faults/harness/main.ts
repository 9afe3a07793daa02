import { describe } from '../../../src/adapter-kit.ts';
import { DEPLOYMENTS, type Deployment } from './deployments.ts';
import { type HarnessOptions, HELP, readOptions } from './options.ts';
import type { RunResult } from './result.ts';
import { runDeployment } from './run.ts';
import { whyNot } from './servers.ts';
import { formatCount, formatDamage, formatTable, type Skipped } from './table.ts';

/** `npm run faults -- [--short] [--seed N] …`: the bot in real processes, under everything that can happen to them. */
const LONG = {
  messages: 5000,
  kills: 50,
  conversations: 20,
  everyMs: [2000, 4500],
  gateways: 2,
  workers: 3,
  freezes: ['worker', 'gateway', 'worker', 'worker', 'gateway'],
} as const;
const SHORT = {
  messages: 240,
  kills: 6,
  conversations: 6,
  everyMs: [700, 1500],
  gateways: 2,
  workers: 2,
  freezes: ['worker'],
} as const;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if ('problem' in options) {
    process.stderr.write(options.problem);
    return 2;
  }
  const signal = stopSignal();
  const seed = options.seed ?? Math.floor(Math.random() * 1_000_000);
  const broken = options.break === undefined ? '' : `, without ${options.break}`;
  process.stdout.write(`Seed ${seed}${broken}\n\n`);
  const skipped: Skipped[] = [];
  const possible: Deployment[] = [];
  for (const deployment of DEPLOYMENTS.filter(({ number }) => options.deployments.includes(number))) {
    const reason = await whyNot(deployment);
    if (reason === null) possible.push(deployment);
    else skipped.push({ ...deployment, reason });
  }
  const { results, failures } = await runAll(
    possible,
    (deployment) => runOne(deployment, { options, seed, signal }),
    options.short ? 2 : 1,
  );
  const damaged = results.filter(({ damage }) => damage.length > 0);
  if (results.length > 0) process.stdout.write(`${formatTable(results)}\n\n`);
  process.stdout.write(`${formatCount(results, skipped)}\n`);
  for (const result of damaged) process.stdout.write(`\n${formatDamage(result)}\n`);
  for (const failure of failures) process.stdout.write(`\nNot finished: ${failure}\n`);
  return damaged.length > 0 || failures.length > 0 ? 1 : 0;
}

interface Setting {
  readonly options: HarnessOptions;
  readonly seed: number;
  readonly signal: AbortSignal;
}

async function runOne(deployment: Deployment, { options, seed, signal }: Setting): Promise<RunResult> {
  const size = options.short ? SHORT : LONG;
  const onProgress = (words: string) => process.stderr.write(`${deployment.number} ${deployment.name}: ${words}\n`);
  onProgress('starts');
  const result = await runDeployment({
    ...size,
    deployment,
    seed,
    signal,
    onProgress,
    isJavaScript: false,
    messages: options.messages ?? size.messages,
    kills: options.kills ?? size.kills,
    ignoresCompareAndSet: options.break !== undefined,
  });
  onProgress(`ends after ${result.seconds.toFixed(0)} s, damage: ${result.damage.length}`);
  if (result.damage.length > 0) process.stderr.write(`${formatDamage(result)}\n`);
  return result;
}

/** This many at a time. An error in one of them does not lose the results of the others. */
async function runAll(
  deployments: readonly Deployment[],
  run: (deployment: Deployment) => Promise<RunResult>,
  atOnce: number,
): Promise<{ readonly results: readonly RunResult[]; readonly failures: readonly string[] }> {
  const waiting = [...deployments];
  const results: RunResult[] = [];
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { number, name } = next;
      await run(next).then(
        (result) => results.push(result),
        (error: unknown) => failures.push(`${number} ${name}: ${describe(error)}`),
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { results: results.toSorted((a, b) => a.deployment.number - b.deployment.number), failures };
}

/** Ctrl-C ends everything that was started before it ends the harness. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort(new Error(`The harness was told to stop by ${name}.`)));
  }
  return controller.signal;
}
