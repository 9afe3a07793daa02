import { z } from 'zod';

const marked = z.looseObject({ role: z.string(), content: z.string(), cache_control: z.unknown() });

/** OpenRouter expects cache marks inside a content part; the SDK can only write them next to the content. */
export function withCacheMarks(body: Record<string, unknown>): Record<string, unknown> {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  return { ...body, messages: messages.map(moveMark) };
}

function moveMark(message: unknown): unknown {
  const parsed = marked.safeParse(message);
  if (!parsed.success || parsed.data.cache_control === undefined) return message;
  const { content, cache_control, ...rest } = parsed.data;
  return { ...rest, content: [{ type: 'text', text: content, cache_control }] };
}
