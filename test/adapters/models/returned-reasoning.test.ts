import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { defineTool, type Log } from '../../../src/adapter-kit.ts';
import type { AgentOverrides } from '../../../src/config/defaults.ts';
import { ask, collect, finishIn, rollDice, silentLog } from '../../fixtures/models-requests.ts';
import { chunk, claude, gemini, type Received, serve, sse } from '../../fixtures/models-server.ts';
import { chatThinks, claudeThinks, geminiThinks, openaiAnswers, openaiThinks } from '../../fixtures/models-thoughts.ts';
import { createBotWorld } from '../../support/bot-world.ts';

/** Turns at servers that stream what they want back with their calls. */

type Body = NonNullable<Received['body']>;
type Refusal = (body: Body) => string | undefined;

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({}),
  run: async () => 'A heron.',
});

interface Scene {
  readonly id: string;
  /** The agent's other models, in order. */
  readonly others?: readonly string[];
  /** The steps of the turns, in order. */
  readonly steps: readonly (readonly unknown[])[];
  readonly refusal?: Refusal;
  /** The server is overloaded. */
  readonly isAway?: (body: Body, count: number) => boolean;
  readonly agent?: AgentOverrides;
  /** What people say. */
  readonly asks?: readonly string[];
}

async function play(scene: Scene) {
  const { id, others = [], steps, refusal = () => undefined, isAway, agent = {}, asks = ['What is there?'] } = scene;
  const bodies: Body[] = [];
  const refused: Body[] = [];
  await using server = await serve(({ method, body }, response) => {
    // Other requests are about memories.
    const isReply = method === 'POST' && JSON.stringify(body?.['tools'] ?? '').includes('look');
    if (body === null || !isReply) return void response.writeHead(404).end();
    if (isAway?.(body, bodies.length) === true) return void response.writeHead(529).end();
    const message = refusal(body);
    (message === undefined ? bodies : refused).push(body);
    if (message !== undefined) {
      const error = { type: 'error', error: { type: 'invalid_request_error', message } };
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(error));
    }
    const events = steps[bodies.length - 1] ?? [];
    if (id.startsWith('ollama:')) response.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    else sse(response, events);
    response.end();
  });
  const lines: unknown[] = [];
  const provider = providerAt(server.url, lines);
  const models = await Promise.all([id, ...others].map((one) => provider.open(one)));
  const model = models.map((one) => one.id);
  const settings = { model, context_window: 20_000, max_output_tokens: 2000, tools: ['look'], ...agent };
  await using world = await createBotWorld({ models, tools: [look], agent: settings });
  for (const text of asks) {
    await world.say(text);
    await world.settled();
  }
  const posts = [...world.channel.posts.values()].map(({ body }) => body.text);
  const stored = JSON.stringify([world.events, await world.entries(), world.channel.shown]);
  return { bodies, refused, posts, stored, shown: world.channel.shown, log: JSON.stringify(lines) };
}

function providerAt(url: string, lines: unknown[] = []) {
  const keep: Log['info'] = (...line) => void lines.push(line);
  const rewritten: typeof fetch = (input, init) => fetch(String(input).replace('https://api.openai.com', url), init);
  return createAiSdkModels({
    environment: {
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: 'k',
      GEMINI_API_KEY: 'k',
      GOOGLE_GEMINI_BASE_URL: url,
      OPENROUTER_API_KEY: 'k',
      OPENROUTER_BASE_URL: `${url}/v1`,
      OLLAMA_HOST: url,
    },
    providers: { local: { baseUrl: `${url}/v1` } },
    fetch: rewritten,
    log: { ...silentLog, debug: keep, info: keep, warn: keep, error: keep },
  });
}

/** The step with reasoning of its own. No model thinks the same twice. */
const anew = (step: readonly unknown[], number: number): readonly unknown[] =>
  JSON.parse(JSON.stringify(step).replaceAll(/signed|gAAAA|(?<=rs_|call_)1/g, (found) => `${found}${number}`));

