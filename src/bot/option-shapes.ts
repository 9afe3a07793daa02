import { z } from 'zod';
import { ENGINE_METHODS } from '../ports/engine-methods.ts';
import { SEVERITIES } from '../ports/log.ts';
import { faultText, fieldOf, inWords } from '../util/errors/faults.ts';
import { kindOf } from '../util/errors/kind-of.ts';
import { didYouMean } from '../util/text/did-you-mean.ts';
import { type BotOptions, PROCESS_ROLES } from './options.ts';

type Kind = 'function' | 'object';

const isFields = (value: unknown): value is object => typeof value === 'object' && value !== null;

function missingOf(value: object, kind: Kind, names: readonly string[]): readonly string[] {
  return names.filter((name) => typeof Reflect.get(value, name) !== kind);
}

function hasFields(value: unknown, kind: Kind, names: readonly string[]): boolean {
  return isFields(value) && missingOf(value, kind, names).length === 0;
}

function withFields(kind: Kind, names: readonly string[]) {
  return z.custom((value) => hasFields(value, kind, names), {
    error: ({ input }) => `expected an object with ${names.join(', ')}; ${cameAs(input, kind, names)}`,
  });
}

function got(value: unknown): string {
  return `got ${kindOf(value)}${value instanceof Promise ? ', so await it' : ''}`;
}

function cameAs(value: unknown, kind: Kind, names: readonly string[]): string {
  if (value instanceof Promise || !isFields(value)) return got(value);
  const missing = missingOf(value, kind, names);
  return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
}

const aFunction = (returns: string) =>
  z.custom((value) => typeof value === 'function', `expected a function that returns ${returns}`);

const days = z.custom(
  (value) => typeof value === 'function' || wholeNumber(0).safeParse(value).success,
  'expected a whole number of at least 0, or a function that returns one',
);

const DIRECTORY = ['agentFor', 'agent', 'list'];
const agents = z.custom(
  (value) => Array.isArray(value) || hasFields(value, 'function', DIRECTORY),
  `expected a list of agents, or an object with ${DIRECTORY.join(', ')}`,
);

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

const engine = withFields('function', ENGINE_METHODS).pipe(z.object({ info: z.object({ id: z.string() }) }));

const wholeNumber = (least: number) => {
  const error = ({ input }: { readonly input?: unknown }) =>
    `expected a whole number of at least ${least}, got ${typeof input === 'number' ? input : typeof input}`;
  return z.int({ error }).min(least, { error });
};

const shapes = {
  storage: withFields('object', ['store', 'search', 'state', 'provenance', 'upkeep']),
  queue: withFields('function', ['kick', 'process', 'idle', 'stats', 'close']),
  models: withFields('function', ['open', 'choose']).pipe(z.object({ providers: z.array(z.string()).optional() })),
  channels: z.array(channel).optional(),
  prices: z
    .strictObject({ list: withFields('function', ['find']).optional(), own: aFunction('prices by model').optional() })
    .optional(),
  tools: z.array(withFields('function', ['run'])).optional(),
  commands: z.array(withFields('function', ['run'])).optional(),
  engines: z.record(z.string(), engine).optional(),
  agents: agents.optional(),
  hooks: z.array(z.unknown(), 'expected a list').optional(),
  reranker: withFields('function', ['rerank', 'embed']).optional(),
  prompts: withFields('function', ['render', 'keep', 'renderKept']).optional(),
  log: withFields('function', SEVERITIES).optional(),
  clock: withFields('function', ['now', 'sleep']).optional(),
  random: withFields('function', ['id', 'next']).optional(),
  role: z.enum(PROCESS_ROLES, `expected ${PROCESS_ROLES.join(', ')}`).optional(),
  workers: wholeNumber(1).optional(),
  retentionDays: days.optional(),
  logText: z.boolean().optional(),
  dataLocation: z.string().optional(),
  inspectorLink: aFunction('an address or null').optional(),
  configTrouble: aFunction('a sentence or null').optional(),
} satisfies Readonly<Record<keyof BotOptions, z.ZodType>>;
const schema = z.strictObject(shapes, {
  error: ({ code, input }) => (code === 'invalid_type' ? noOptions(input) : undefined),
});

function noOptions(value: unknown): string {
  return `expected an object with the options, ${got(value)}`;
}

/** What the compiler reports to programs in TypeScript: missing options, wrong kinds of options, unknown names. */
export function shapeFaults(options: BotOptions): readonly string[] {
  if (options instanceof Promise) return [noOptions(options)];
  return (schema.safeParse(options, { error: inWords }).error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => unknownOption(fieldOf([...issue.path, name])))
      : [faultText(issue)],
  );
}

function unknownOption(name: string): string {
  const meant = didYouMean(name, Object.keys(shapes));
  return `${name}: unknown option${meant === null ? '' : `; did you mean ${meant}?`}`;
}
