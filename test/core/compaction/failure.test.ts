import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Clock, type ConversationKey, ModelError, type ModelFailure } from '../../../src/adapter-kit.ts';
import { createMaintenance } from '../../../src/compaction/maintenance.ts';
import { createProfiles } from '../../../src/context/profile/profile.ts';
import { makeKey } from '../../../src/domain/key.ts';
import { createBreaker, pausedModels } from '../../../src/models/breaker.ts';
import {
  createWorld,
  expectCovered,
  faithful,
  filler,
  promptIn,
  type Said,
  type Script,
  scriptedModel,
  seqsIn,
  settle,
  testClock,
  transcriptIn,
  until,
  type World,
} from './compaction.world.ts';

async function talk(world: World, exchanges = 12): Promise<void> {
  for (let index = 1; index <= exchanges; index += 1) {
    await world.exchange(`Message ${index}: ${filler(50, index)}`, `Answer ${index}: ${filler(50, index + 3)}`);
  }
}

/** With something to remember, a minute apart. */
async function runThreeTimes(world: World): Promise<void> {
  await world.exchange('I keep four bees.', 'How nice.');
  await talk(world);
  for (let run = 0; run < 3; run += 1) {
    await world.run();
    await world.clock.advance(60_000);
  }
}

/** Fails twice. Then it answers a request for JSON with a sentence, and calls tools where they are offered. */
function backAfterOutage({ text, calls }: Required<Pick<Said, 'text' | 'calls'>>) {
  let requests = 0;
  return scriptedModel(
    ({ json }) => {
      requests += 1;
      if (requests <= 2) throw new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'overloaded' });
      return json ? { text } : { calls };
    },
    { window: 32_000 },
  );
}

function failing(reason: ModelFailure, facts: { retryAfterMs?: number } = {}): Script {
  return () => {
    throw new ModelError({ model: 'test:summariser', reason, detail: 'it did not work' }, facts);
  };
}

const always =
  (said: Said): Script =>
  () =>
    said;

const copyOfThePrompt: Script = (request) => ({ text: request.system.map((block) => block.text).join('\n') });
const copyOfTheTranscript: Script = (request) => ({ text: transcriptIn(request) });

/** T15, B8, B9: none of these may replace messages. */
const bad: readonly (readonly [string, Script])[] = [
  ['is busy', failing('transient')],
  ['is limited', failing('rate-limit')],
  ['refuses the key', failing('auth')],
  ['fails for good', failing('fatal')],
  ['answers with nothing', always({ text: '' })],
  ['answers with blanks', always({ text: ' \n\t ' })],
  ['answers with signs', always({ text: '…' })],
  ['answers with its reasoning alone', always({ text: '<think>They talk about rivers, so I should' })],
  ['answers with an error text', always({ text: 'Error: 503 Service Unavailable' })],
  ['answers with an error object', always({ text: '{"error": {"message": "overloaded", "code": 529}}' })],
  ['refuses', always({ text: "I'm sorry, but I can't help with summarising this conversation." })],
  ['refuses in Chinese', always({ text: '抱歉，我无法总结这段对话。' })],
  ['is cut off', always({ text: 'They talked about the river and', finish: 'length' })],
  ['is silenced by a filter', always({ text: 'They talked', finish: 'filtered' })],
  ['repeats its instructions', copyOfThePrompt],
  ['repeats the transcript', copyOfTheTranscript],
  ['saves an empty summary', always({ calls: [{ tool: 'summary_save', input: { summary: '  ' } }] })],
  ['calls what does not exist', always({ calls: [{ tool: 'shell', input: { command: 'ls' } }] })],
];

