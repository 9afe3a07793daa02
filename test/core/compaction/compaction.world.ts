import { rm, stat } from 'node:fs/promises';
import { expect } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type {
  Audience,
  ChatModel,
  Clock,
  ContextSnapshot,
  Conversation,
  ConversationKey,
  EventKind,
  EventOf,
  JsonValue,
  Log,
  MaintainRequest,
  MaintainResult,
  ModelPart,
  ModelRequest,
  Part,
  Services,
  StrataEvent,
  SummaryId,
  ToolSpec,
} from '../../../src/adapter-kit.ts';
import { createMaintenance, type Maintenance } from '../../../src/compaction/maintenance.ts';
import { type AgentOverrides, defaultAgent } from '../../../src/config/defaults.ts';
import { estimateParts } from '../../../src/context/measure/tokens.ts';
import { createProfiles, type Profiles } from '../../../src/context/profile/profile.ts';
import { createPrices } from '../../../src/costs/prices.ts';
import { makeKey } from '../../../src/domain/key.ts';
import type { Hooks } from '../../../src/hooks/hooks.ts';
import { createHookRunner } from '../../../src/hooks/runner.ts';
import { createBreaker } from '../../../src/models/breaker.ts';
import { createEvents } from '../../../src/ports/events.ts';
import type { SystemSection } from '../../../src/ports/sections.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { createSystemRandom } from '../../../src/util/time/clock.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/** Compiles each prompt once for all worlds. */
const prompts = createPromptLibrary();

/** What a scripted model says in one step. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: JsonValue }[];
  readonly finish?: 'stop' | 'length' | 'filtered' | 'refused' | 'declined';
  /** The stream breaks off without an end. */
  readonly cut?: true;
  readonly inputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  /** What it wants back with its calls. */
  readonly reasoning?: string;
}

/** Answers one request; a rejection is the model's failure. */
export type Script = (
  request: ModelRequest,
  options: { readonly signal: AbortSignal; readonly count: number },
) => Said | Promise<Said>;

export interface ScriptedModel extends ChatModel {
  readonly requests: ModelRequest[];
  script: Script;
}

/** A model that follows a script: what these tests say in the place of a provider. */
export function scriptedModel(
  script: Script,
  options: { readonly id?: string; readonly window?: number | null; readonly tools?: boolean } = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  const self: ScriptedModel = {
    id: options.id ?? 'test:summariser',
    traits: { windowTokens: options.window ?? null, tools: options.tools ?? true, images: false },
    requests,
    script,
    async *stream(request, { signal }): AsyncGenerator<ModelPart> {
      requests.push(request);
      const said = await self.script(request, { signal, count: requests.length });
      if (said.text !== undefined) yield { kind: 'text', text: said.text };
      for (const [index, call] of (said.calls ?? []).entries()) {
        // Providers repeat ids, so nothing may rely on them.
        // Models may give the properties of a call in any order.
        yield { kind: 'call', call: { ...call, callId: `call-${index}` } };
      }
      if (said.cut === true) return;
      const { inputTokens = 100, outputTokens = 10, reasoningTokens = 0, cacheReadTokens = 0 } = said;
      const usage = { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens: 0 };
      const reason = said.finish ?? ((said.calls ?? []).length > 0 ? 'tool-calls' : 'stop');
      yield { kind: 'finish', reason, usage, ...(said.reasoning === undefined ? {} : { reasoning: said.reasoning }) };
    },
  };
  return self;
}

/** The source that the model was given, as in the request. */
export function transcriptIn(request: ModelRequest): string {
  const first = request.messages[0];
  const content = first?.role === 'user' ? first.content[0] : undefined;
  const text = content?.kind === 'text' ? content.text : '';
  return /<(transcript|summaries)-(\w+)>\n([\s\S]*?)\n?<\/\1-\2>/u.exec(text)?.[3] ?? '';
}

export function promptIn(request: ModelRequest): string {
  const first = request.messages[0];
  const content = first?.role === 'user' ? first.content[0] : undefined;
  return content?.kind === 'text' ? content.text : '';
}