const messages = z.array(z.looseObject({ role: z.string(), content: z.unknown() }));
/** The messages of the model in a request. */
const saidIn = (body: Body | undefined) =>
  messages.parse(body?.['messages']).filter(({ role }) => role === 'assistant' || role === 'model');
const contentIn = (body: Body | undefined) => z.array(z.looseObject({})).parse(saidIn(body).at(-1)?.content);

const MISSING = 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.';
const isLooping = (body: Body) => JSON.stringify(messages.parse(body['messages']).at(-1)).includes('tool_result');

describe('Claude', () => {
  const id = 'anthropic:claude-sonnet-4-5';
  const agent = { effort: 'high' } as const;
  const answer = claude('A heron.', 'end_turn');
  const thinking = ({ messages: said }: Body) => JSON.stringify(said).includes('thinking');

  test('gets its thinking back unchanged', async () => {
    const { bodies, posts, stored, log } = await play({
      id,
      agent,
      steps: [claudeThinks.events, claudeThinks.events, answer],
    });
    expect(posts).toEqual(['A heron.']);
    const calls = [{ type: 'tool_use', name: 'look', input: {} }];
    expect(contentIn(bodies[1])).toMatchObject([...claudeThinks.back, ...calls]);
    expect(saidIn(bodies[2])).toMatchObject([
      { content: [...claudeThinks.back, ...calls] },
      { content: [...claudeThinks.back, ...calls] },
    ]);
    expect(contentIn(bodies[1]).slice(0, 3)).toEqual(claudeThinks.back);
    expect(bodies.every(({ thinking: asked }) => asked !== undefined)).toBe(true);
    for (const word of ['want to know', 'signed', 'hidden']) expect(stored + log).not.toContain(word);
  });

  test('gets none of it in the next turn', async () => {
    const asks = ['What is there?', 'And now?'];
    const { bodies, posts } = await play({ id, agent, asks, steps: [claudeThinks.events, answer, answer] });
    expect(posts).toHaveLength(2);
    expect(bodies.map(thinking)).toEqual([false, true, false]);
  });

  test('answers without thinking that it refuses', async () => {
    const asks = ['What is there?', 'And now?'];
    const refusal: Refusal = (body) => {
      if (thinking(body)) return 'messages.1.content.0: Invalid `signature` in `thinking` block';
      if (body['thinking'] !== undefined && isLooping(body)) return MISSING;
      return undefined;
    };
    const steps = [claudeThinks.events, answer, anew(claudeThinks.events, 2), answer];
    const { bodies, refused, posts } = await play({ id, agent, asks, refusal, steps });
    expect(posts).toEqual(['A heron.', 'A heron.']);
    expect(bodies.map(({ thinking: asked }) => asked !== undefined)).toEqual([true, false, true, false]);
    expect(refused.map(thinking)).toEqual([true, false, true]);
  });

  test('gets it back without a signature if it came so', async () => {
    const unsigned = claudeThinks.events.filter((event) => !JSON.stringify(event).includes('signature_delta'));
    const { bodies } = await play({ id, agent, steps: [unsigned, answer] });
    expect(contentIn(bodies[1])[0]).toEqual({ ...claudeThinks.back[0], signature: '' });
  });

  test('gets it back beside a text that was cleaned', async () => {
    const labelled = JSON.parse(
      JSON.stringify(claudeThinks.events).replace('Let me look.', '<you>: Let me\u202e look.'),
    );
    const { bodies } = await play({ id, agent, steps: [labelled, answer] });
    expect(contentIn(bodies[1]).slice(0, 3)).toEqual(claudeThinks.back);
    expect(contentIn(bodies[1])).toHaveLength(4);
  });

  test('keeps it from another model', async () => {
    const { bodies, posts, stored } = await play({
      id,
      others: ['anthropic:claude-opus-4-5'],
      agent,
      steps: [claudeThinks.events, claudeThinks.events, answer],
      isAway: (body, count) => count === 1 && body['model'] === 'claude-sonnet-4-5',
    });
    expect(posts).toEqual(['A heron.']);
    expect(bodies.map((body) => [body['model'], saidIn(body).map((said) => thinking({ messages: [said] }))])).toEqual([
      ['claude-sonnet-4-5', []],
      ['claude-opus-4-5', [false]],
      ['claude-sonnet-4-5', [true, false]],
    ]);
    expect(stored).not.toContain('signed');
  });

  test('thinks again after the calls of another model', async () => {
    const unthinking = claudeThinks.events.filter(
      (event) => !/"index":[01],|"index":[01]}/.test(JSON.stringify(event)),
    );
    const refusal: Refusal = (body) => {
      if (body['thinking'] === undefined || !isLooping(body)) return undefined;
      return contentIn(body)[0]?.['type'] === 'thinking' ? undefined : MISSING;
    };
    const { bodies, posts } = await play({
      id,
      others: ['anthropic:claude-opus-4-5'],
      agent,
      asks: ['What is there?', 'And now?'],
      steps: [claudeThinks.events, unthinking, answer, claudeThinks.events, answer],
      refusal,
      isAway: (body, count) => count === 1 && body['model'] === 'claude-sonnet-4-5',
    });
    expect(posts).toEqual(['A heron.', 'A heron.']);
    expect(bodies.map(({ thinking: asked }) => asked !== undefined)).toEqual([true, false, false, true, true]);
  });
});

