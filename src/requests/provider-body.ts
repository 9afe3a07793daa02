import type { JsonValue } from '../domain/message.ts';
import type { ModelMessage, UserContent } from '../ports/model.ts';
import type { ExplainedReply } from './explain.ts';

/** The HTTP interfaces that `providerBody` can write a request for. */
export const BODY_FORMS = ['openai', 'anthropic'] as const;
export type BodyForm = (typeof BODY_FORMS)[number];
type Json = Readonly<Record<string, JsonValue>>;

/** A request as the body of a provider's HTTP interface, for trying it elsewhere. Without settings of one SDK. */
export function providerBody(
  form: BodyForm,
  { request, modelId }: Pick<ExplainedReply, 'request' | 'modelId'>,
): Readonly<Record<string, JsonValue>> {
  const model = modelId.slice(modelId.indexOf(':') + 1);
  return form === 'openai' ? openaiBody(model, request) : anthropicBody(model, request);
}

type Request = ExplainedReply['request'];

function openaiBody(model: string, { system, messages, tools, maxOutputTokens }: Request): Json {
  const first = system.map(({ text }) => ({ role: 'system', content: text }));
  return {
    model,
    max_completion_tokens: maxOutputTokens,
    messages: [...first, ...messages.flatMap(openaiMessages)],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema: parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
        }),
  };
}

function openaiMessages(message: ModelMessage): readonly Json[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.content.map(openaiContent) }];
    case 'assistant': {
      const calls = message.calls.map(({ callId, tool, input }) => ({
        id: callId,
        type: 'function',
        function: { name: tool, arguments: JSON.stringify(input) },
      }));
      return [{ role: 'assistant', content: message.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
    }
    case 'tool':
      return message.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
    default:
      return message satisfies never;
  }
}

function openaiContent(part: UserContent): Json {
  return part.kind === 'text' ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: part.url } };
}

function anthropicBody(model: string, { system, messages, tools, maxOutputTokens }: Request): Json {
  const blocks = system.map(({ text, cacheBreak }) => ({
    type: 'text',
    text,
    ...(cacheBreak ? { cache_control: { type: 'ephemeral' } } : {}),
  }));
  return {
    model,
    max_tokens: maxOutputTokens,
    system: blocks,
    messages: messages.map(anthropicMessage),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
        }),
  };
}

function anthropicMessage(message: ModelMessage): Json {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content.map(anthropicContent) };
    case 'assistant': {
      const calls = message.calls.map(({ callId: id, tool: name, input }) => ({ type: 'tool_use', id, name, input }));
      return {
        role: 'assistant',
        content: [...(message.text === '' ? [] : [{ type: 'text', text: message.text }]), ...calls],
      };
    }
    case 'tool': {
      const results = message.results.map(({ callId, text, isError }) => ({
        type: 'tool_result',
        tool_use_id: callId,
        content: text,
        is_error: isError,
      }));
      return { role: 'user', content: results };
    }
    default:
      return message satisfies never;
  }
}

function anthropicContent(part: UserContent): Json {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return { type: 'image', source: { type: 'url', url: part.url } };
}