describe('a summariser that', () => {
  // Shows: B9, R5, R13, T15
  it.each(bad)('%s changes nothing visible and is retried', async (_what, script) => {
    await using world = await createWorld({ model: scriptedModel(script, { window: 32_000 }) });
    await world.say('FACT Ada keeps four bees.');
    await talk(world);
    const before = await world.snapshot();
    const result = await world.run();
    expect(result.changed).toBe(false);
    const after = await world.snapshot();
    expect({ ...after, conversation: null }).toEqual({ ...before, conversation: null });
    expect(after.conversation.compactedUpto).toBe(0);
    expect(after.conversation.extractedUpto).toBe(0);
    expect(after.conversation.failures).toBe(1);
    expect(after.conversation.lastError).not.toBeNull();
    expect(after.conversation.nextAttemptAt).toBeGreaterThan(world.clock.now());
    expect(world.of('maintenance.delayed')).toHaveLength(1);
    expect(world.of('maintenance.ended').at(-1)?.run).toMatchObject({
      outcome: 'failed',
      work: 'compact',
      memories: 0,
    });
    const { store } = world.services;
    expect((await store.journal.runs(after.conversation.id, 9)).map((run) => run.outcome)).toEqual(['failed']);
    expect(world.model.requests.length).toBeLessThanOrEqual(4);

    world.model.script = faithful;
    await world.clock.advance(60_000);
    expect((await world.run()).changed).toBe(true);
    expect(await world.conversation()).toMatchObject({ failures: 0, lastError: null, nextAttemptAt: null });
    await expectCovered(world);
  });

  // Shows: P11
  it('hangs is given up after its time limit', async () => {
    await using world = await createWorld({
      model: scriptedModel(() => new Promise(() => undefined), { window: 32_000 }),
      agent: { compaction: { timeout_seconds: 20 } },
    });
    await talk(world);
    const job = world.run();
    await until(() => world.model.requests.length === 1);
    await world.clock.advance(19_000);
    expect(world.of('maintenance.delayed')).toEqual([]);
    await world.clock.advance(1000);
    expect((await job).reason).toContain('timeout');
    expect((await world.snapshot()).stack).toEqual([]);
    expect((await world.conversation()).failures).toBe(1);
  });

  it('hangs is given up if the clock fails', async () => {
    const clock = testClock();
    const sleep: Clock['sleep'] = (ms, options) =>
      ms === 20_000 ? Promise.reject(new Error('the clock has stopped')) : clock.sleep(ms, options);
    await using world = await createWorld({
      model: scriptedModel(() => new Promise(() => undefined), { window: 32_000 }),
      agent: { compaction: { timeout_seconds: 20 } },
      clock: { ...clock, sleep },
    });
    await talk(world);
    expect((await world.run()).reason).toBe('the clock has stopped');
    expect((await world.conversation()).failures).toBe(1);
  });

  // Shows: Q18, R13
  it('gets a stricter retry that names the fault', async () => {
    const model = scriptedModel(
      (request, { count }) =>
        count === 1
          ? copyOfTheTranscript(request, { signal: AbortSignal.abort(), count })
          : faithful(request, { signal: AbortSignal.abort(), count }),
      { window: 32_000 },
    );
    await using world = await createWorld({ model });
    await world.say('FACT Ada keeps four bees.');
    await talk(world);
    expect((await world.run()).changed).toBe(true);
    expect(model.requests[0]?.system[0]?.text).not.toContain('could not be used');
    expect(model.requests[1]?.system[0]?.text).toContain('could not be used: it was too long for its source');
    expect((await world.snapshot()).stack[0]?.text).toContain('four bees');
  });
});

it("an answer in another language's syntax is no summary", async () => {
  const written = "{'summary': 'Ada keeps four bees in the garden.', 'memories': []}";
  await using world = await createWorld({
    model: scriptedModel(() => ({ text: written }), { tools: false, window: 32_000 }),
  });
  await world.say('FACT Ada keeps four bees in the garden.');
  await talk(world);
  expect(await world.run()).toMatchObject({
    changed: false,
    reason: expect.stringContaining('not the requested JSON object'),
  });
  expect((await world.snapshot()).stack).toEqual([]);
});