export function seqsIn(request: ModelRequest): readonly number[] {
  return [...transcriptIn(request).matchAll(/^\[#(\d+) \|/gmu)].map((match) => Number(match[1]));
}

/** Keeps every sentence that says FACT, in a summary and, for lines of people, as memories. */
export const faithful: Script = (request) => {
  const transcript = transcriptIn(request);
  const facts = [...new Set(transcript.match(/FACT [^.\n]*\./gu) ?? [])];
  if (request.purpose === 'extract') return { calls: memoriesOf(transcript) };
  // Words of the source: a summary that shares none with it is refused.
  const opening = /\]\s[^\p{L}]*([\p{L}\p{N}]+(?: [\p{L}\p{N}]+){0,2})/u.exec(transcript)?.[1] ?? 'little';
  const summary = `People talked about the river and the garden, ${opening}. ${facts.join(' ')}`;
  if (request.purpose === 'condense') return { text: summary };
  return { calls: [{ tool: 'summary_save', input: { summary } }, ...memoriesOf(transcript)] };
};

function memoriesOf(transcript: string): readonly { tool: string; input: JsonValue }[] {
  return [...transcript.matchAll(/^\[#(\d+) \| [^\]]*\] .*?FACT ([^.\n]*)\./gmu)].map((match) => ({
    tool: 'memory_save',
    input: { kind: 'fact', text: `${match[2]}.`, sources: [Number(match[1])], importance: 0.7 },
  }));
}

/** Time that moves only on request; sleepers wake in order. */
export interface TestClock extends Clock {
  advance(ms: number): Promise<void>;
  /** As after a machine was asleep: everything overdue runs once. */
  jump(ms: number): Promise<void>;
}

export function testClock(start = Date.UTC(2026, 10, 20, 10)): TestClock {
  let now = start;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  const inOrder = () => [...sleepers].sort((a, b) => a.at - b.at);
  return {
    now: () => now,
    sleep: (ms, { signal }) =>
      new Promise((resolve, reject) => {
        const wake = () => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = { at: now + ms, wake };
        const stop = () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        };
        if (signal.aborted) return stop();
        sleepers.add(sleeper);
        signal.addEventListener('abort', stop, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = inOrder();
        if (next === undefined || next.at > end) break;
        now = next.at;
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
    async jump(ms) {
      now += ms;
      for (const { at, wake } of inOrder()) if (at <= now) wake();
      await settle();
    },
  };
}

/** Runs everything that can continue without time passing, however long the disk takes. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turn % 4 === 3) await stat('.');
    while (process.getActiveResourcesInfo().includes('FSReqCallback')) await stat('.');
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The awaited condition did not come true within 60 s.');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export interface WorldOptions {
  readonly model?: ScriptedModel;
  /** Writes the summaries instead of `model`. */
  readonly summariser?: ChatModel;
  readonly log?: Log;
  readonly window?: number;
  readonly reserve?: number;
  readonly hooks?: readonly Hooks[];
  readonly agent?: AgentOverrides;
  readonly directory?: string;
  readonly clock?: TestClock;
  readonly audience?: Audience;
  readonly tools?: readonly ToolSpec[];
  readonly instructions?: SystemSection;
  /** Learned before the first message. Default: nothing was learned. */
  readonly ratio?: number;
}

export interface World extends AsyncDisposable {
  readonly services: Services;
  readonly profiles: Profiles;
  readonly maintenance: Maintenance;
  readonly model: ScriptedModel;
  readonly clock: TestClock;
  readonly directory: string;
  readonly key: ConversationKey;
  readonly events: StrataEvent[];
  /** A message of a person that is not answered. Returns its seq. */
  say(
    text: string,
    options?: { readonly author?: string; readonly id?: string; readonly key?: ConversationKey },
  ): Promise<number>;
  /** A message and the answer to it, with tool traffic between them when it is given. Returns the seq of the answer. */
  exchange(text: string, reply: string, tools?: readonly ToolUse[]): Promise<number>;
  conversation(): Promise<Conversation>;
  snapshot(): Promise<ContextSnapshot>;
  run(request?: Partial<MaintainRequest>): Promise<MaintainResult>;
  emergency(toSeq: number): Promise<void>;
  of<Kind extends EventKind>(kind: Kind): readonly EventOf<Kind>[];
  /** Closes the store without releasing claims, like a crash. */
  crash(): Promise<void>;
}

export interface ToolUse {
  readonly tool: string;
  readonly input: JsonValue;
  readonly result: string;
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const directory = options.directory ?? (await createStoreFolder('compaction'));
  const clock = options.clock ?? testClock();
  const window = options.window ?? 2000;
  const model = options.model ?? scriptedModel(faithful, { window: 32_000 });
  const { summariser = model, log = silentLog } = options;
  const random = createSystemRandom(clock);
  const seen: StrataEvent[] = [];
  const events = createEvents({ now: clock.now, onListenerError: () => undefined });
  events.on((event) => void seen.push(event));
  const storage = await createSqliteStorage({ directory });
  const queue = createLocalQueue({ log: silentLog, clock });
  const agent = defaultAgent({
    model: 'test:chat',
    context_window: window,
    max_output_tokens: options.reserve ?? 200,
    persona: 'You are a bot.',
    tools: [],
    ...options.agent,
    compaction: { model: summariser.id, ...options.agent?.compaction },
  });
  const services: Services = {
    ...storage,
    queue,
    models: {
      open: async (id) => (id === summariser.id ? summariser : scriptedModel(() => ({ text: 'Hello.' }), { id })),
      choose: async () => ({ modelId: 'test:chat', reason: 'it is the only one' }),
    },
    agents: { agentFor: () => agent, agent: (id) => (id === agent.id ? agent : null), list: () => [agent] },
    prices: createPrices({}, silentLog),
    reranker: null,
    prompts,
    hooks: createHookRunner(options.hooks ?? [], clock),
    events,
    clock,
    random,
    log,
  };
  const { instructions = null, ratio } = options;
  const profiles = createProfiles({
    services,
    tools: { specs: () => options.tools ?? [] },
    instructions: async () => instructions,
  });
  const calibration =
    ratio === undefined ? null : { model: 'test:chat', ratio, samples: 9, lastInputTokens: 0, revision: 0 };
  const maintenance = createMaintenance({ services, profiles, breaker: createBreaker(services) });
  const key = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });
  const idleExtractMs = agent.compaction.idle_minutes * MINUTE_MS;
  const conversation = async (): Promise<Conversation> => {
    const found = await storage.store.conversations.find(key);
    if (found === null) throw new Error('Nothing was said yet.');
    return found;
  };
  const append = async (
    text: string,
    wantsReply: boolean,
    of: { author?: string; id?: string; key?: ConversationKey } = {},
  ) => {
    const name = of.author ?? 'Ada';
    const parts: readonly Part[] = [{ kind: 'text', text }];
    await clock.advance(1000);
    return await storage.store.transcript.append({
      conversation: of.key ?? key,
      audience: options.audience ?? 'private',
      message: {
        externalId: of.id ?? random.id(),
        role: 'user',
        author: { id: name.toLowerCase(), name, kind: 'person' },
        parts,
        replyTo: null,
        mentions: [],
        tokens: estimateParts(parts),
        at: clock.now(),
      },
      wantsReply,
      claimLeaseMs: wantsReply ? 30_000 : null,
      idleExtractMs,
      now: clock.now(),
    });
  };
  return {
    services,
    profiles,
    maintenance,
    model,
    clock,
    directory,
    key,
    events: seen,
    say: async (text, of) => (await append(text, false, of)).seq,
    async exchange(text, reply, tools = []) {
      const result = await append(text, true);
      if (result.kind !== 'stored' || result.claim === null) throw new Error('The reply could not be claimed.');
      const commit = await storage.store.transcript.commitTurn({
        claim: result.claim,
        readUpto: result.seq,
        entries: entriesOf(result.seq, tools, reply).map((entry) => ({ ...entry, at: clock.now() })),
        posts: [],
        usage: [],
        calibration,
        maintainAt: clock.now() + idleExtractMs,
        now: clock.now(),
      });
      if (commit.kind !== 'committed') throw new Error('The turn was not stored.');
      return commit.entries.at(-1)?.seq ?? 0;
    },
    conversation,
    async snapshot() {
      const { id } = await conversation();
      const snapshot = await storage.store.transcript.context(id, { maxEntries: 100_000 });
      if (snapshot === null) throw new Error('The conversation is gone.');
      return snapshot;
    },
    async run(request = {}) {
      const { id } = await conversation();
      const signal = new AbortController().signal;
      return await maintenance.run({ conversationId: id, trigger: 'queue', instruction: null, signal, ...request });
    },
    async emergency(toSeq) {
      const { id, compactedUpto } = await conversation();
      const gap = { id: random.id() as SummaryId, conversationId: id, expectedCompactedUpto: compactedUpto, toSeq };
      expect(await storage.store.summaries.openGap({ ...gap, now: clock.now() })).toBe('committed');
    },
    of: <Kind extends EventKind>(kind: Kind) => seen.filter((event): event is EventOf<Kind> => event.kind === kind),
    async crash() {
      await storage.store.close();
    },
    async [Symbol.asyncDispose]() {
      await queue.close({ deadlineMs: 500 });
      await storage.store.close();
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

function entriesOf(turn: number, tools: readonly ToolUse[], reply: string) {
  const rounds = tools.flatMap(({ tool, input, result }, index) => {
    const callId = `t${turn}.${index + 1}`;
    const call: readonly Part[] = [{ kind: 'tool-call', callId, tool, input }];
    const answer: readonly Part[] = [{ kind: 'tool-result', callId, tool, text: result, isError: false, blob: null }];
    return [
      { role: 'assistant' as const, parts: call, tokens: estimateParts(call) },
      { role: 'tool' as const, parts: answer, tokens: estimateParts(answer) },
    ];
  });
  const parts: readonly Part[] = [{ kind: 'text', text: reply }];
  return [...rounds, { role: 'assistant' as const, parts, tokens: estimateParts(parts) }];
}

/** I2: the stack is contiguous and disjoint, and with the tail it covers the conversation exactly. */
export async function expectCovered(world: World): Promise<void> {
  const { conversation, stack, tail } = await world.snapshot();
  let next = conversation.contextFrom;
  for (const item of stack) {
    expect(item.fromSeq).toBe(next);
    expect(item.toSeq).toBeGreaterThanOrEqual(item.fromSeq);
    next = item.toSeq + 1;
  }
  expect(next).toBe(conversation.compactedUpto + 1);
  expect(tail.map((entry) => entry.seq)).toEqual(
    Array.from({ length: conversation.nextSeq - next }, (_, i) => next + i),
  );
}

/** About this many tokens of meaningless text. */
export function filler(tokens: number, seed = 0): string {
  const words = ['river', 'lantern', 'copper', 'meadow', 'sailing', 'winter', 'bridge', 'garden', 'pepper', 'marble'];
  return Array.from({ length: Math.round(tokens * 0.72) }, (_, i) => words[(i * 7 + seed) % words.length]).join(' ');
}
