import { parseArgs } from 'node:util';
import { z } from 'zod';
import { describe } from '../../../src/adapter-kit.ts';
import { DEPLOYMENTS } from './deployments.ts';

export const HELP = `Kills the processes and servers of a running bot, then checks that nothing was lost, duplicated or forgotten.

  npm run faults                      5,000 messages and 50 kills for each of the four deployments
  npm run faults -- --short           about a minute for all four
  npm run faults -- --short --break compare-and-set
                                      late results are stored anyway; must report damage

  --deployments 1,3   their numbers in docs/scaling.md; default: all
  --messages N        messages for each deployment
  --kills N           kills for each deployment
  --seed N            repeats the plan of an earlier run; every run prints its seed
  --short             240 messages and 6 kills, unless set otherwise
  --break NAME        turns a guard off: compare-and-set
  --help              prints this text

The table goes to standard output, progress to standard error. Exit code: 0 all invariants hold, 1 damage, 2 wrong usage.
`;

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

export type HarnessOptions = z.infer<typeof optionsSchema>;

/** Wrong use, as lines for standard error. */
export interface Misuse {
  readonly problem: string;
}

export function readOptions(args: readonly string[]): HarnessOptions | Misuse | 'help' {
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
    const { values } = parseArgs({ args: [...args], options });
    if (values.help === true) return 'help';
    const parsed = optionsSchema.safeParse(values);
    if (parsed.success) return parsed.data;
    return misuse(parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`));
  } catch (error) {
    return misuse([describe(error)]);
  }
}

function misuse(problems: readonly string[]): Misuse {
  return { problem: [...problems, '`npm run faults -- --help` shows what can be given.', ''].join('\n') };
}
