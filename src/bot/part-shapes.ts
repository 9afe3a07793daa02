import { z } from 'zod';
import { didYouMean } from '../util/did-you-mean.ts';
import type { BotParts } from './parts.ts';

const other = z.unknown().optional();

function withFields(kind: 'function' | 'object', names: readonly string[]) {
  const has = (value: unknown) =>
    typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === kind);
  return z.custom(has, `expected an object with ${names.join(', ')}`);
}

const shapes = {
  storage: withFields('object', ['store', 'search', 'state', 'provenance', 'upkeep']),
  queue: withFields('function', ['kick', 'process', 'idle', 'stats', 'close']),
  models: withFields('function', ['open', 'choose']),
  channels: z.array(withFields('function', ['start', 'split', 'post', 'show', 'linkTo', 'stop'])).optional(),
  tools: z.array(withFields('function', ['run'])).optional(),
  commands: z.array(withFields('function', ['run'])).optional(),
  engines: z.record(z.string(), withFields('function', ['assemble', 'maintain'])).optional(),
  ...{ prices: other, reranker: other, agents: other, hooks: other, prompts: other, log: other, clock: other },
  ...{ random: other, role: other, workers: other, retentionDays: other, logText: other, dataLocation: other },
  ...{ inspectorLink: other, configTrouble: other },
} satisfies Readonly<Record<keyof BotParts, z.ZodType>>;
const schema = z.strictObject(shapes);

/** What the compiler tells programs in TypeScript: missing parts, parts of another kind, and unknown names. */
export function shapeFaults(parts: BotParts): readonly string[] {
  return (schema.safeParse(parts).error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map(unknownOption) : [`${issue.path.join('.')}: ${issue.message}`],
  );
}

function unknownOption(name: string): string {
  const meant = didYouMean(name, Object.keys(shapes));
  return `${name}: unknown option${meant === null ? '' : `; did you mean ${meant}?`}`;
}
