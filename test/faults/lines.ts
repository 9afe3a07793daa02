import { z } from 'zod';
import { makeKey } from '../../src/adapter-kit.ts';

/** The messages between the process of a bot and its platform. */
export const KEY = makeKey({ platform: 'lines', workspace: 'here', channel: 'talk' });

export const lifeSchema = z.object({
  directory: z.string(),
  /** Of the model's server. */
  url: z.string(),
  /** The step in which the process kills itself; empty for none. */
  killAt: z.string(),
  /** How often the step is passed before. */
  spare: z.number(),
  idleMinutes: z.number(),
});

export const commandSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), id: z.string(), text: z.string() }),
  z.object({ kind: z.literal('send'), id: z.string(), text: z.string() }),
  z.object({ kind: z.literal('taken'), nonce: z.string() }),
  z.object({ kind: z.literal('stop') }),
]);
export type Command = z.infer<typeof commandSchema>;

export const lineSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('stopped') }),
  z.object({ kind: z.literal('accepted'), id: z.string() }),
  z.object({ kind: z.literal('sent'), id: z.string(), isNew: z.boolean() }),
  z.object({ kind: z.literal('post'), nonce: z.string(), text: z.string(), replyTo: z.string().nullable() }),
  z.object({ kind: z.literal('event'), event: z.string(), at: z.number() }),
  z.object({ kind: z.literal('trouble'), message: z.string() }),
]);
export type Line = z.infer<typeof lineSchema>;
