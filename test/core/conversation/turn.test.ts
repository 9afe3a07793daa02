import { describe, expect, it } from 'vitest';
import type { TurnOptions } from '../../../src/conversation/turn/loop/effects.ts';
import { runTurn } from '../../../src/conversation/turn/loop/turn-loop.ts';
import { ModelError, StrataError } from '../../../src/domain/errors.ts';
import type { ToolResultPart } from '../../../src/domain/message.ts';
import { collectStep } from '../../../src/models/step.ts';
import type { Assembly } from '../../../src/ports/engine.ts';
import type { ChatModel, ModelMessage, ModelPart, ModelRequest, ToolCall } from '../../../src/ports/model.ts';
import { limitWork } from '../../../src/util/async/limit.ts';

const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
const text = (value: string): ModelPart[] => [
  { kind: 'text', text: value },
  { kind: 'finish', reason: 'stop', usage },
];
const calls = (...tools: string[]): ModelPart[] => [
  ...tools.map((tool): ModelPart => ({ kind: 'call', call: { callId: 'same', tool, input: {} } })),
  { kind: 'finish', reason: 'tool-calls', usage },
];

const away = new StrataError('STORE_UNREACHABLE', { path: 'there', reason: 'it restarts' });

/** A model that plays a script: each entry is one answer, or the error that it throws. */
function scripted(script: readonly (ModelPart[] | Error)[]) {
  const requests: ModelRequest[] = [];
  const model: ChatModel = {
    id: 'test:script',
    traits: { windowTokens: null, tools: true, images: false },
    async *stream(request) {
      const answer = script[requests.length];
      requests.push(request);
      if (answer === undefined) throw new Error('the script is over');
      if (answer instanceof Error) throw answer;
      yield* answer;
    },
  };
  return { model, requests };
}

const asking = (model: ChatModel): Pick<TurnOptions, 'modelId' | 'ask'> => ({
  modelId: model.id,
  ask: (request, options) => collectStep(model, request, options),
});

function setUp(script: readonly (ModelPart[] | Error)[], over: Partial<TurnOptions> = {}) {
  const { model, requests } = scripted(script);
  const seen = {
    pauses: [] as number[],
    room: 0,
    drafts: [] as string[],
    ran: [] as ToolCall[],
    assembled: 0,
    left: 0,
    withheld: [] as string[],
  };
  const parts: TurnOptions = {
    ...asking(model),
    purpose: 'reply',
    maxSteps: 4,
    maxOutputTokens: 100,
    async assemble(steps) {
      seen.assembled += 1;
      return assembly(steps);
    },
    async makeRoom() {
      seen.room += 1;
      return true;
    },
    leaveOut() {
      seen.left += 1;
      return seen.left <= 2 ? 'less' : 'nothing';
    },
    withhold: (results) => seen.withheld.push(...results.map(({ text }) => text)),
    async callTool(call) {
      seen.ran.push(call);
      return result(call);
    },
    limitCall: () => limitWork(new AbortController().signal),
    async pause(ms) {
      seen.pauses.push(ms);
    },
    onDraft: (draft) => seen.drafts.push(draft),
    ...over,
  };
  return { parts, requests, seen };
}

function result(call: ToolCall): ToolResultPart {
  return {
    kind: 'tool-result',
    callId: call.callId,
    tool: call.tool,
    text: `ran ${call.tool}`,
    isError: false,
    blob: null,
  };
}

function assembly(steps: readonly ModelMessage[]): Assembly {
  const measurement = {
    fixed: 0,
    stack: 0,
    tail: 0,
    volatile: 0,
    reserve: 0,
    used: 0,
    window: 1000,
    ratio: 0,
    tier: 'none' as const,
    estimated: true,
  };
  const conversation = {} as Assembly['snapshot']['conversation'];
  const snapshot = { conversation, stack: [], tail: [], omitted: { entries: 0, tokens: 0 } };
  return { system: [], messages: steps, tools: [], measurement, estimatedTokens: 0, parts: [], snapshot, recalled: [] };
}

