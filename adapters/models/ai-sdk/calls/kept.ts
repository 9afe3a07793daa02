import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ModelMessage } from '../../../../src/adapter-kit.ts';
import { parseJson } from '../wire/parse-json.ts';

/** What the SDK tells about a part, and takes back with it: signatures, encrypted reasoning, ids. */
const options = z.record(z.string(), z.record(z.string(), z.json()));
export type Options = z.infer<typeof options>;

/** The parts of a step in their order. The message has the calls themselves. */
const part = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['reasoning', 'text']), text: z.string(), options: options.optional() }),
  z.object({ kind: z.literal('call'), id: z.string(), options: options.optional() }),
]);
const fields = z.record(z.string(), z.json());
const kept = z.object({ parts: z.array(part), fields: fields.optional() });

/** What a provider wants back with the calls of a step. `fields` belong to the message as a whole. */
export type Kept = z.infer<typeof kept>;
export type KeptPart = Kept['parts'][number];

/** Null if the message has none. */
export function readKept({ reasoning }: Extract<ModelMessage, { role: 'assistant' }>): Kept | null {
  return reasoning === undefined ? null : (kept.safeParse(parseJson(reasoning)).data ?? null);
}

/** Every provider accepts these. */
const ACCEPTED = /^[\w-]{1,64}$/;

/**
 * The messages with the provider's own ids of the calls whose reasoning goes back, because it may name them. A server
 * that repeats ids gets ours.
 */
export function withProviderIds(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const pairs = messages.flatMap(idsIn);
  const theirs = new Set(pairs.map(([, id]) => id));
  if (pairs.length === 0 || theirs.size < pairs.length || ![...theirs].every((id) => ACCEPTED.test(id)))
    return messages;
  const ids = new Map(pairs);
  const rename = <One extends { readonly callId: string }>(one: One): One => {
    return { ...one, callId: ids.get(one.callId) ?? one.callId };
  };
  return messages.map((message): ModelMessage => {
    if (message.role === 'assistant') return { ...message, calls: message.calls.map(rename) };
    return message.role === 'tool' ? { role: 'tool', results: message.results.map(rename) } : message;
  });
}

/** Our id of each call and the provider's. */
function idsIn(message: ModelMessage): readonly (readonly [string, string])[] {
  const parts = (message.role === 'assistant' ? readKept(message) : null)?.parts ?? [];
  const theirs = parts.flatMap((one) => (one.kind === 'call' ? [one.id] : []));
  const calls = message.role === 'assistant' ? message.calls : [];
  return calls.length === theirs.length ? calls.map(({ callId }, at) => [callId, theirs[at] ?? callId]) : [];
}

/** The fields with other ids of calls: OpenRouter names in a signature the call that it belongs to. */
export function renamed(given: NonNullable<Kept['fields']>, ids: ReadonlyMap<string, string>): Kept['fields'] {
  const rename = (key: string, value: unknown) =>
    key === 'id' && typeof value === 'string' ? (ids.get(value) ?? value) : value;
  return fields.safeParse(parseJson(JSON.stringify(given, rename))).data;
}

export function hasReasoning({ messages }: { readonly messages: readonly ModelMessage[] }): boolean {
  return messages.some((message) => message.role === 'assistant' && message.reasoning !== undefined);
}

/** `isKept`: whether a reasoning stays. */
export function withoutReasoning<Request extends { readonly messages: readonly ModelMessage[] }>(
  request: Request,
  isKept: (reasoning: string) => boolean = () => false,
): Request {
  if (!hasReasoning(request)) return request;
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== 'assistant') return message;
    const { reasoning, ...bare } = message;
    return reasoning !== undefined && isKept(reasoning) ? message : bare;
  });
  return { ...request, messages };
}

/** After so many refusals in a row, a server is taken to refuse all of it. One may come from a change of its keys. */
const MAX_REFUSALS = 2;

/** Whether a model still gets its reasoning back. */
export function createReturns() {
  let refusals = 0;
  /** Hashes of what it has refused last. The later requests of the same turn contain it again. */
  let refused: ReadonlySet<string> = new Set();
  const isAccepted = (reasoning: string) => refused.size === 0 || !refused.has(hashOf(reasoning));
  return {
    /** The request as the model accepts it. */
    accepted: <Request extends { readonly messages: readonly ModelMessage[] }>(request: Request): Request =>
      withoutReasoning(request, refusals < MAX_REFUSALS ? isAccepted : undefined),
    /** It answers a request with its reasoning. */
    answered() {
      refusals = 0;
    },
    /** It has refused this request, and answers it without its reasoning. */
    refused({ messages }: { readonly messages: readonly ModelMessage[] }) {
      refusals += 1;
      const given = messages.flatMap((message) => (message.role === 'assistant' ? (message.reasoning ?? []) : []));
      refused = new Set(given.map(hashOf));
    },
  };
}

function hashOf(reasoning: string): string {
  return hash('sha256', reasoning, 'hex');
}
