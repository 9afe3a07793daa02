import { z } from 'zod';
import { StrataError } from '../domain/errors.ts';
import { parseKey } from '../domain/key.ts';
import { AUDIENCES, type InboundMessage } from '../domain/message.ts';
import { type ChannelSink, RIGHTS } from '../ports/channel.ts';
import { faultsOf } from '../util/errors/faults.ts';
import { MAX_TIME_MS } from '../util/time/time.ts';

const conversation = z.string().refine(isKey, 'expected a key that makeKey has made');
const author = z.object({ id: z.string(), name: z.string(), kind: z.enum(['person', 'bot']) });
const part = z
  .looseObject({ kind: z.string() })
  .refine(({ kind, text }) => kind !== 'text' || typeof text === 'string', 'expected a text');
/** A time beyond the calendar could be stored, and whatever shows it would fail. */
const at = z.number().min(-MAX_TIME_MS).max(MAX_TIME_MS);
const message = z.object({
  conversation,
  externalId: z.string(),
  author,
  audience: z.enum(AUDIENCES),
  text: z.string(),
  attachments: z.array(part),
  replyTo: z.string().nullable(),
  mentions: z.array(author),
  addressesBot: z.boolean(),
  at,
});
const invocation = z.object({
  // Which one it is, the command checks: its failures are answers.
  conversation: z.string(),
  author,
  rights: z.enum(RIGHTS),
  path: z.array(z.string()),
  options: z.record(z.string(), z.string()),
});

const WORKSPACE = 'expected a key that makeKey has made, or an object with workspace';
/** The arguments of each method, in their order. */
const calls = {
  edited: z.tuple([z.object({ conversation, externalId: z.string(), parts: z.array(part), at })]),
  removed: z.tuple([z.object({ conversation, externalIds: z.array(z.string()) })]),
  command: z.tuple([invocation]),
  suggest: z.tuple([invocation, z.string()]),
  audienceChanged: z.tuple([conversation, z.enum(AUDIENCES)]),
  left: z.tuple([z.union([conversation, z.object({ workspace: z.string() })], WORKSPACE)]),
} satisfies { readonly [Method in keyof ChannelSink]?: z.ZodType };

/** Checks what the compiler checks for channels in TypeScript. Throws `MESSAGE_INVALID`. */
export function checkMessage(given: InboundMessage): void {
  const faults = faultsOf(message, given);
  if (faults.length > 0) throw new StrataError('MESSAGE_INVALID', { problem: faults.join('; ') });
}

/** The same for the other methods of the sink. */
export function checkCall<Method extends keyof typeof calls>(
  method: Method,
  ...given: Readonly<Parameters<ChannelSink[Method]>>
): void {
  const faults = faultsOf(calls[method], given).map((fault) => ofArgument(fault, given.length));
  if (faults.length > 0) throw new StrataError('MESSAGE_INVALID', { problem: faults.join('; '), method });
}

/** `[0].parts: is missing` of the only argument is `parts: is missing`. */
function ofArgument(fault: string, count: number): string {
  const name = (index: string) => (count === 1 ? '' : `argument ${Number(index) + 1}: `);
  return fault.replace(/^\[(\d)\](?:\.|: )/, (_, index: string) => name(index));
}

function isKey(text: string): boolean {
  try {
    return parseKey(text).key === text;
  } catch {
    return false;
  }
}
