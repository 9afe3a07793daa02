import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { withDirectory } from '../directory.ts';
import type { RowOptions, RowResult } from '../figure.ts';
import { measureFullStarts } from '../full-start.ts';
import { median } from '../samples.ts';

const ENTRY = fileURLToPath(new URL('../../bin/strata.js', import.meta.url));

/** From the start of the process to the answer of a command that was typed ahead, which is always after the prompt. */
export async function start({ quick }: RowOptions): Promise<RowResult> {
  const rounds = quick ? 5 : 15;
  const bare: number[] = [];
  const ours: number[] = [];
  await withDirectory(async (directory) => {
    const first = await startToAnswer(directory);
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await startToEnd());
      ours.push(await startToAnswer(directory));
    }
    return first;
  });
  return {
    figures: [
      {
        figure: 'start to ready, terminal',
        unit: 'ms',
        baseline: { of: 'node -e 0', value: median(bare) },
        ours: median(ours),
        bar: { of: 'ours', is: 'below', value: 350 },
      },
      ...(await measureFullStarts(quick)),
    ],
    notes: [
      `Median of ${rounds} starts on an existing data directory, after one that filled Node's compile cache.`,
      'All conversations of a full store were active recently, so catching up looks at each of them. Memory is the largest resident set of the process until that is done.',
    ],
  };
}

async function startToEnd(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', '0']), 'exit');
  return performance.now() - startedAt;
}

async function startToAnswer(directory: string): Promise<number> {
  const startedAt = performance.now();
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [ENTRY, 'start', '--data', directory]);
  const ended = once(child, 'exit');
  child.stdin.write('/help\n');
  await Promise.race([once(child.stdout, 'data'), ended]);
  const time = performance.now() - startedAt;
  child.stdout.resume();
  child.stderr.resume();
  child.stdin.end();
  await ended;
  return time;
}