describe('after failures', () => {
  /** What a day costs in which every job that may run does. */
  async function callsOfADay(script: Script): Promise<number> {
    const model = scriptedModel(script, { window: 32_000 });
    await using world = await createWorld({ model });
    await talk(world);
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      const { nextAttemptAt } = await world.conversation();
      if (nextAttemptAt === null || nextAttemptAt <= world.clock.now()) await world.run();
      await world.clock.jump(60_000);
    }
    return model.requests.length;
  }

  it.each([
    ['that refuses', always({ text: "I'm sorry, but I can't help with that." })],
    ['that answers with broken calls', always({ calls: [{ tool: 'summary_save', input: '{"summary": "They' }] })],
  ])('a day of a model %s costs few calls', { timeout: 120_000 }, async (_, script) => {
    expect(await callsOfADay(script)).toBeLessThan(240);
  });

  it('a model that is away is asked every ten minutes', { timeout: 120_000 }, async () => {
    expect(await callsOfADay(failing('transient'))).toBeGreaterThan(24 * 6);
  });

  // Shows: P15
  it('doubles its wait each time and never runs early', async () => {
    await using world = await createWorld({ model: scriptedModel(failing('transient'), { window: 32_000 }) });
    await talk(world);
    const waits: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      await world.run();
      const { nextAttemptAt } = await world.conversation();
      waits.push((nextAttemptAt ?? 0) - world.clock.now());
      const called = world.model.requests.length;
      expect((await world.run()).reason).toContain('the last attempt failed');
      expect(world.model.requests).toHaveLength(called);
      await world.clock.advance(waits.at(-1) ?? 0);
    }
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan(2000 * 2 ** index * 0.7);
      expect(wait).toBeLessThanOrEqual(2000 * 2 ** index);
    }
  });

  it('respects the provider’s retry time', async () => {
    await using world = await createWorld({
      model: scriptedModel(failing('rate-limit', { retryAfterMs: 45_000 }), { window: 32_000 }),
    });
    await talk(world);
    await world.run();
    expect((await world.conversation()).nextAttemptAt).toBe(world.clock.now() + 45_000);
  });

  // Shows: R14
  it('pauses the model everywhere after five, across a restart', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-breaker-'));
    const model = scriptedModel(failing('transient'), { window: 32_000 });
    const first = await createWorld({ model, directory });
    await talk(first);
    const key = makeKey({ platform: 'test', workspace: 'here', channel: 'other' });
    for (let index = 0; index < 30; index += 1) await first.say(filler(60, index), { key });
    for (let tries = 0; tries < 5; tries += 1) {
      await first.clock.advance(((await first.conversation()).nextAttemptAt ?? 0) - first.clock.now());
      await first.run();
    }
    expect(first.of('breaker.opened')).toMatchObject([{ model: 'test:summariser' }]);
    const [paused] = await pausedModels(first.services.state, first.clock.now());
    // Other conversations read this, and a provider may quote a message.
    expect(paused).toMatchObject({ model: 'test:summariser', message: expect.stringContaining('failed (transient)') });
    expect(paused?.message).not.toContain('did not work');
    expect((await first.conversation()).lastError).toContain('did not work');
    const { clock } = first;
    await first.crash();

    await using world = await createWorld({ model, directory, clock });
    const other = await world.services.store.conversations.find(key);
    const signal = new AbortController().signal;
    const request = { conversationId: other?.id ?? 0, trigger: 'queue', instruction: null, signal } as const;
    const called = model.requests.length;
    expect((await world.maintenance.run(request)).reason).toContain('is paused until');
    expect(model.requests).toHaveLength(called);
    expect((await world.services.store.conversations.find(key))?.nextAttemptAt).toBe(paused?.untilAt);

    model.script = faithful;
    await clock.advance(30_000);
    expect((await world.maintenance.run(request)).changed).toBe(true);
    expect(world.of('breaker.closed')).toMatchObject([{ model: 'test:summariser' }]);
    expect(await pausedModels(world.services.state, clock.now())).toEqual([]);
    await rm(directory, { recursive: true, force: true });
  });

  it('pauses no model for the text of one place', async () => {
    const refuse = always({ text: "I'm sorry, but I can't help with that." });
    await using world = await createWorld({ model: scriptedModel(refuse, { window: 32_000 }) });
    await talk(world);
    for (let tries = 0; tries < 8; tries += 1) {
      await world.clock.advance(((await world.conversation()).nextAttemptAt ?? 0) - world.clock.now());
      await world.run();
    }
    expect((await world.conversation()).failures).toBe(8);
    expect(world.of('breaker.opened')).toEqual([]);
  });

  // Shows: B10
  it('an auth failure pauses the model at once, writing nothing', async () => {
    await using world = await createWorld({ model: scriptedModel(failing('auth'), { window: 32_000 }) });
    await talk(world);
    await world.run();
    expect(world.of('breaker.opened')).toHaveLength(1);
    await world.clock.advance(10_000);
    expect((await world.run()).reason).toContain('is paused until');
    expect(world.model.requests).toHaveLength(1);
    world.model.script = faithful;
    await world.clock.advance(30_000);
    expect((await world.run()).changed).toBe(true);
  });

  it('is kicked again when the time has come', async () => {
    await using world = await createWorld({ model: scriptedModel(failing('transient'), { window: 32_000 }) });
    await talk(world);
    const { queue } = world.services;
    queue.process(
      async (conversationId, { signal }) => {
        await world.maintenance.run({ conversationId, trigger: 'queue', instruction: null, signal });
      },
      { concurrency: 1, signal: new AbortController().signal },
    );
    queue.kick((await world.conversation()).id);
    await until(async () => (await world.conversation()).failures === 1);
    world.model.script = faithful;
    await world.clock.advance(2000);
    await until(() => world.of('maintenance.ended').some(({ run }) => run.outcome === 'committed'));
    await queue.idle();
  });
});

