import { expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ModelPart } from '../../../src/adapter-kit.ts';
import { ask } from '../../fixtures/models-requests.ts';
import { chunk } from '../../fixtures/models-server.ts';

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
  ['local:m', '<think>Hm', [chunk({ content: '<think>Hm' })]],
  ['local:deepseek', 'Held back', [chunk({ content: 'Held back' })]],
])('%s passes on that it reasons: %j', async (id, reasoning, events) => {
  const parts = await partsOf(id, events);
  expect(parts.length).toBeGreaterThan(0);
  for (const { kind } of parts) expect(kind).toBe('reasoning');
  expect(parts.map((part) => (part.kind === 'reasoning' ? part.text : '')).join('')).toBe(reasoning);
});
