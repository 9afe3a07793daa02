import { expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ModelMessage, ModelPart } from '../../../src/adapter-kit.ts';
import { ask, collect, rollDice, textIn } from '../../fixtures/models-requests.ts';
import { claude as answered, chunk } from '../../fixtures/models-server.ts';

const THOUGHT = 'Let me think about it.';
const claude = [
  { type: 'message_start', message: { id: 'm', usage: { input_tokens: 40, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: THOUGHT } },
];
const summary = { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' };

/** What arrives of an answer that breaks off. */
async function partsOf(id: string, events: readonly unknown[]): Promise<readonly ModelPart[]> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const models = createAiSdkModels({
    environment: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' },
    providers: { local: { baseUrl: 'http://models.test/v1' } },
    fetch: async () => new Response(body),
  });
  const parts: ModelPart[] = [];
  const model = await models.open(id);
  const reading = (async () => {
    for await (const part of model.stream(ask('hello'), { signal: AbortSignal.timeout(5000) })) parts.push(part);
  })();
  await expect(reading).rejects.toMatchObject({ reason: 'transient' });
  return parts;
}

// Without it, a call that is stopped while the model reasons would count as free.
test.each([
  ['anthropic:claude-haiku-4-5', THOUGHT, claude],
  ['google:gemini-2.5-flash', THOUGHT, [{ candidates: [{ content: { parts: [{ text: THOUGHT, thought: true }] } }] }]],
  ['openai:gpt-5.6-luna', '', [{ type: 'response.output_item.added', output_index: 0, item: summary }]],
  ['local:m', THOUGHT, [chunk({ reasoning_content: THOUGHT })]],
  // Text that is held back may be the answer, so only its request counts.
  ['local:m', '', [chunk({ content: '<think>Hm' })]],
  ['local:deepseek', '', [chunk({ content: 'Held back' })]],
])('%s passes on that it reasons: %j', async (id, reasoning, events) => {
  const parts = await partsOf(id, events);
  expect(parts.length).toBeGreaterThan(0);
  for (const { kind } of parts) expect(kind).toBe('reasoning');
  expect(parts.map((part) => (part.kind === 'reasoning' ? part.text : '')).join('')).toBe(reasoning);
});

interface Sent {
  readonly max_tokens: number;
  readonly thinking?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[];
}

const MISSING =
  'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).';

/** Claude, which reads its reasoning again between the calls of one turn. */
function strictClaude(sent: Sent[]): typeof fetch {
  return async (_, init) => {
    const request: Sent = JSON.parse(String(init?.body));
    sent.push(request);
    const isLooping = request.messages.at(-1)?.content.some(({ type }) => type === 'tool_result') ?? false;
    const thinks = request.messages.findLast(({ role }) => role === 'assistant')?.content[0]?.type === 'thinking';
    if (request.thinking !== undefined && isLooping && !thinks) {
      const error = { type: 'invalid_request_error', message: MISSING };
      return Response.json({ type: 'error', error }, { status: 400 });
    }
    return new Response(
      answered('Four.', 'end_turn')
        .map((event) => `data: ${JSON.stringify(event)}\n\n`)
        .join(''),
    );
  };
}

test('Claude that reasons goes on after its calls', async () => {
  const sent: Sent[] = [];
  const models = createAiSdkModels({ environment: { ANTHROPIC_API_KEY: 'k' }, fetch: strictClaude(sent) });
  const model = await models.open('anthropic:claude-haiku-4-5');
  const said: ModelMessage = { role: 'user', content: [{ kind: 'text', text: 'roll' }] };
  const call = { callId: 't1.1.1', tool: 'roll_dice', input: { sides: 6 } };
  const result = { callId: 't1.1.1', tool: 'roll_dice', text: '4', isError: false };
  const calling: ModelMessage = { role: 'assistant', text: '', calls: [call] };
  const steps: readonly ModelMessage[] = [said, calling, { role: 'tool', results: [result] }];
  const answer: ModelMessage = { role: 'assistant', text: 'Four.', calls: [] };
  for (const messages of [[said], steps, steps, [...steps, answer, said]]) {
    const request = ask('', { messages, tools: [rollDice], effort: 'high', maxOutputTokens: 2000 });
    expect(textIn(await collect(model, request))).toBe('Four.');
  }
  expect(sent.map(({ thinking }) => thinking !== undefined)).toEqual([true, true, false, false, true]);
  expect(sent[2]?.max_tokens).toBe(2000);
});
