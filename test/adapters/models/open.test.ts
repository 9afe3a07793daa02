import { describe, expect, test } from 'vitest';
import { type AiSdkModelsOptions, createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import { silentLog } from '../../fixtures/models-requests.ts';
import { type Answer, serve } from '../../fixtures/models-server.ts';

const nowhere = 'http://127.0.0.1:1';

function models(options: Partial<AiSdkModelsOptions> = {}) {
  return createAiSdkModels({
    environment: { OLLAMA_HOST: nowhere },
    providers: {},
    builtIn: { offline: async () => createOfflineModel() },
    log: silentLog,
    ...options,
  });
}

describe('open', () => {
  test.each([
    ['openai:gpt-4.1', 'OPENAI_API_KEY'],
    ['anthropic:claude-haiku-4-5', 'ANTHROPIC_API_KEY'],
    ['google:gemini-2.5-flash', 'GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY'],
    ['openrouter:openai/gpt-4.1', 'OPENROUTER_API_KEY'],
  ])('%s without a key names %s', async (id, variable) => {
    await expect(models().open(id)).rejects.toMatchObject({ code: 'MODEL_KEY_MISSING', data: { model: id, variable } });
    const blank = Object.fromEntries(variable.split(' or ').map((name) => [name, '  ']));
    await expect(models({ environment: blank }).open(id)).rejects.toMatchObject({ code: 'MODEL_KEY_MISSING' });
  });

  test.each(['sk-“123”', 'sk-\u200b123', 'sk-1\n23', '"sk-123"'])(
    '%j is no key, and no error shows it',
    async (key) => {
      const opened = models({ environment: { OPENAI_API_KEY: key } }).open('openai:gpt-4.1');
      await expect(opened).rejects.toMatchObject({ code: 'MODEL_KEY_INVALID', data: { variable: 'OPENAI_API_KEY' } });
      await expect(opened).rejects.not.toThrow('123');
      const given = models({ providers: { mine: { baseUrl: nowhere, apiKey: key } } }).open('mine:m');
      await expect(given).rejects.toMatchObject({ data: { variable: 'api_key in [providers.mine]' } });
    },
  );

  test('uses no key from the process environment', async () => {
    const before = process.env['OPENAI_API_KEY'];
    process.env['OPENAI_API_KEY'] = 'from the process';
    try {
      await expect(models().open('openai:gpt-4.1')).rejects.toMatchObject({ code: 'MODEL_KEY_MISSING' });
    } finally {
      if (before === undefined) delete process.env['OPENAI_API_KEY'];
      else process.env['OPENAI_API_KEY'] = before;
    }
  });

  test.each([
    ['opnai:gpt-4.1', /no provider "opnai".*did you mean "openai:gpt-4\.1"/],
    ['anthropc:claude', /did you mean "anthropic:claude"/],
    ['zzz:model', /no provider "zzz" among anthropic, openai, google, openrouter, ollama, mine, offline/],
    ['openai/gpt-4.1', /does not name a provider; did you mean "openai:gpt-4\.1"/],
    ['gpt-4.1', /does not name a provider/],
    ['openai:', /does not name a provider/],
    ['', /does not name a provider/],
    ['constructor:x', /no provider "constructor"/],
    ['offline:other', /the built-in model is offline:demo/],
  ])('"%s" cannot be used, and the reason says why', async (id, reason) => {
    const opened = models({ providers: { mine: { baseUrl: nowhere } } }).open(id);
    await expect(opened).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      data: { reason: expect.stringMatching(reason) },
    });
  });

  test('the built-in model needs nothing', async () => {
    const model = await models().open('offline:demo');
    expect(model).toMatchObject({ id: 'offline:demo', traits: { windowTokens: 2000, tools: true, images: false } });
  });

  test('a model is opened once', async () => {
    const provider = models({ environment: { OPENAI_API_KEY: 'k' } });
    expect(await provider.open('openai:gpt-4.1')).toBe(await provider.open('openai:gpt-4.1'));
  });

  test('retries what failed', async () => {
    let loads = 0;
    const builtIn = {
      offline: async () => {
        loads += 1;
        if (loads === 1) throw new Error('disk trouble');
        return createOfflineModel();
      },
    };
    const provider = models({ builtIn });
    await expect(provider.open('offline:demo')).rejects.toThrow('disk trouble');
    expect((await provider.open('offline:demo')).id).toBe('offline:demo');
  });

  test('asks a compatible server for window and abilities', async () => {
    const listed = [
      { id: 'vllm', max_model_len: 8192 },
      { id: 'groq', context_window: 131_072 },
      { id: 'llama', meta: { n_ctx: 4096 } },
      {
        id: 'router',
        context_length: 32_768,
        supported_parameters: ['temperature'],
        architecture: { input_modalities: ['text', 'image'] },
      },
      { id: 'mistral', max_context_length: 32_768, capabilities: { function_calling: false, vision: true } },
      { id: 'odd', context_length: 'large' },
      'no model',
    ];
    await using server = await serve((_, response) => void response.end(JSON.stringify({ data: listed })));
    const provider = models({
      providers: { mine: { baseUrl: `${server.url}/v1/`, apiKey: 'secret', windows: { odd: 1234 } } },
    });
    const traitsOf = async (name: string) => (await provider.open(`mine:${name}`)).traits;
    expect(await traitsOf('vllm')).toEqual({ windowTokens: 8192, tools: true, images: false });
    expect(await traitsOf('groq')).toMatchObject({ windowTokens: 131_072 });
    expect(await traitsOf('llama')).toMatchObject({ windowTokens: 4096 });
    expect(await traitsOf('router')).toEqual({ windowTokens: 32_768, tools: false, images: true });
    expect(await traitsOf('mistral')).toEqual({ windowTokens: 32_768, tools: false, images: true });
    expect(await traitsOf('odd')).toMatchObject({ windowTokens: 1234 });
    expect(await traitsOf('unlisted')).toMatchObject({ windowTokens: null, tools: true });
    expect(server.received[0]).toMatchObject({ url: '/v1/models', headers: { authorization: 'Bearer secret' } });
  });

  test('a list of models may be all of the answer', async () => {
    const listed = [{ id: 'm', context_length: 8192 }];
    await using server = await serve((_, response) => void response.end(JSON.stringify(listed)));
    const provider = models({ providers: { together: { baseUrl: server.url } } });
    expect((await provider.open('together:m')).traits.windowTokens).toBe(8192);
  });

  test('an empty address means the provider’s; custom names need one', async () => {
    const urls: string[] = [];
    const record: typeof fetch = async (input) => {
      urls.push(String(input));
      return new Response('{}');
    };
    const providers = { openrouter: { baseUrl: '', apiKey: '' }, mine: { baseUrl: '' } };
    const provider = models({ environment: { OPENROUTER_API_KEY: 'k' }, providers, fetch: record });
    await provider.open('openrouter:openai/gpt-4.1');
    expect(urls).toEqual(['https://openrouter.ai/api/v1/models']);
    await expect(provider.open('mine:m')).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      data: { reason: '[providers.mine] in the configuration has no base_url' },
    });
  });

  test('asks an absent server again when reopened', async () => {
    let isAway = true;
    const answer: typeof fetch = async () => {
      if (isAway) throw new TypeError('fetch failed');
      return new Response(JSON.stringify({ data: [{ id: 'm', max_model_len: 8192 }] }));
    };
    const provider = models({ providers: { mine: { baseUrl: nowhere } }, fetch: answer });
    expect((await provider.open('mine:m')).traits.windowTokens).toBeNull();
    isAway = false;
    expect((await provider.open('mine:m')).traits.windowTokens).toBe(8192);
  });

  const ollama: Answer = (request, response) => {
    const shown: Record<string, unknown> = {
      'llama3.2': {
        model_info: { 'llama.context_length': 131_072 },
        capabilities: ['completion', 'tools'],
        parameters: 'stop "x"',
      },
      small: { model_info: { 'gemma.context_length': 8192 }, capabilities: ['completion', 'vision'] },
      set: {
        model_info: { 'llama.context_length': 131_072 },
        parameters: 'num_ctx                        65536\nstop "x"',
      },
      embedder: { model_info: {}, capabilities: ['embedding'] },
    };
    const name = String(request.body?.['model'] ?? '');
    if (request.url === '/api/tags')
      response.end(JSON.stringify({ models: ['embedder', 'small', 'llama3.2'].map((model) => ({ name: model })) }));
    else if (shown[name] === undefined)
      response.writeHead(404).end(JSON.stringify({ error: `model '${name}' not found` }));
    else response.end(JSON.stringify(shown[name]));
  };

  test('Ollama reports tools, sight and a window of usable size', async () => {
    await using server = await serve(ollama);
    const provider = models({ environment: { OLLAMA_HOST: server.url.replace('http://', '') } });
    expect((await provider.open('ollama:llama3.2')).traits).toEqual({
      windowTokens: 16_384,
      largestWindowTokens: 131_072,
      tools: true,
      images: false,
    });
    expect((await provider.open('ollama:small')).traits).toEqual({
      windowTokens: 8192,
      largestWindowTokens: 8192,
      tools: false,
      images: true,
    });
    expect((await provider.open('ollama:set')).traits).toMatchObject({ windowTokens: 65_536 });
    await expect(provider.open('ollama:absent')).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      data: { reason: expect.stringContaining('ollama pull absent') },
    });
  });

  test('Ollama behind its compatible interface has its own window', async () => {
    let isLoaded = false;
    let largest = 32_768;
    await using server = await serve(({ url }, response) => {
      const models = isLoaded ? [{ name: 'm:latest', context_length: 8192 }] : [];
      if (url === '/v1/models') response.end(JSON.stringify({ data: [{ id: 'm', owned_by: 'library' }] }));
      else {
        const model_info = { 'llama.context_length': largest };
        response.end(JSON.stringify(url === '/api/ps' ? { models } : { parameters: 'num_ctx 6000', model_info }));
      }
    });
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (...told: unknown[]) => void warned.push(told) };
    const options = { providers: { mine: { baseUrl: `${server.url}/v1` } }, log };
    const provider = models(options);
    expect((await provider.open('mine:m')).traits.windowTokens).toBe(6000);
    isLoaded = true;
    for (let time = 0; time < 2; time += 1) expect((await provider.open('mine:m')).traits.windowTokens).toBe(8192);
    expect(warned).toEqual([['model.window', { model: 'mine:m', remark: expect.stringContaining('use ollama:m') }]]);
    largest = 8192;
    expect((await models(options).open('mine:m')).traits.windowTokens).toBe(8192);
    expect(warned).toHaveLength(1);
  });

  test('auto takes an Ollama model with chat and tools', async () => {
    await using server = await serve(ollama);
    const choice = await models({ environment: { OLLAMA_HOST: server.url } }).choose();
    expect(choice).toEqual({
      modelId: 'ollama:llama3.2',
      reason: expect.stringMatching(/^Ollama at http:.*16384 tokens$/),
    });
  });

  test('auto skips an Ollama without chat models or with nonsense', async () => {
    for (const body of ['{"models":[{"name":"embedder"}]}', '{"models":[]}', 'nonsense', '[]']) {
      await using server = await serve((request, response) =>
        request.url === '/api/tags' ? void response.end(body) : ollama(request, response),
      );
      expect((await models({ environment: { OLLAMA_HOST: server.url } }).choose()).modelId).toBe('offline:demo');
    }
  });
});