const said = (text: string) =>
  gemini({ candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] });

describe('Gemini', () => {
  const id = 'google:gemini-3-flash';
  const contents = z.array(z.looseObject({ role: z.string(), parts: z.array(z.looseObject({})) }));
  /** Without the ids of the calls, which are Strata's own. */
  const partsIn = (body: Body | undefined) => {
    const parts = contents.parse(body?.['contents']).findLast(({ role }) => role === 'model')?.parts;
    return JSON.parse(JSON.stringify(parts, (key, value: unknown) => (key === 'id' ? undefined : value)));
  };

  test('gets its signatures back with their parts', async () => {
    const { bodies, posts, stored, log } = await play({ id, steps: [geminiThinks.events, said('A heron.')] });
    expect(posts).toEqual(['A heron.']);
    expect(partsIn(bodies[1])).toEqual(geminiThinks.back);
    expect(stored + log).not.toMatch(/should look|c2ln/);
  });

  test('gets those of its calls if nothing else came', async () => {
    const step = [{ candidates: [{ content: { parts: geminiThinks.back.slice(2) }, finishReason: 'STOP' }] }];
    const { bodies } = await play({ id, steps: [step, said('A heron.')] });
    expect(partsIn(bodies[1])).toEqual(geminiThinks.back.slice(2));
  });

  test('answers without signatures that it refuses', async () => {
    const refusal: Refusal = (body) =>
      JSON.stringify(body['contents']).includes('c2ln') ? 'Request contains an invalid argument.' : undefined;
    const { bodies, refused, posts } = await play({ id, refusal, steps: [geminiThinks.events, said('A heron.')] });
    expect([posts, refused.length]).toEqual([['A heron.'], 1]);
    expect(JSON.stringify(bodies[1])).toContain('skip_thought_signature_validator');
  });
});

