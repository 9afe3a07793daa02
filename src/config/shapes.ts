import { z } from 'zod';

/** Name of an agent, a provider, a section or a plugin. */
export const name = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected lower-case letters, digits, - and _');

/** A model as `provider:model`. */
export function modelId(example: string): z.ZodString {
  return z.string().regex(/^[a-z0-9][a-z0-9_-]*:\S+$/, `expected provider:model, for example ${example}`);
}
export const modelOrAuto = z
  .string()
  .regex(/^(auto|[a-z0-9][a-z0-9_-]*:\S+)$/, 'expected "auto" or provider:model, for example openai:gpt-4.1-mini');
export const modelOrNothing = z
  .string()
  .regex(/^$|^[a-z0-9][a-z0-9_-]*:\S+$/, 'expected nothing, or provider:model, for example local:bge-reranker-v2-m3');

const ADDRESS = /^(\[[\da-f:]+\]|[^\s:/@]+):\d{1,5}$/i;

/** Whether a text is `host:port`, with an IPv6 address in brackets. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/** Address of a server, or nothing. */
export function address(example: string): z.ZodString {
  const expected = `expected host:port, for example ${example}, or nothing`;
  return z.string().refine((text) => text === '' || isAddress(text), expected);
}
