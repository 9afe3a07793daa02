// A model provider of your own: any server that streams text. In config.toml:
//   [plugins.llama]
//   file = "./own-model.ts"
//   url = "http://127.0.0.1:8080/completion"
//   [defaults]
//   model = "llama:local"
// Then start the bot: npx strata start
import { type ChatModel, definePlugin, ModelError, type ModelRequest } from 'stratabot';
import type { ModelMessage } from 'stratabot/adapter-kit';
import { z } from 'zod';

const WINDOW_TOKENS = 8192;
const NOT_REPORTED = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export default definePlugin({
  name: 'llama',
  settings: z.strictObject({ url: z.url() }),
  models: ({ url }) => ({ llama: async (name) => createModel(`llama:${name}`, url) }),
});

function createModel(id: string, url: string): ChatModel {
  const failed = (reason: 'transient' | 'fatal', detail: string, cause?: unknown) =>
    new ModelError({ model: id, reason, detail }, { cause });
  return {
    id,
    // Without tools, Strata asks for JSON where it needs structure.
    traits: { windowTokens: WINDOW_TOKENS, tools: false, images: false },
    async *stream(request, { signal }) {
      const body = JSON.stringify({
        prompt: promptOf(request),
        n_predict: request.maxOutputTokens,
        json: request.json,
      });
      const response = await fetch(url, { method: 'POST', body, signal }).catch((error: unknown) => {
        throw failed('transient', `${url} is not reachable`, error);
      });
      if (response.status >= 500) throw failed('transient', `the server answered ${response.status}`);
      if (!response.ok || response.body === null) throw failed('fatal', `the server answered ${response.status}`);
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) yield { kind: 'text', text };
      yield { kind: 'finish', reason: 'stop', usage: NOT_REPORTED };
    },
  };
}

function promptOf({ system, messages }: ModelRequest): string {
  return [...system.map(({ text }) => text), ...messages.map(lineOf), 'Assistant:'].join('\n\n');
}

function lineOf(message: ModelMessage): string {
  if (message.role === 'assistant') return `Assistant: ${message.text}`;
  if (message.role === 'tool') return message.results.map(({ tool, text }) => `Result of ${tool}: ${text}`).join('\n');
  return `User: ${message.content.map((part) => (part.kind === 'text' ? part.text : '[image]')).join('\n')}`;
}