describe('OpenAI', () => {
  const id = 'openai:gpt-5.6-luna';
  const inputOf = (body: Body | undefined) => z.array(z.looseObject({})).parse(body?.['input']);
  const reasoningIn = (body: Body | undefined) => inputOf(body).filter(({ type }) => type === 'reasoning');

  test('gets its encrypted reasoning back before the call', async () => {
    const steps = [openaiThinks.events, openaiThinks.events, openaiAnswers];
    const { bodies, posts, stored, log } = await play({ id, steps });
    expect(posts).toEqual(['A heron.']);
    expect(bodies[0]).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(reasoningIn(bodies[1])).toEqual(openaiThinks.back);
    const at = inputOf(bodies[1]).findIndex(({ type }) => type === 'reasoning');
    expect(inputOf(bodies[1])[at + 1]).toMatchObject({ type: 'function_call', name: 'look', arguments: '{}' });
    expect(stored + log).not.toContain('gAAAA');
    // Its own id of the call, until it repeats one.
    const callIds = bodies.map((body) => inputOf(body).flatMap(({ call_id }) => call_id ?? []));
    expect(callIds).toEqual([[], ['call_1', 'call_1'], ['t1_1_1', 't1_1_1', 't1_2_1', 't1_2_1']]);
  });

  test('that stores answers is told which reasoning', async () => {
    const agent = { provider_options: { openai: { store: true } } };
    const { bodies, posts } = await play({ id, agent, steps: [openaiThinks.events, openaiAnswers] });
    expect(posts).toEqual(['A heron.']);
    expect(inputOf(bodies[1]).slice(-3)).toMatchObject([
      { type: 'item_reference', id: 'rs_1' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1' },
    ]);
  });

  test('answers without reasoning that it refuses', async () => {
    const asks = ['What is there?', 'And now?', 'Still?'];
    const refusal: Refusal = (body) =>
      reasoningIn(body).length > 0 ? 'The encrypted content gAAA... could not be verified.' : undefined;
    const steps = asks.flatMap((_, at) => [anew(openaiThinks.events, at), openaiAnswers]);
    const { refused, posts } = await play({ id, asks, refusal, steps });
    expect(posts).toEqual(['A heron.', 'A heron.', 'A heron.']);
    // What it refuses twice in a row, it does not get a third time.
    expect(refused).toHaveLength(2);
  });

  test('gets only what it has not refused before', async () => {
    const refusal: Refusal = (body) =>
      JSON.stringify(body).includes('gAAAAA') ? 'The encrypted content gAAA... could not be verified.' : undefined;
    const { events } = openaiThinks;
    const steps = [events, anew(events, 2), anew(events, 3), openaiAnswers];
    const { bodies, refused, posts } = await play({ id, refusal, steps });
    expect([posts, refused.length]).toEqual([['A heron.'], 1]);
    expect(bodies.map((body) => reasoningIn(body).length)).toEqual([0, 0, 1, 2]);
  });

  test('gets none that the package leaves out', async () => {
    const part = { item_id: 'rs_1', output_index: 0 };
    const [created, added, done, ...rest] = openaiThinks.events;
    const summary = [
      { ...part, type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: 'They want to know.' },
      { ...part, type: 'response.reasoning_summary_part.done', summary_index: 0 },
      { ...part, type: 'response.reasoning_summary_part.added', summary_index: 1 },
    ];
    const steps = [[created, added, ...summary, done, ...rest], openaiAnswers];
    const { posts, log } = await play({ id, steps });
    expect(posts).toEqual(['A heron.']);
    expect(log).toContain('Skipping reasoning part');
    expect(log).not.toMatch(/gAAAA|want to know/);
  });

  test('gets it again after one refusal', async () => {
    const asks = ['What is there?', 'And now?', 'Still?', 'Really?', 'Yes?'];
    let asked = 0;
    const refusal: Refusal = (body) => {
      if (reasoningIn(body).length === 0) return undefined;
      asked += 1;
      return asked % 2 === 1 ? 'The encrypted content gAAA... could not be verified.' : undefined;
    };
    const steps = asks.flatMap((_, at) => [anew(openaiThinks.events, at), openaiAnswers]);
    const { bodies, refused, posts } = await play({ id, asks, refusal, steps });
    expect([posts.length, refused.length]).toEqual([5, 3]);
    expect(bodies.filter((body) => reasoningIn(body).length > 0)).toHaveLength(2);
  });
});

test('Ollama gets its thinking back with the call', async () => {
  const message = { role: 'assistant', content: '' };
  const step = [
    { message: { ...message, thinking: 'I should ' } },
    { message: { ...message, thinking: 'look.' } },
    { message: { ...message, tool_calls: [{ function: { name: 'look', arguments: {} } }] } },
    { message, done: true, done_reason: 'stop' },
  ];
  const answer = [{ message: { ...message, content: 'A heron.' } }, { message, done: true, done_reason: 'stop' }];
  const { bodies, posts, stored } = await play({ id: 'ollama:gpt-oss', steps: [step, answer] });
  expect(posts).toEqual(['A heron.']);
  expect(saidIn(bodies[1])).toMatchObject([
    { thinking: 'I should look.', tool_calls: [{ function: { name: 'look' } }] },
  ]);
  expect(stored).not.toContain('I should look.');
});

const chatAnswer = [chunk({ content: 'A heron.' }), chunk({}, 'stop'), '[DONE]'];
const thought = ['They want to know ', 'what is there.\n'] as const;
const inField = (name: string, step: readonly string[] = thought) =>
  chatThinks(...step.map((text) => ({ [name]: text })));
const detail = (more: object) => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...more }] });

