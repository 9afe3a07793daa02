import { parseArgs } from 'node:util';
import { z } from 'zod';
import { describe } from '../../../src/adapter-kit.ts';
import { DEPLOYMENTS, type Deployment } from './deployments.ts';
import type { RunResult } from './result.ts';
import { runDeployment } from './run.ts';
import { whyNot } from './servers.ts';
import { formatCount, formatDamage, formatTable, type Skipped } from './table.ts';

/** `npm run faults -- [--short] [--seed N] …`: the bot in real processes, under everything that can happen to them. */
const HELP = `Kills the processes and servers of a running bot, then checks that nothing was lost, doubled or forgotten.

  npm run faults                      5,000 messages and 50 kills for each of the four deployments
  npm run faults -- --short           about a minute for all four
  npm run faults -- --short --break compare-and-set
                                      results that come too late are written all the same: must report damage

  --deployments 1,3   which of docs/scaling.md; default: all
  --messages N        for each deployment
  --kills N           for each deployment
  --seed N            plays the same plan again; printed with every run
  --short             240 messages and 6 kills, unless they are given
  --break NAME        compare-and-set
  --help

The table goes to standard output, progress to standard error. Exit code: 0 all invariants hold, 1 damage, 2 wrong usage.
`;

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

const whole = z.coerce.number().int();
const optionsSchema = z.object({
  short: z.boolean().default(false),
  deployments: z
    .string()
    .default('1,2,3,4')
    .transform((list) => list.split(',').map(Number))
    .refine(
      (numbers) => numbers.every((number) => DEPLOYMENTS.some((known) => known.number === number)),
      'expected numbers of deployments, for example 1,3',
    ),
  messages: whole.min(1).max(90_000).optional(),
  kills: whole.min(1).max(1000).optional(),
  seed: whole.min(0).optional(),
  break: z.literal('compare-and-set', 'the only guard that can be broken is compare-and-set').optional(),
});

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (options === null) return 2;
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
  readonly options: z.infer<typeof optionsSchema>;
  readonly seed: number;
  readonly signal: AbortSignal;
}

async function runOne(deployment: Deployment, { options, seed, signal }: Setting): Promise<RunResult> {
  const size = options.short ? SHORT : LONG;
  const onProgress = (words: string) => process.stderr.write(`${deployment.number} ${deployment.name}: ${words}\n`);
  onProgress('starts');
  const result = await runDeployment({
    ...size,
    ...{ deployment, seed, signal, onProgress, isJavaScript: false },
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

function readOptions(): z.infer<typeof optionsSchema> | 'help' | null {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const options = {
      short: flag,
      help: flag,
      deployments: text,
      messages: text,
      kills: text,
      seed: text,
      break: text,
    };
    const { values } = parseArgs({ options });
    if (values.help === true) return 'help';
    const parsed = optionsSchema.safeParse(values);
    if (parsed.success) return parsed.data;
    const words = parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`);
    process.stderr.write(`${words.join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
  }
  process.stderr.write('`npm run faults -- --help` shows what can be given.\n');
  return null;
}

/** Ctrl-C ends everything that was started before it ends the harness. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort(new Error(`The harness was told to stop by ${name}.`)));
  }
  return controller.signal;
}