describe('a summariser with a small window', () => {
  // Shows: P14, Q19, T18
  it('gets the range in consecutive parts, each message once', async () => {
    await using world = await createWorld({ model: scriptedModel(faithful, { window: 2000 }), window: 8000 });
    await talk(world, 55);
    await world.run();
    const shown = world.model.requests
      .filter(({ purpose, messages }) => purpose === 'compact' && messages.length === 1)
      .flatMap(seqsIn);
    const { stack, conversation } = await world.snapshot();
    expect(shown).toEqual(Array.from({ length: conversation.compactedUpto }, (_, index) => index + 1));
    expect(shown.length).toBeGreaterThan(20);
    expect(
      stack.filter((item) => item.level === 0).length + stack.filter((item) => item.level > 0).length,
    ).toBeGreaterThan(1);
    await expectCovered(world);
  });

  // Shows: P13
  it('sees head, tail and a marker of an oversized message', async () => {
    await using world = await createWorld({ model: scriptedModel(faithful, { window: 2000 }), window: 8000 });
    await world.exchange(`BEGIN ${filler(5000)} END`, 'That was long.');
    await talk(world, 20);
    await world.run();
    const first = world.model.requests[0];
    expect(first === undefined ? '' : transcriptIn(first)).toMatch(/BEGIN .*\d+ characters left out.* END/su);
    await expectCovered(world);
  });

  // Shows: O32
  it('gets less within the same run once it proves smaller', async () => {
    const model = scriptedModel(
      (request, options) => {
        if (promptIn(request).length > 2500) {
          throw new ModelError({ model: 'test:summariser', reason: 'overflow', detail: 'too much' });
        }
        return faithful(request, options);
      },
      { window: 32_000 },
    );
    await using world = await createWorld({ model, window: 8000 });
    await talk(world, 55);
    expect((await world.run()).changed).toBe(true);
    expect((await world.conversation()).failures).toBe(0);
    expect(world.of('breaker.opened')).toEqual([]);
    await expectCovered(world);
  });

  it.each([
    ['a much smaller window', 3000, 3000],
    ['just less than nearly the same window', 7599, 7599],
    // The request was within it: the provider counts otherwise.
    ['nearly the same window', 7600, 4800],
    ['no window', null, 4800],
  ])('gets what fits after an error that names %s', async (_name, windowTokens, assumed) => {
    const model = scriptedModel(
      (request, options) => {
        if (options.count > 1) return faithful(request, options);
        const data = { model: 'test:summariser', reason: 'overflow', detail: 'too much' } as const;
        throw new ModelError(data, { windowTokens });
      },
      { window: 8000 },
    );
    await using world = await createWorld({ model, window: 8000 });
    await talk(world, 55);
    await world.run();
    expect(model.requests.slice(0, 2).map((request) => request.windowTokens)).toEqual([8000, assumed]);
    await expectCovered(world);
  });

  it('has its whole window again if none was small enough', async () => {
    let isBroken = true;
    const model = scriptedModel(
      (request, options) => {
        if (!isBroken) return faithful(request, options);
        throw new ModelError({ model: 'test:summariser', reason: 'overflow', detail: 'too much' });
      },
      { window: 8000 },
    );
    await using world = await createWorld({ model, window: 8000 });
    await talk(world, 55);
    expect((await world.run()).reason).toContain('overflow');
    isBroken = false;
    await world.clock.jump(60_000);
    const before = model.requests.length;
    expect((await world.run()).changed).toBe(true);
    expect(model.requests[before]?.windowTokens).toBe(8000);
    await expectCovered(world);
  });

  it('keeps the smaller window that another agent sets', async () => {
    const model = scriptedModel(
      (request, options) => {
        if (options.count > 1) return faithful(request, options);
        throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too much' });
      },
      { id: 'test:chat', window: 16_000 },
    );
    await using world = await createWorld({ model, window: 16_000 });
    await talk(world, 110);
    const [large] = world.services.agents.list();
    if (large === undefined) throw new Error('There is no agent.');
    const small = { ...large, id: 'small', context_window: 4000 };
    const key = makeKey({ platform: 'test', workspace: 'here', channel: 'small' });
    for (let index = 1; index <= 40; index += 1) await world.say(`Note ${index}: ${filler(80, index)}`, { key });
    const agentFor = (place: ConversationKey) => (place === key ? small : large);
    const services = { ...world.services, agents: { ...world.services.agents, agentFor } };
    const profiles = createProfiles({ services, tools: { specs: () => [] } });
    const maintenance = createMaintenance({ services, profiles, breaker: createBreaker(services) });
    const { signal } = new AbortController();
    const windows: (readonly (number | undefined)[])[] = [];
    for (const place of [world.key, key]) {
      const before = model.requests.length;
      const conversation = await services.store.conversations.find(place);
      const request = { conversationId: conversation?.id ?? 0, trigger: 'queue', instruction: null, signal } as const;
      expect(await maintenance.run(request)).toMatchObject({ changed: true });
      windows.push([...new Set(model.requests.slice(before).map(({ windowTokens }) => windowTokens))]);
    }
    expect(windows).toEqual([[16_000, 9600], [4000]]);
  });

  it('condenses fewer summaries, or only their heads and tails', async () => {
    const overflow = () => new ModelError({ model: 'test:summariser', reason: 'overflow', detail: 'too much' });
    const condensed: string[] = [];
    const model = scriptedModel(
      (request) => {
        const summary = `They talked. ${filler(150, request.messages.length)}`;
        if (request.purpose !== 'condense') return { calls: [{ tool: 'summary_save', input: { summary } }] };
        if (promptIn(request).length > 1400) throw overflow();
        condensed.push(transcriptIn(request));
        return { text: 'In short, they talked.' };
      },
      { window: 2000 },
    );
    await using world = await createWorld({ model, window: 6000, agent: { compaction: { stack_share: 0.2 } } });
    await talk(world, 70);
    expect((await world.run()).reason).toContain('condensed');
    expect(condensed[0]).toContain('characters left out');
    expect((await world.snapshot()).stack[0]?.level).toBeGreaterThan(0);
    await expectCovered(world);
  });
});

