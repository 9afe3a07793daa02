import { z } from 'zod';

/** The messages between the harness and a process of the bot, over Node's channel between parent and child. */
export const PLATFORM = 'scripted';

/** Steps of the store that a process can be stopped in, right before or right after. */
export const STEPS = [
  'append',
  'commitTurn',
  'commitCompaction',
  'commitCondensation',
  'commitExtraction',
  'sent',
] as const;
export type Step = (typeof STEPS)[number];

export const trapSchema = z.object({
  step: z.enum(STEPS),
  when: z.enum(['before', 'after']),
  /** `die` is kill -9; `freeze` is a machine that pauses until it is released. */
  act: z.enum(['die', 'freeze']),
});
export type Trap = z.infer<typeof trapSchema>;

export const lifeSchema = z.object({
  role: z.enum(['gateway', 'worker', 'all']),
  config: z.string(),
  /** Results that arrive too late are recorded too. */
  ignoresCompareAndSet: z.boolean(),
});
export type Life = z.infer<typeof lifeSchema>;

export const commandSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('deliver'),
    delivery: z.number(),
    channel: z.string(),
    id: z.string(),
    text: z.string(),
    asks: z.boolean(),
    at: z.number(),
  }),
  z.object({ kind: z.literal('posted'), call: z.number(), id: z.string() }),
  z.object({ kind: z.literal('refused'), call: z.number() }),
  trapSchema.extend({ kind: z.literal('trap') }),
  z.object({ kind: z.literal('disarm') }),
]);
export type Command = z.infer<typeof commandSchema>;

export const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('acknowledged'), delivery: z.number() }),
  z.object({ kind: z.literal('rejected'), delivery: z.number(), reason: z.string() }),
  z.object({
    kind: z.literal('post'),
    call: z.number(),
    nonce: z.string(),
    channel: z.string(),
    text: z.string(),
    replyTo: z.string().nullable(),
  }),
  /** What the store answered to a commit. */
  z.object({ kind: z.literal('committed'), step: z.enum(STEPS), isStale: z.boolean(), isForced: z.boolean() }),
  z.object({
    kind: z.literal('trapped'),
    step: z.enum(STEPS),
    act: z.enum(['die', 'freeze']),
    conversationId: z.number(),
  }),
]);
export type Report = z.infer<typeof reportSchema>;
