import { z } from 'zod';
import { didYouMean } from '../util/did-you-mean.ts';
import type { BotOptions } from './options.ts';

const other = z.unknown().optional();

function hasFields(value: unknown, kind: 'function' | 'object', names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === kind);
}

function withFields(kind: 'function' | 'object', names: readonly string[]) {
  return z.custom((value) => hasFields(value, kind, names), `expected an object with ${names.join(', ')}`);
}

const DIRECTORY = ['agentFor', 'agent', 'list'];
const agents = z.custom(
  (value) => Array.isArray(value) || hasFields(value, 'function', DIRECTORY),
  `expected a list of agents, or an object with ${DIRECTORY.join(', ')}`,
);

const own = z.custom((value) => typeof value === 'function', 'expected a function that returns prices by model');

const traits = z.object({
  idempotentPosts: z.boolean(),
  ephemeral: z.boolean(),
  commandPrefix: z.string(),
  personIds: z.enum(['platform', 'workspace']),
});
const channel = withFields('function', ['start', 'split', 'post', 'show', 'linkTo', 'stop']).pipe(
  z.object({
    platform: z.string().regex(/^[a-z][a-z0-9-]*$/, 'expected lower-case letters, digits and -'),
    traits,
  }),
);

const shapes = {
  storage: withFields('object', ['store', 'search', 'state', 'provenance', 'upkeep']),
  queue: withFields('function', ['kick', 'process', 'idle', 'stats', 'close']),
  models: withFields('function', ['open', 'choose']),
  channels: z.array(channel).optional(),
  prices: z.strictObject({ list: withFields('function', ['find']).optional(), own: own.optional() }).optional(),
  tools: z.array(withFields('function', ['run'])).optional(),
  commands: z.array(withFields('function', ['run'])).optional(),
  engines: z.record(z.string(), withFields('function', ['assemble', 'maintain'])).optional(),
  agents: agents.optional(),
  hooks: z.array(z.unknown(), 'expected a list').optional(),
  reranker: withFields('function', ['rerank', 'embed']).optional(),
  prompts: withFields('function', ['render', 'keep', 'renderKept']).optional(),
  log: withFields('function', ['debug', 'info', 'warn', 'error']).optional(),
  clock: withFields('function', ['now', 'sleep']).optional(),
  random: withFields('function', ['id', 'next']).optional(),
  ...{ role: other, workers: other, retentionDays: other, logText: other, dataLocation: other },
  ...{ inspectorLink: other, configTrouble: other },
} satisfies Readonly<Record<keyof BotOptions, z.ZodType>>;
const schema = z.strictObject(shapes);

/** What the compiler tells programs in TypeScript: missing options, options of another kind, and unknown names. */
export function shapeFaults(options: BotOptions): readonly string[] {
  return (schema.safeParse(options).error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => unknownOption([...issue.path, name].join('.')))
      : [`${issue.path.join('.')}: ${issue.message}`],
  );
}

function unknownOption(name: string): string {
  const meant = didYouMean(name, Object.keys(shapes));
  return `${name}: unknown option${meant === null ? '' : `; did you mean ${meant}?`}`;
}