const failure = (reason: ModelError['reason'], retryAfterMs: number | null = null) =>
  new ModelError({ model: 'test:script', reason, detail: 'scripted' }, { retryAfterMs });

it('a label before the answer is left out', async () => {
  const { parts, seen } = setUp([text('[#12 | 2026-11-20 Fri 10:00 | <you>] Hello')]);
  expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'Hello' });
  expect(seen.drafts).toEqual(['Hello']);
});

describe('a turn', () => {
  it('ends with the text of a step without calls', async () => {
    const { parts, seen } = setUp([text('  hello ')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'hello', steps: [] });
    expect(seen.drafts).toEqual(['hello ']);
  });

  it('has no answer in a text that nobody can see', async () => {
    const invisible = text('\u200b \u2060\n\u3164');
    const { parts, requests } = setUp([invisible, invisible]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'empty' });
    expect(requests).toHaveLength(2);
  });

  it('asks once more after an empty answer', async () => {
    const { parts, seen } = setUp([calls('a'), text(''), text('there')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'there' });
    expect(seen.ran).toHaveLength(1);
  });

  it('answers with what it said beside its last calls', async () => {
    const noted: ModelPart[] = [{ kind: 'text', text: 'Noted, Ada.' }, ...calls('memory_save')];
    const { parts } = setUp([noted, text(''), text(' ')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'Noted, Ada.', cut: null });
  });

  it('gives each call an id and returns results in order', async () => {
    const { parts, requests } = setUp([calls('a', 'b', 'a'), calls('c'), text('done')]);
    const outcome = await runTurn(parts, 't7');
    expect(outcome.steps.map((step) => step.calls.map((call) => call.callId))).toEqual([
      ['t7.1.1', 't7.1.2', 't7.1.3'],
      ['t7.2.1'],
    ]);
    const last = requests.at(-1)?.messages ?? [];
    expect(last.map((message) => message.role)).toEqual(['assistant', 'tool', 'assistant', 'tool']);
    expect(last[1]).toMatchObject({ results: [{ callId: 't7.1.1' }, { callId: 't7.1.2' }, { callId: 't7.1.3' }] });
  });

  // Shows: P17
  it('assembles before every call, inside the tool loop too', async () => {
    const { parts, seen } = setUp([calls('a'), calls('b'), text('done')]);
    await runTurn(parts, 't1');
    expect(seen.assembled).toBe(3);
  });

  it('asks for an answer without calls at the step limit', async () => {
    const { parts, requests } = setUp([calls('a'), calls('b'), calls('c'), text('what I found')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'what I found' });
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, undefined, 'none']);
  });

  it('runs no calls at the step limit and keeps results', async () => {
    const { parts, seen } = setUp([calls('a'), calls('b'), calls('c'), calls('d')]);
    const outcome = await runTurn(parts, 't1');
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'steps' });
    expect(outcome.steps).toHaveLength(3);
    expect(seen.ran.map(({ tool }) => tool)).toEqual(['a', 'b', 'c']);
  });

  // Shows: P19, R10
  it('makes room once for an overflow and retries exactly once', async () => {
    const saved = setUp([failure('overflow'), text('fits')]);
    expect(await runTurn(saved.parts, 't1')).toMatchObject({ kind: 'answered', text: 'fits' });
    expect(saved.seen.room).toBe(1);
    const lost = setUp([failure('overflow'), failure('overflow'), text('never asked')]);
    expect(await runTurn(lost.parts, 't1')).toMatchObject({ kind: 'failed', reason: 'overflow' });
    expect(lost.requests).toHaveLength(2);
    expect(lost.seen.room).toBe(1);
  });

  it('does not retry when an overflow leaves nothing to free', async () => {
    const { parts, requests } = setUp([failure('overflow'), text('never asked')], { makeRoom: async () => false });
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'overflow' });
    expect(requests).toHaveLength(1);
  });

  it('leaves out more after a refusal, twice', async () => {
    const { parts, seen, requests } = setUp([failure('refused'), failure('refused'), text('there')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'there' });
    expect([seen.left, seen.withheld]).toEqual([2, []]);
    const lost = setUp(
      Array.from({ length: 4 }, () => failure('refused')),
      { leaveOut: () => 'less' },
    );
    expect(await runTurn(lost.parts, 't1')).toMatchObject({ kind: 'failed', reason: 'refused' });
    expect([requests.length, lost.requests.length]).toEqual([3, 3]);
  });

  it('does not ask again with nothing to leave out', async () => {
    const { parts, requests } = setUp([failure('refused'), text('never asked')], { leaveOut: () => 'nothing' });
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'refused' });
    expect(requests).toHaveLength(1);
  });

  it('pauses for a busy provider after refusals, too', async () => {
    const script = [failure('refused'), failure('refused'), failure('transient'), failure('transient'), text('there')];
    const { parts, seen } = setUp(script);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered' });
    expect(seen.pauses).toEqual([1000, 2000]);
  });

  it('withholds the newest results before anything else', async () => {
    const script = [calls('a'), calls('b', 'c'), failure('refused'), failure('refused'), text('there')];
    const { parts, seen } = setUp(script);
    const outcome = await runTurn(parts, 't1');
    expect(outcome).toMatchObject({ kind: 'answered', text: 'there' });
    const shown = outcome.steps.map(({ results }) => results.map(({ text, isError }) => [text.slice(0, 5), isError]));
    const left = ['[Syst', true];
    expect(shown).toEqual([[['ran a', false]], [left, left]]);
    expect([seen.withheld, seen.left, seen.ran.length]).toEqual([['ran b', 'ran c'], 1, 3]);
  });

  it('waits twice for a busy provider, as it asks', async () => {
    const { parts, seen } = setUp([failure('rate-limit', 3000), failure('transient'), text('there')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'there' });
    expect(seen.pauses).toEqual([3000, 2000]);
  });

  it('gives up at once when asked to wait long', async () => {
    const { parts, seen } = setUp([failure('rate-limit', 60_000)]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'rate-limit' });
    expect(seen.pauses).toEqual([]);
  });

  it('repeats a call whose answer broke off', async () => {
    const half: ModelPart[] = [{ kind: 'text', text: 'half an ans' }];
    const { parts, seen } = setUp([half, text('a whole one')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered', text: 'a whole one' });
    expect(seen.drafts).toEqual(['half an ans', 'a whole one']);
  });

  it('repeats a call that only began a label', async () => {
    const { parts, seen, requests } = setUp([]);
    const broken: ChatModel = {
      id: 'test:broken',
      traits: { windowTokens: null, tools: true, images: false },
      async *stream(request) {
        requests.push(request);
        if (requests.length > 1) return yield* text('there');
        yield { kind: 'text', text: '[#12 | 2026' };
        throw failure('transient');
      },
    };
    expect(await runTurn({ ...parts, ...asking(broken) }, 't1')).toMatchObject({ kind: 'answered', text: 'there' });
    expect(seen.drafts).toEqual(['there']);
  });

  it('takes a stream without an end for a failure', async () => {
    const cut: ModelPart[] = [{ kind: 'text', text: 'cut' }];
    const { parts } = setUp([cut, cut, cut]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'transient' });
  });

  it('ends in time when the model ignores its signal', async () => {
    const late = Promise.withResolvers<void>();
    const deaf: ChatModel = {
      id: 'test:deaf',
      traits: { windowTokens: null, tools: true, images: false },
      async *stream() {
        await late.promise;
        yield* text('too late');
      },
    };
    const limitCall = () => limitWork(new AbortController().signal, { ms: 20 });
    const { parts, seen } = setUp([], { ...asking(deaf), limitCall });
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'timeout' });
    late.resolve();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(seen.drafts).toEqual([]);
  });

  it.each([
    ['stop', 'empty', '(stop)'],
    ['other', 'empty', '(other)'],
    ['length', 'length', 'max_output_tokens'],
    ['filtered', 'filtered', 'content filter'],
  ] as const)('says why an answer is empty: %s', async (finish, reason, cause) => {
    const blank = { kind: 'text', text: ' \n ' } as const;
    const answer: ModelPart[] = [blank, { kind: 'finish', reason: finish, usage }];
    const outcome = await runTurn(setUp([answer, answer]).parts, 't1');
    expect(outcome).toMatchObject({ kind: 'failed', reason, message: expect.stringContaining(cause) });
  });

  it('says overflow when even the newest message does not fit', async () => {
    const { parts } = setUp([], {
      assemble: async () => {
        throw new StrataError('WINDOW_TOO_SMALL', { usedTokens: 5000, windowTokens: 2000 });
      },
    });
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed', reason: 'overflow' });
  });

  it('keeps a name that models make up short and clean', async () => {
    const { parts, seen } = setUp([calls(`a\u001b[2J\u202e\n${'b'.repeat(1000)}`), text('done')]);
    const { steps } = await runTurn(parts, 't1');
    const [call] = seen.ran;
    expect(call?.tool).toMatch(/^a\[2J b{20,}$/u);
    expect(call?.tool).toHaveLength(100);
    expect(steps[0]?.results[0]?.tool).toBe(call?.tool);
  });

  it('cuts no character of such a name in half', async () => {
    const { parts, seen } = setUp([calls(`a${'😀'.repeat(100)}`), text('done')]);
    const { steps } = await runTurn(parts, 't1');
    const names = [...seen.ran, ...(steps[0]?.calls ?? [])].map(({ tool }) => tool);
    expect(names).toHaveLength(2);
    for (const name of names) expect(name.isWellFormed()).toBe(true);
  });

  it('runs eight calls of a step at once, in order', async () => {
    let [running, most] = [0, 0];
    const order: string[] = [];
    const callTool = async (call: ToolCall) => {
      running += 1;
      most = Math.max(most, running);
      order.push(call.callId);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return result(call);
    };
    const { parts } = setUp([calls(...Array.from({ length: 100 }, () => 'look')), text('done')], { callTool });
    const { steps } = await runTurn(parts, 't1');
    expect(most).toBe(8);
    const ids = Array.from({ length: 100 }, (_, index) => `t1.1.${index + 1}`);
    expect(order).toEqual(ids);
    expect(steps[0]?.results.map(({ callId }) => callId)).toEqual(ids);
  });

  it('starts no further call once one has failed', async () => {
    const ran: string[] = [];
    const callTool = async ({ callId }: ToolCall) => {
      ran.push(callId);
      throw new Error('the turn is over');
    };
    const { parts } = setUp([calls(...Array.from({ length: 100 }, () => 'look'))], { callTool });
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(ran).toHaveLength(8);
  });

  it('rejects if the store is away before any call', async () => {
    const assemble = () => Promise.reject(away);
    await expect(runTurn(setUp([], { assemble }).parts, 't1')).rejects.toBe(away);
  });

  it('repeats no call because the store is away afterwards', async () => {
    const callTool = (call: ToolCall) => (call.tool === 'send' ? Promise.resolve(result(call)) : Promise.reject(away));
    const { parts } = setUp([calls('send', 'look')], { callTool });
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'failed' });
  });

  it('survives 18 parallel calls in one step', async () => {
    const names = Array.from({ length: 18 }, (_, index) => `tool${index}`);
    const { parts, requests } = setUp([calls(...names), text('all done')]);
    expect(await runTurn(parts, 't1')).toMatchObject({ kind: 'answered' });
    const results = requests.at(-1)?.messages.find((message) => message.role === 'tool');
    expect(results?.role === 'tool' && results.results.map((one) => one.tool)).toEqual(names);
  });
});