/** What a model gives with the end of a step. */
async function givenAfter(id: string, events: readonly unknown[]): Promise<string | undefined> {
  await using server = await serve(({ method }, response) => {
    if (method === 'GET') return void response.writeHead(404).end();
    sse(response, events);
    response.end();
  });
  const model = await providerAt(server.url).open(id);
  return finishIn(await collect(model, ask('What is there?', { tools: [rollDice] }))).reasoning;
}

describe('a compatible server', () => {
  const id = 'local:m';

  test.each(['reasoning_content', 'reasoning'])('gets back the %s that it streams', async (name) => {
    const later = inField(name, ['So ', 'on.']);
    const { bodies, posts, stored, log } = await play({ id, steps: [inField(name), later, chatAnswer] });
    expect(posts).toEqual(['A heron.']);
    const called = { role: 'assistant', tool_calls: [{ function: { name: 'look' } }] };
    expect(saidIn(bodies[2])).toMatchObject([
      { ...called, [name]: 'They want to know what is there.\n' },
      { ...called, [name]: 'So on.' },
    ]);
    const names = saidIn(bodies[2]).flatMap((one) => Object.keys(one).filter((key) => key.startsWith('reasoning')));
    expect(names).toEqual([name, name]);
    expect(stored + log).not.toContain('want to know');
  });

  test.each(['reasoning_content', 'reasoning'])('takes the room of its %s once', async (name) => {
    expect((await givenAfter(id, inField(name)))?.split('what is there').length).toBe(2);
  });

  test('gets none of it in the next turn', async () => {
    const asks = ['What is there?', 'And now?'];
    const steps = [inField('reasoning_content'), chatAnswer, chatAnswer];
    const { bodies } = await play({ id, asks, steps });
    const given = bodies.map((body) => saidIn(body).map((one) => one['reasoning_content'] !== undefined));
    expect(given).toEqual([[], [true], [false, false]]);
  });

  test('gets back nothing that came inside its text', async () => {
    const steps = [chatThinks({ content: '<think>They want to know.</think>Let me look.' }), chatAnswer];
    const { bodies, posts } = await play({ id, steps });
    expect(posts).toEqual(['A heron.']);
    expect(saidIn(bodies[1])).toMatchObject([{ content: 'Let me look.' }]);
    expect(JSON.stringify(bodies[1])).not.toContain('want to know');
  });

  test('gets it back with calls that came as text', async () => {
    const written = '<tool_call>{"name":"look","arguments":{}}</tool_call>';
    const step = [
      chunk({ reasoning_content: 'Let me see.' }),
      chunk({ content: written }),
      chunk({}, 'stop'),
      '[DONE]',
    ];
    const { bodies, posts } = await play({ id, steps: [step, chatAnswer] });
    expect(posts).toEqual(['A heron.']);
    const tool_calls = [{ function: { name: 'look', arguments: '{}' } }];
    expect(saidIn(bodies[1])).toMatchObject([{ content: null, reasoning_content: 'Let me see.', tool_calls }]);
  });

  test('gets the signature of a call back', async () => {
    const google = { thought_signature: 'c2ln' };
    const call = { index: 0, id: 'c1', function: { name: 'look', arguments: '{}' }, extra_content: { google } };
    const steps = [[chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), '[DONE]'], chatAnswer];
    const { bodies } = await play({ id, steps });
    expect(saidIn(bodies[1])).toMatchObject([{ tool_calls: [{ extra_content: { google } }] }]);
  });

  test('keeps it from another model', async () => {
    const others = ['local:other'];
    const isAway: Scene['isAway'] = ({ model }, count) => count === 1 && model === 'm';
    const { bodies } = await play({ id, others, isAway, steps: [inField('reasoning'), chatAnswer] });
    expect(bodies.map(({ model }) => model)).toEqual(['m', 'other']);
    expect(saidIn(bodies[1])[0]).not.toHaveProperty('reasoning');
  });

  test.each([
    // DeepSeek, before it could call tools while it reasons.
    'The reasoning_content is an intermediate result for display purposes only and will not be included in the context for inference. Please remove the reasoning_content from your message to reduce network traffic.',
    "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
    "[{'type': 'extra_forbidden', 'loc': ('body', 'messages', 2, 'assistant', 'reasoning_content'), 'msg': 'Extra inputs are not permitted'}]",
    'unknown field `reasoning_content`, expected one of `role`, `content`',
  ])('learns from its refusal: %s', async (message) => {
    const asks = ['What is there?', 'And now?'];
    const refusal: Refusal = (body) => (JSON.stringify(body['messages']).includes('reasoning') ? message : undefined);
    const steps = [inField('reasoning_content'), chatAnswer, inField('reasoning_content'), chatAnswer];
    const { refused, posts } = await play({ id, asks, refusal, steps });
    expect(posts).toEqual(['A heron.', 'A heron.']);
    expect(refused).toHaveLength(1);
  });

  test.each(['reasoning_content', 'reasoning'])('learns to do without its %s', async (name) => {
    const message = `property 'messages.2.assistant.${name}' is unsupported`;
    const refusal: Refusal = (body) => (saidIn(body).some((one) => one[name] !== undefined) ? message : undefined);
    const steps = [inField(name), inField(name), inField(name), chatAnswer];
    expect((await play({ id, refusal, steps })).refused).toHaveLength(1);
  });

  test('shows nothing about its window by reasoning', async () => {
    await using server = await serve(({ method, body }, response) => {
      if (method === 'GET') return void response.writeHead(404).end();
      if (JSON.stringify(body).includes('long ago')) return void response.writeHead(400).end('{"error":"no"}');
      sse(response, chatAnswer);
      response.end();
    });
    const model = await providerAt(server.url).open(id);
    const fields = { reasoning_content: 'x'.repeat(60_000) };
    const calls = [{ callId: 'c', tool: 'roll_dice', input: {} }];
    const thinking = { role: 'assistant', text: '', calls, reasoning: JSON.stringify({ parts: [], fields }) } as const;
    const results = [{ callId: 'c', tool: 'roll_dice', text: 'six', isError: false }];
    const { messages: begun } = ask('Roll.');
    await collect(model, ask('', { tools: [rollDice], messages: [...begun, thinking, { role: 'tool', results }] }));
    await expect(collect(model, ask('long ago '.repeat(3000)))).rejects.toMatchObject({ reason: 'overflow' });
  });

  test('learns nothing from a refusal of something else', async () => {
    let isRefused = false;
    const refusal: Refusal = (body) => {
      if (isRefused || saidIn(body).length === 0) return undefined;
      isRefused = true;
      return 'This is not supported by reasoning models. Unsupported: reasoning with so much load.';
    };
    const [first, second] = [inField('reasoning'), inField('reasoning', ['So ', 'on.'])];
    const steps = [first, chatAnswer, second, chatAnswer];
    const { bodies } = await play({ id, asks: ['What is there?', 'And now?'], refusal, steps });
    expect(saidIn(bodies[3]).map((one) => one['reasoning'])).toEqual([undefined, undefined, 'So on.']);
  });

  test('gets its own with a space in place of older', async () => {
    const asks = ['What is there?', 'And now?'];
    const refusal: Refusal = (body) =>
      saidIn(body).every((one) => one['reasoning_content'] !== undefined)
        ? undefined
        : 'Missing `reasoning_content` field in the assistant message at message index 2.';
    const steps = [inField('reasoning_content'), chatAnswer, inField('reasoning_content'), chatAnswer];
    const { bodies, posts } = await play({ id, asks, refusal, steps });
    expect(posts).toEqual(['A heron.', 'A heron.']);
    expect(saidIn(bodies[3]).map((one) => one['reasoning_content'])).toEqual([' ', ' ', thought.join('')]);
  });

  test('shows the same drafts', async () => {
    const talking = [{ content: 'Let me ' }, { content: 'look.' }];
    const shown = async (...deltas: readonly Readonly<Record<string, unknown>>[]) =>
      (await play({ id, steps: [chatThinks(...deltas, ...talking), chatAnswer] })).shown;
    const drafts = await shown();
    expect(drafts).toContainEqual({ kind: 'draft', text: 'Let me look.' });
    expect(await shown(...thought.map((text) => ({ reasoning_content: text })))).toEqual(drafts);
  });
});

