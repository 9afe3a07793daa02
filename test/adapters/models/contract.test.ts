import { useAimock } from '@copilotkit/aimock/vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import type { ChatModel } from '../../../src/adapter-kit.ts';
import { modelContract } from '../../contracts/model.ts';
import { silentLog } from '../../fixtures/models-requests.ts';

const mock = useAimock({ strict: false, port: 0 });

function open(id: string, url: string): Promise<ChatModel> {
  const environment = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url };
  const providers = { local: { baseUrl: `${url}/v1` } };
  return createAiSdkModels({ environment, providers, builtIn: {}, log: silentLog }).open(id);
}

for (const id of ['local:m', 'anthropic:claude-haiku-4-5']) {
  modelContract(id, {
    async create() {
      const { llm, url } = mock();
      llm.clearFixtures();
      llm.on({}, { content: 'A good morning to you, and to all of your friends.' }, { chunkSize: 5 });
      return { model: await open(id, url), dispose: async () => undefined };
    },
    createBroken: () => open(id, 'http://127.0.0.1:9'),
  });
}

modelContract('offline:demo', {
  create: async () => ({ model: createOfflineModel(), dispose: async () => undefined }),
});
