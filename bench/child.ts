import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { z } from 'zod';
import { startEnvironment, startFlags } from './flags.ts';

const RUN = new URL('children/run.js', import.meta.url);

export interface Child<Report> {
  readonly file: URL;
  readonly args: readonly (string | number)[];
  /** Added to the flags of `npm start`. */
  readonly flags?: readonly string[];
  readonly report: z.ZodType<Report>;
}

/** Runs a program in a process of its own, as `npm start` runs Node.js, and returns the message that the program sends. */
export async function runChild<Report>(options: Child<Report>): Promise<Report> {
  const { file, args, flags = [], report } = options;
  const child = fork(RUN, [file.href, ...args.map(String)], {
    execArgv: [...flags, ...startFlags()],
    env: { ...process.env, ...startEnvironment() },
  });
  const ended = once(child, 'exit');
  const [raw]: unknown[] = await Promise.race([once(child, 'message'), ended.then(() => [null])]);
  await ended;
  return report.parse(raw);
}