describe('OpenRouter', () => {
  const steps = (...details: readonly object[]) => [chatThinks(...details.map(detail)), chatAnswer];

  test('gets its details back as one sequence', async () => {
    const { bodies, posts, stored } = await play({
      id: 'openrouter:anthropic/claude-sonnet-4.5',
      steps: steps(
        { text: 'They want ', format: 'anthropic-claude-v1' },
        { text: 'to know.', signature: null },
        { text: '', signature: 'EqoB+signed==' },
        { type: 'reasoning.encrypted', index: 1, data: 'hidden==', id: 'c1' },
        { type: 'reasoning.encrypted', index: 1, data: 'more==', id: 'rs_1' },
      ),
    });
    expect(posts).toEqual(['A heron.']);
    const [said] = saidIn(bodies[1]);
    expect(said?.['reasoning_details']).toEqual([
      {
        type: 'reasoning.text',
        index: 0,
        text: 'They want to know.',
        format: 'anthropic-claude-v1',
        signature: 'EqoB+signed==',
      },
      { type: 'reasoning.encrypted', index: 1, data: 'hidden==', id: 'c1' },
      { type: 'reasoning.encrypted', index: 1, data: 'more==', id: 'rs_1' },
    ]);
    // The mark of the cache is beside it.
    expect(said).toHaveProperty('cache_control');
    expect(stored).not.toContain('to know');
  });

  test('gets details under the ids of its calls', async () => {
    const [thinks = []] = steps({ type: 'reasoning.encrypted', data: 'hidden==', id: 'c1' });
    const { bodies } = await play({ id: 'openrouter:m', steps: [thinks, thinks, chatAnswer] });
    const called = z.object({
      tool_calls: z.tuple([z.object({ id: z.string() })]),
      reasoning_details: z.tuple([z.object({ id: z.string() })]),
    });
    const idsIn = (body: Body | undefined) =>
      saidIn(body).flatMap((one) => {
        const { tool_calls, reasoning_details } = called.parse(one);
        return [tool_calls[0].id, reasoning_details[0].id];
      });
    expect(idsIn(bodies[1])).toEqual(['c1', 'c1']);
    // This server repeats them.
    expect(idsIn(bodies[2])).toEqual(['t1_1_1', 't1_1_1', 't1_2_1', 't1_2_1']);
  });

  test('endless details are not gathered', async () => {
    const kept = async (count: number) => {
      const [events = []] = steps(...Array(count).fill({ text: 'x'.repeat(100_000) }));
      return (await givenAfter('openrouter:m', events))?.length;
    };
    expect(await kept(9)).toBeGreaterThan(900_000);
    expect(await kept(11)).toBeUndefined();
  });
});