describe('choose', () => {
  const all = {
    ANTHROPIC_API_KEY: 'a',
    OPENAI_API_KEY: 'b',
    GEMINI_API_KEY: 'c',
    OPENROUTER_API_KEY: 'd',
    OLLAMA_HOST: nowhere,
  };

  test('takes keys in order, with a reason of one line', async () => {
    const found: string[] = [];
    const environment: Record<string, string | undefined> = { ...all };
    for (const [variable, prefix] of [
      ['ANTHROPIC_API_KEY', 'anthropic:'],
      ['OPENAI_API_KEY', 'openai:'],
      ['GEMINI_API_KEY', 'google:'],
      ['OPENROUTER_API_KEY', 'openrouter:'],
    ] as const) {
      const { modelId, reason } = await models({ environment: { ...environment } }).choose();
      expect(modelId.startsWith(prefix)).toBe(true);
      expect(reason).toBe(`${variable} is set`);
      found.push(modelId);
      environment[variable] = '';
    }
    for (const id of found) expect((await models({ environment: all, fetch: offline }).open(id)).id).toBe(id);
  });

  const offline: typeof fetch = async () => {
    throw new TypeError('fetch failed');
  };

  test('falls back to the built-in model and says why', async () => {
    const { modelId, reason } = await models().choose();
    expect(modelId).toBe('offline:demo');
    expect(reason).toMatch(/Ollama.*127\.0\.0\.1:1.*OPENAI_API_KEY/);
    expect(reason).not.toContain('\n');
  });

  test('without a built-in model, says what is missing', async () => {
    const none = models({ builtIn: {} }).choose();
    await expect(none).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
    await expect(none).rejects.toThrow(/"auto".*no API key.*OPENAI_API_KEY.*builtIn/);
  });

  test('a silent Ollama costs less than half a second', async () => {
    await using server = await serve(() => {});
    const costMs: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const startedAt = performance.now();
      expect((await models({ environment: { OLLAMA_HOST: server.url } }).choose()).modelId).toBe('offline:demo');
      costMs.push(performance.now() - startedAt);
    }
    expect(Math.min(...costMs)).toBeLessThan(500);
  });
});
