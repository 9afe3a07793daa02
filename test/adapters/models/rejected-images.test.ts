import { expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { ask, collect, textIn } from '../../fixtures/models-requests.ts';
import { chunk, claude } from '../../fixtures/models-server.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';
const message = { role: 'user', content: [{ kind: 'image', mediaType: 'image/png', url: PIXEL }] } as const;

const refused = (message: string, code = 'invalid_value') => {
  const error = { type: 'invalid_request_error', message, code };
  return Response.json({ type: 'error', error }, { status: 400 });
};
const streamed = (events: readonly unknown[]) =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const failed = { type: 'image_parse_error', code: 'image_parse_error', message: 'x', param: null };
const item = { type: 'message', id: 'm' };
const responded = [
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'Hello' },
  { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
];
const gemini = [{ candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] }];
const completed = [chunk({ content: 'Hello' }, 'stop')];

/** Answers only what has no image. */
async function textOf(id: string, refusal: Response, answer: readonly unknown[]): Promise<string> {
  const models = createAiSdkModels({
    environment: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' },
    providers: { local: { baseUrl: 'http://models.test/v1' } },
    fetch: async (_, init) => {
      if (init?.body === undefined) {
        return Response.json({ data: [{ id: 'm', architecture: { input_modalities: ['image'] } }] });
      }
      return String(init.body).includes('iVBOR') ? refusal : streamed(answer);
    },
  });
  return textIn(await collect(await models.open(id), ask('', { messages: [message] })));
}

test.each([
  ['anthropic:m', refused('messages.0.content.0.image.source.base64.data: Could not process image'), claude],
  ['anthropic:m', refused('messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6 bytes > 5'), claude],
  ['google:m', refused('Unable to process input image. Please retry or report'), gemini],
  ['google:m', refused('Unsupported MIME type: image/gif'), gemini],
  ['openai:m', refused('The image data you provided does not represent a valid image.'), responded],
  ['openai:m', refused('You uploaded an unsupported image.', 'invalid_image_format'), responded],
  ['openai:m', streamed([{ type: 'error', sequence_number: 1, error: failed }]), responded],
  ['local:m', refused('cannot identify image file'), completed],
  ['local:m', refused('Failed to load image or audio file'), completed],
] as const)('%s answers without an image that it cannot read', async (id, refusal, answer) => {
  expect(await textOf(id, refusal, typeof answer === 'function' ? answer('Hello', 'end_turn') : answer)).toBe('Hello');
});

test('another refusal of a message with an image stays one', async () => {
  await expect(textOf('anthropic:m', refused('I do not like it'), [])).rejects.toMatchObject({ reason: 'fatal' });
});
