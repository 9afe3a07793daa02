import { z } from 'zod';
import type { JsonValue, ModelPart, ToolCall, ToolSpec } from '../../../../src/adapter-kit.ts';
import { callsIn } from './call-forms.ts';

/** Longer texts are answers. */
const MAX_CHARACTERS = 100_000;

const input = z.record(z.string(), z.json());
const call = z
  .strictObject({
    type: z.literal('function').optional(),
    id: z.string().optional(),
    name: z.string(),
    arguments: input.optional(),
    parameters: input.optional(),
  })
  .transform(({ name, arguments: given, parameters }) => ({ tool: name, input: given ?? parameters ?? {} }));
const calls = z.union([call.transform((one) => [one]), z.array(call).min(1)]);

/**
 * The calls in an answer that is nothing but calls of the offered tools, as some models write them when their server has
 * no parser for calls. Empty for any other answer.
 */
export function writtenCalls(text: string, tools: readonly Pick<ToolSpec, 'name'>[]): readonly ToolCall[] {
  if (tools.length === 0 || text.length > MAX_CHARACTERS) return [];
  const found = callsIn(text.trim()).map((value) => calls.safeParse(value).data);
  const read: { tool: string; input: JsonValue }[] = [];
  for (const group of found) {
    if (group === undefined) return [];
    read.push(...group);
  }
  if (!read.every(({ tool }) => tools.some(({ name }) => name === tool))) return [];
  return read.map((one, index) => ({ callId: `written-${index + 1}`, ...one }));
}

/** The same parts, with the calls of such an answer in place of its text. */
export async function* withWrittenCalls(
  parts: AsyncIterable<ModelPart>,
  tools: readonly Pick<ToolSpec, 'name'>[],
): AsyncGenerator<ModelPart> {
  let text = '';
  let isCalling = false;
  for await (const part of parts) {
    if (part.kind === 'text') text += part.text;
    if (part.kind === 'retract') text = '';
    if (part.kind === 'call') isCalling = true;
    const isWhole = part.kind === 'finish' && !isCalling && part.reason !== 'length';
    const written = isWhole ? writtenCalls(text, tools) : [];
    if (part.kind !== 'finish' || written.length === 0) {
      yield part;
      continue;
    }
    yield { kind: 'retract' };
    for (const call of written) yield { kind: 'call', call };
    yield { ...part, reason: 'tool-calls' };
  }
}
