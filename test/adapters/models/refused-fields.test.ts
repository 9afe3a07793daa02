import { describe, expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import type { ChatModel, ModelRequest } from '../../../src/adapter-kit.ts';
import { ask, collect, rollDice, silentLog, textIn } from '../../fixtures/models-requests.ts';
import { chunk, type Received, serve, sse, type TestServer } from '../../fixtures/models-server.ts';

/** Servers that do not accept all of what other servers expect. */

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly extra_content?: unknown }[];
  readonly tool_call_id?: string;
}

const messagesIn = ({ body }: Received) => (body?.['messages'] ?? []) as readonly Message[];

/** Answers what `refusal` lets through. */
function strict(refusal: (request: Received) => unknown, status = 400): Promise<TestServer> {
  return serve((request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end();
    const message = refusal(request);
    if (typeof message === 'string') {
      return void response.writeHead(status).end(JSON.stringify({ error: { message, code: status } }));
    }
    sse(response, [chunk({ content: 'Hello' }, 'stop'), '[DONE]']);
    response.end();
  });
}

async function open({ url }: TestServer, id = 'local:m'): Promise<ChatModel> {
  return await createAiSdkModels({
    environment: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${url}/v1` },
    providers: { local: { baseUrl: `${url}/v1` } },
    log: silentLog,
  }).open(id);
}

const calls: Partial<ModelRequest> = {
  tools: [rollDice],
  messages: [
    { role: 'user', content: [{ kind: 'text', text: 'roll' }] },
    { role: 'assistant', text: '', calls: [{ callId: 't3.1.1', tool: 'roll_dice', input: { sides: 6 } }] },
    { role: 'tool', results: [{ callId: 't3.1.1', tool: 'roll_dice', text: '4', isError: false }] },
  ],
};

const has = (field: string, message: string) => (request: Received) => field in (request.body ?? {}) && message;
const limited = (message: string) => (request: Received) => Number(request.body?.['max_tokens']) > 50 && message;

interface Refusal {
  readonly of: string;
  readonly refusal: (request: Received) => unknown;
  readonly request?: Partial<ModelRequest>;
  readonly status?: number;
}

const REFUSALS: readonly Refusal[] = [
  {
    of: 'the old name of the limit',
    refusal: has('max_tokens', "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
  },
  { of: 'a limit above 50', refusal: limited('Invalid max_tokens value, the valid range of max_tokens is [1, 50]') },
  { of: 'a limit above 50, of Groq', refusal: limited('`max_tokens` must be less than or equal to `50`') },
  {
    of: 'usage in streams',
    refusal: has('stream_options', 'body.stream_options: Extra inputs are not permitted'),
    status: 422,
  },
  {
    of: 'the choice of tools',
    refusal: has('tool_choice', "Unsupported parameter: 'tool_choice'"),
    request: { ...calls, toolChoice: 'none' },
  },
  {
    of: 'JSON mode',
    refusal: has('response_format', "'response_format.type' must be 'json_schema' or 'text'"),
    request: { json: true },
  },
  {
    of: 'system messages',
    refusal: (request) => messagesIn(request).some(({ role }) => role === 'system') && 'System role not supported',
    status: 500,
  },
  {
    of: 'messages without content',
    refusal: (request) =>
      messagesIn(request).some(({ content }) => content === null) &&
      "Invalid value for 'content': expected a string, got null.",
    request: calls,
  },
  {
    of: 'a person after results',
    refusal: (request) => {
      const roles = messagesIn(request).map(({ role }) => role);
      return (
        roles.some((role, at) => role === 'user' && roles[at - 1] === 'tool') &&
        "Unexpected role 'user' after role 'tool'"
      );
    },
    request: {
      ...calls,
      messages: [...(calls.messages ?? []), { role: 'user', content: [{ kind: 'text', text: 'So?' }] }],
    },
  },
  {
    of: 'messages that do not alternate',
    refusal: (request) => {
      const roles = messagesIn(request).flatMap(({ role }) => (role === 'system' ? [] : [role]));
      const isWrong = roles.some((role, at) => role !== (at % 2 === 0 ? 'user' : 'assistant'));
      return isWrong && 'user or tool message(s) should alternate with assistant message(s).';
    },
    request: {
      messages: [
        { role: 'assistant', text: 'Good morning', calls: [] },
        { role: 'assistant', text: 'A reminder', calls: [] },
        { role: 'user', content: [{ kind: 'text', text: 'Thanks' }] },
      ],
    },
  },
  {
    of: 'calls without reasoning',
    refusal: (request) =>
      messagesIn(request).some(
        ({ role, reasoning_content = '' }) => role === 'assistant' && reasoning_content === '',
      ) && 'The `reasoning_content` in the thinking mode must be passed back to the API.',
    request: calls,
  },
  {
    of: 'calls without a signature',
    refusal: (request) =>
      messagesIn(request).some(({ tool_calls = [] }) =>
        tool_calls.some(({ extra_content }) => extra_content === undefined),
      ) && 'Function call is missing a thought_signature in functionCall parts.',
    request: calls,
  },
  {
    of: 'long ids of calls',
    refusal: (request) =>
      messagesIn(request)
        .flatMap(({ tool_calls = [], tool_call_id = [] }) => [...tool_calls.map(({ id }) => id), tool_call_id].flat())
        .some((id) => !/^[a-zA-Z0-9]{9}$/.test(id)) && 'Tool call id was t3_1_1 but must have a length of 9.',
    request: calls,
  },
];

describe('a refusal of', () => {
  test.each(REFUSALS)('$of happens once', async ({ refusal, request, status }) => {
    await using server = await strict(refusal, status);
    const model = await open(server);
    for (const text of ['hello', 'again']) {
      expect(textIn(await collect(model, ask(text, request)))).toBe('Hello');
    }
    const posts = server.received.filter(({ method }) => method === 'POST');
    expect(posts.map((post) => typeof refusal(post) === 'string')).toEqual([true, false, false]);
  });

  test('requests at the same time is learned from each', async () => {
    const waiting: (() => void)[] = [];
    await using server = await serve((request, response) => {
      if (request.method === 'GET') return void response.writeHead(404).end();
      const answer = () => {
        if ('max_tokens' in (request.body ?? {})) {
          response.writeHead(400).end(JSON.stringify({ error: "No 'max_tokens': use 'max_completion_tokens'" }));
        } else {
          sse(response, [chunk({ content: 'Hello' }, 'stop'), '[DONE]']);
          response.end();
        }
      };
      if (waiting.push(answer) < 2) return;
      for (const each of waiting.length === 2 ? waiting : [answer]) each();
    });
    const model = await open(server);
    const answers = await Promise.all(['one', 'two'].map(async (text) => textIn(await collect(model, ask(text)))));
    expect(answers).toEqual(['Hello', 'Hello']);
  });

  test('a server that is never content ends the attempts', async () => {
    let most = 90;
    await using server = await strict(() => {
      most -= 1;
      return `max_tokens must be less than or equal to ${most}`;
    });
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({ reason: 'fatal' });
    expect(server.received.length).toBeLessThan(20);
  });

  test('a field behind the address of another server', async () => {
    await using server = await strict(has('max_tokens', "'max_tokens' is gone. Use 'max_completion_tokens' instead."));
    expect(textIn(await collect(await open(server, 'openai:m'), ask('hello')))).toBe('Hello');
  });

  test('the whole request is sent once', async () => {
    await using server = await strict(() => 'I do not like this request');
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({ reason: 'fatal' });
    expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('the size changes nothing in the request', async () => {
    const message =
      "'max_tokens' or 'max_completion_tokens' is too large. The maximum context length is 4096 tokens (9 > 8)";
    await using server = await strict(() => message);
    await expect(collect(await open(server), ask('hello'))).rejects.toMatchObject({ reason: 'overflow' });
    expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

test('a person’s first message begins with refused system text', async () => {
  await using server = await strict((request) => {
    return messagesIn(request)[0]?.role !== 'user' && 'Conversation roles must alternate user/assistant/user/assistant';
  });
  await collect(await open(server), ask('hello'));
  const [first] = messagesIn(server.received.at(-1) ?? { method: '', url: '', headers: {}, body: null });
  expect(first).toEqual({ role: 'user', content: 'You are a bot.\n\nEarlier they said hello.\n\nfirst' });
});

describe('a refusal that nobody can read', () => {
  const long = (characters: number) => ask('word '.repeat(characters / 5));
  const tooLong = (request: Received) => JSON.stringify(request.body).length > 30_000 && 'More than I can carry';

  test('is one for size above what was accepted', async () => {
    await using server = await strict(tooLong);
    const model = await open(server);
    await collect(model, long(20_000));
    await expect(collect(model, long(40_000))).rejects.toMatchObject({ reason: 'overflow' });
  });

  test('says nothing about the size of a first request', async () => {
    await using server = await strict(tooLong);
    await expect(collect(await open(server), long(40_000))).rejects.toMatchObject({ reason: 'fatal' });
  });

  test('may be an empty answer', async () => {
    await using server = await serve((request, response) => {
      if (request.method === 'GET') return void response.writeHead(404).end();
      const content = JSON.stringify(request.body).length > 30_000 ? '' : 'Hello';
      sse(response, [chunk({ content }, 'stop'), '[DONE]']);
      response.end();
    });
    const model = await open(server);
    expect(textIn(await collect(model, long(20_000)))).toBe('Hello');
    await expect(collect(model, long(40_000))).rejects.toMatchObject({ reason: 'overflow' });
    expect(textIn(await collect(model, long(25_000)))).toBe('Hello');
  });

  test('is not an answer that a filter removed', async () => {
    await using server = await serve((request, response) => {
      if (request.method === 'GET') return void response.writeHead(404).end();
      const isLong = JSON.stringify(request.body).length > 30_000;
      sse(response, [chunk({ content: isLong ? '' : 'Hello' }, isLong ? 'content_filter' : 'stop'), '[DONE]']);
      response.end();
    });
    const model = await open(server);
    await collect(model, long(20_000));
    const parts = await collect(model, long(40_000));
    expect(parts.at(-1)).toMatchObject({ kind: 'finish', reason: expect.stringMatching(/^(filtered|refused)$/) });
  });

  test('is none for size below what was accepted', async () => {
    let count = 0;
    await using server = await strict(() => {
      count += 1;
      return count === 2 && 'Not today';
    });
    const model = await open(server);
    await collect(model, long(40_000));
    await expect(collect(model, long(20_000))).rejects.toMatchObject({ reason: 'fatal' });
  });
});

test.each([
  ['"ttl"', 'system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted'],
  ['"cache_control"', 'messages.0.content.0.cache_control: Extra inputs are not permitted'],
  ['"system":[', 'system: Input should be a valid string'],
])('a gateway to Anthropic may refuse %s', async (field, message) => {
  const isRefused = (request: Received) => JSON.stringify(request.body).includes(field);
  await using server = await serve((request, response) => {
    if (isRefused(request)) response.writeHead(400).end(JSON.stringify({ type: 'error', error: { message } }));
    else response.writeHead(400).end('{"type":"error","error":{"type":"invalid_request_error","message":"accepted"}}');
  });
  const environment = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url };
  const model = await createAiSdkModels({ environment, log: silentLog }).open('anthropic:m');
  await expect(collect(model, ask('hello'))).rejects.toThrow('accepted');
  await expect(collect(model, ask('hello'))).rejects.toThrow('accepted');
  expect(server.received.map(isRefused)).toEqual([true, false, false]);
});