describe('a model', () => {
  const summary = 'Ada and the bot talked about rivers.';
  const memory = { kind: 'fact', text: 'Ada keeps four bees.', sources: [1] };
  const shapes: readonly (readonly [string, Script, { readonly tools?: boolean }])[] = [
    ['with plain text', always({ text: summary }), {}],
    ['with plain text and no tools', always({ text: summary }), { tools: false }],
    ['with a JSON object', always({ text: JSON.stringify({ summary, memories: [memory] }) }), { tools: false }],
    [
      'with fenced JSON and prose around it',
      always({ text: `Here you are:\n\`\`\`json\n${JSON.stringify({ summary, memories: [memory] })}\n\`\`\`\nDone!` }),
      { tools: false },
    ],
    ['with JSON although it has tools', always({ text: JSON.stringify({ summary, memories: [memory] }) }), {}],
    [
      'with both calls at once',
      always({
        calls: [
          { tool: 'summary_save', input: { summary } },
          { tool: 'memory_save', input: memory },
        ],
      }),
      {},
    ],
    [
      'with other names and shapes for the same',
      always({
        calls: [
          { tool: 'summary_save', input: { content: summary } },
          { tool: 'memory_save', input: { type: 'Fact', content: 'Ada keeps four bees.', source: '#1', priority: 7 } },
        ],
      }),
      {},
    ],
  ];

  it.each(shapes)('may answer %s', async (name, script, options) => {
    await using world = await createWorld({ model: scriptedModel(script, { window: 32_000, ...options }) });
    await world.exchange('I keep four bees.', 'How nice.');
    await talk(world);
    await world.run();
    const { stack } = await world.snapshot();
    expect(stack[0]?.text).toBe(summary);
    const saved = world.of('memory.saved').length;
    expect(saved > 0).toBe(!name.includes('plain text'));
  });

  // Shows: S19
  it('may call tools in turn; the saved summary wins', async () => {
    const steps: readonly Said[] = [
      { text: 'Let me see.', calls: [{ tool: 'memory_save', input: memory }] },
      { calls: [{ tool: 'memory_save', input: { ...memory, text: 'Ada lives in Bonn.' } }] },
      { calls: [{ tool: 'summary_save', input: { summary } }] },
      { text: 'Saved 2 memories and the summary.' },
    ];
    const model = scriptedModel((_request, { count }) => steps[count - 1] ?? { text: 'Done.' }, { window: 32_000 });
    await using world = await createWorld({ model, agent: { compaction: { stack_share: 0.5 } } });
    await world.exchange('I keep four bees and live in Bonn.', 'How nice.');
    await talk(world);
    await world.run();
    const { stack } = await world.snapshot();
    expect(stack).toHaveLength(1);
    expect(stack[0]?.text).toBe(summary);
    expect(world.of('memory.saved').flatMap(({ ids }) => ids)).toHaveLength(2);
  });

  it('is asked for the summary when it saved only memories', async () => {
    const steps: readonly Said[] = [
      { calls: [{ tool: 'memory_save', input: memory }] },
      { text: 'Saved 1 memory.' },
      { calls: [{ tool: 'summary_save', input: { summary } }] },
    ];
    const model = scriptedModel((_request, { count }) => steps[count - 1] ?? { text: 'Done.' }, { window: 32_000 });
    await using world = await createWorld({ model });
    await world.exchange('I keep four bees.', 'How nice.');
    await talk(world);
    await world.run();
    expect((await world.snapshot()).stack[0]?.text).toBe(summary);
  });

  it('is asked for a missing summary once', async () => {
    const script: Script = ({ messages }) =>
      messages.length === 1 ? { calls: [{ tool: 'memory_save', input: memory }] } : { text: 'Saved 1 memory.' };
    const model = scriptedModel(script, { window: 32_000 });
    await using world = await createWorld({ model });
    await talk(world);
    await world.run();
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
  });

  // Shows: S24
  it('that calls for ever is stopped after ten steps', async () => {
    const model = scriptedModel(
      (_request, { count }) => ({
        calls: [{ tool: 'memory_save', input: { ...memory, text: `Ada has ${count} bees.` } }],
      }),
      { window: 32_000 },
    );
    await using world = await createWorld({ model });
    await talk(world);
    await world.run();
    expect(model.requests).toHaveLength(20);
    expect((await world.snapshot()).stack).toEqual([]);
    expect(world.of('memory.saved')).toEqual([]);
  });

  it('without tools is asked for JSON from then on', async () => {
    const model = scriptedModel(
      (request, options) => {
        if (request.tools.length > 0) {
          throw new ModelError({ model: 'test:summariser', reason: 'unsupported', detail: 'no tools' });
        }
        return request.json ? { text: JSON.stringify({ summary, memories: [] }) } : faithful(request, options);
      },
      { window: 32_000 },
    );
    await using world = await createWorld({ model });
    await talk(world);
    expect((await world.run()).changed).toBe(true);
    await talk(world, 8);
    await world.run();
    expect(model.requests.filter((request) => request.tools.length > 0)).toHaveLength(1);
  });

  it('that fails over calls is asked for JSON at times', async () => {
    const forms: string[] = [];
    const model = scriptedModel(
      ({ json }) => {
        forms.push(json ? 'json' : 'tools');
        if (json) return { text: JSON.stringify({ summary, memories: [memory] }) };
        throw new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'error parsing tool call' });
      },
      { window: 32_000 },
    );
    await using world = await createWorld({ model });
    await runThreeTimes(world);
    expect(forms.slice(0, 3)).toEqual(['tools', 'tools', 'json']);
    expect((await world.snapshot()).stack[0]?.text).toBe(summary);
    expect(world.of('memory.saved')).toHaveLength(1);
    expect((await world.conversation()).failures).toBe(0);
  });

  it('without memories after an outage is asked with tools', async () => {
    const calls = [
      { tool: 'summary_save', input: { summary } },
      { tool: 'memory_save', input: memory },
    ];
    const model = backAfterOutage({ text: summary, calls });
    await using world = await createWorld({ model });
    await runThreeTimes(world);
    expect(world.of('memory.saved')).toHaveLength(1);
    expect((await world.conversation()).failures).toBe(0);
  });

  it('reading a silent tail after outages is asked with tools', async () => {
    const calls = [{ tool: 'memory_save', input: memory }];
    const model = backAfterOutage({ text: 'Ada spoke of four bees.', calls });
    await using world = await createWorld({ model });
    await world.exchange('I keep four bees.', 'How nice.');
    for (let run = 0; run < 4; run += 1) {
      await world.clock.advance(3_600_000);
      await world.run();
    }
    expect(world.of('maintenance.ended').map(({ run }) => run.memories)).toEqual([0, 0, 1]);
    expect(world.of('memory.saved')).toHaveLength(1);
  });

  it('whose tools fail counts with a bare summary', async () => {
    const model = scriptedModel(
      ({ json }) => {
        if (json) return { text: summary };
        throw new ModelError({ model: 'test:summariser', reason: 'transient', detail: 'error parsing tool call' });
      },
      { window: 32_000 },
    );
    await using world = await createWorld({ model });
    await runThreeTimes(world);
    expect((await world.snapshot()).stack[0]?.text).toBe(summary);
  });

  it('may condense with a call that nobody offered', async () => {
    const text = `Ada and the bot talked about rivers, the lantern and the meadow. ${filler(60)}`;
    const script: Script = () => ({ calls: [{ tool: 'summary_save', input: { summary: text.slice(0, 300) } }] });
    const model = scriptedModel(script, { window: 32_000 });
    await using world = await createWorld({ model, agent: { compaction: { stack_share: 0.05 } } });
    for (let round = 0; round < 4; round += 1) {
      await talk(world);
      await world.run();
    }
    expect((await world.snapshot()).stack.some(({ level }) => level > 0)).toBe(true);
  });

  it('never contains a link that nobody gave', async () => {
    const text = 'They agreed on https://good.example/plan and https://evil.example/?q=secret as links.';
    await using world = await createWorld({ model: scriptedModel(always({ text }), { window: 32_000 }) });
    await world.exchange('See https://good.example/plan for it.', 'I did.');
    await talk(world);
    await world.run();
    expect((await world.snapshot()).stack[0]?.text).toBe(
      'They agreed on https://good.example/plan and (link removed) as links.',
    );
  });
});

describe('what a run costs and brings', () => {
  // Shows: O22
  it('is written down with the tokens before and after', async () => {
    await using world = await createWorld();
    await talk(world);
    await world.run();
    await settle();
    const { id } = await world.conversation();
    const [run] = await world.services.store.journal.runs(id, 1);
    expect(run).toMatchObject({
      work: 'compact',
      outcome: 'committed',
      error: null,
      model: 'test:summariser',
      inputTokens: 100,
    });
    expect(run?.tokensAfter).toBeLessThan((run?.tokensBefore ?? 0) * 0.9);
    const usage = await world.services.store.journal.usage(id);
    expect(usage).toMatchObject([
      { purpose: 'compact', model: 'test:summariser', calls: 1, inputTokens: 100, outputTokens: 10 },
    ]);
    expect(world.of('maintenance.ended')).toMatchObject([{ run }]);
  });
});
