import { rm } from 'node:fs/promises';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type Append,
  type Audience,
  type Author,
  type Conversation,
  type ConversationKey,
  type Entry,
  type Memory,
  type MemoryId,
  makeKey,
  type NewMemory,
  type Part,
  placeOf,
  type StrataEvent,
  workspaceOf,
} from '../../../src/adapter-kit.ts';
import { type AgentOverrides, defaultAgent } from '../../../src/config/defaults.ts';
import { estimateParts } from '../../../src/context/measure/tokens.ts';
import { createHookRunner } from '../../../src/hooks/runner.ts';
import { type AdmissionRequest, admitCandidates } from '../../../src/memory/admission/admission.ts';
import type { MemoryCandidate } from '../../../src/memory/admission/candidate.ts';
import type { ForgetTarget } from '../../../src/memory/forget/forget-target.ts';
import type { Requester } from '../../../src/memory/rights/permissions.ts';
import { readerFor } from '../../../src/memory/rights/policy.ts';
import { createMemories } from '../../../src/memory/service.ts';
import { fingerprintOf } from '../../../src/memory/statements/fingerprint.ts';
import { createEvents } from '../../../src/ports/events.ts';
import { createPromptLibrary } from '../../../src/prompts/library.ts';
import { createSystemRandom } from '../../../src/util/time/clock.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

/** Compiles each prompt once for all worlds. */
const prompts = createPromptLibrary();

export const DAY = 24 * 60 * 60 * 1000;
const START = Date.UTC(2026, 0, 5, 12);
export const ada: Author = { id: 'u-ada', name: 'Ada', kind: 'person' };
export const bob: Author = { id: 'u-bob', name: 'Bob', kind: 'person' };
export const dm = makeKey({ platform: 'test', workspace: 'w', channel: 'dm-ada' });
export const general = makeKey({ platform: 'test', workspace: 'w', channel: 'general' });

/** Ada lives in Berlin, and a day later says that she moved to Paris. Returns the ids of what was learned first. */
export async function moveToParis(world: World) {
  await world.say('I live in Berlin');
  const { ids } = await world.learn([{ text: 'Ada lives in Berlin', about: 'Ada', sources: [1] }]);
  world.time.now += DAY;
  await world.say('I moved to Paris');
  await world.learn([{ text: 'Ada moved to Paris', about: 'Ada', sources: [2] }]);
  return ids;
}

/** A real store, a clock that the test moves, and short words for what tests of memories do. */
export async function openWorld(overrides: AgentOverrides = {}) {
  const directory = await createStoreFolder('memory');
  const storage = await createSqliteStorage({ directory });
  const time = { now: START };
  const clock = { now: () => time.now, sleep: async () => {} };
  const seen: StrataEvent[] = [];
  const events = createEvents({
    now: clock.now,
    onListenerError: (error) => {
      throw error;
    },
  });
  events.on((event) => seen.push(event));
  const agent = defaultAgent(overrides);
  const agents = {
    agentFor: () => agent,
    agent: (id: string) => (id === agent.id ? agent : null),
    list: () => [agent],
  };
  const random = createSystemRandom({ now: () => Date.now() });
  const personScope = (workspace: string) => workspace;
  const services = {
    ...storage,
    personScope,
    clock,
    random,
    events,
    agents,
    prompts,
    reranker: null,
    hooks: createHookRunner([], clock),
  };
  const memories = createMemories(services);
  let messages = 0;

  async function append(key: ConversationKey, message: Partial<Append['message']>, audience: Audience): Promise<Entry> {
    messages += 1;
    const parts = message.parts ?? [];
    const result = await storage.store.transcript.append({
      conversation: key,
      audience,
      message: {
        externalId: `m${messages}`,
        role: 'user',
        author: ada,
        replyTo: null,
        mentions: [],
        tokens: estimateParts(parts),
        at: time.now,
        ...message,
        parts,
      },
      wantsReply: message.role !== 'assistant',
      claimLeaseMs: null,
      idleExtractMs: 60_000,
      now: time.now,
    });
    const [entry] = await storage.store.transcript.pick(result.conversation.id, [result.seq]);
    if (entry === undefined) throw new Error('the entry was not stored');
    return entry;
  }

  return {
    ...services,
    services,
    memories,
    forget: async (target: ForgetTarget, by: Requester) => memories.forget(await memories.previewForget(target, by)),
    agent,
    time,
    seen,
    directory,
    append,
    say: (text: string, { by = ada, key = dm, audience = key === dm ? 'dm' : 'public', ...message }: Saying = {}) =>
      append(key, { author: by, parts: [{ kind: 'text', text }], ...message }, audience),
    answer: (text: string, { key = dm, parts }: { key?: ConversationKey; parts?: readonly Part[] } = {}) =>
      append(
        key,
        { role: 'assistant', author: null, externalId: null, parts: parts ?? [{ kind: 'text', text }] },
        key === dm ? 'dm' : 'public',
      ),
    async conversation(key: ConversationKey = dm): Promise<Conversation> {
      const found = await storage.store.conversations.find(key);
      if (found === null) throw new Error('there is no such conversation');
      return found;
    },
    reader: (key: ConversationKey = dm, audience: Audience = key === dm ? 'dm' : 'public') =>
      readerFor({ key, audience }, agent),
    async admit(
      candidates: readonly Proposal[],
      { key = dm, ...over }: Partial<AdmissionRequest> & { key?: ConversationKey } = {},
    ) {
      const conversation = await this.conversation(key);
      const range = { fromSeq: 1, toSeq: conversation.nextSeq, limit: 1000 };
      return admitCandidates(services, {
        conversation,
        agent,
        candidates: candidates.map(candidate),
        entries: await storage.store.transcript.read(conversation.id, range),
        model: 'offline:demo',
        promptHash: 'abc',
        extractedUpto: 0,
        ...over,
      });
    },
    /** Admits and saves. */
    async learn(candidates: readonly Proposal[], over: Partial<AdmissionRequest> & { key?: ConversationKey } = {}) {
      const admission = await this.admit(candidates, over);
      const conversation = await this.conversation(over.key ?? dm);
      const save = { conversationId: conversation.id, writes: admission.writes, actor: 'model', now: time.now };
      return { ...admission, ids: await storage.store.memories.save(save) };
    },
    async plant(text: string, over: Partial<NewMemory> = {}, sources: readonly number[] = []): Promise<MemoryId> {
      const conversation =
        sources.length > 0 ? await this.conversation(over.place === placeOf(general) ? general : dm) : null;
      const writes = [{ kind: 'insert', memory: memoryOf(text, over), sources }] as const;
      const save = { conversationId: conversation?.id ?? null, writes, actor: 'test', now: time.now };
      const [id] = await storage.store.memories.save(save);
      if (!id) throw new Error('the memory was passed over');
      return id;
    },
    all: (key: ConversationKey = dm): Promise<readonly Memory[]> =>
      storage.store.memories.list({
        reader: readerFor({ key, audience: key === dm ? 'dm' : 'public' }, agent),
        limit: 500,
        offset: 0,
      }),
    async [Symbol.asyncDispose]() {
      await storage.store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

interface Saying extends Partial<Append['message']> {
  readonly by?: Author;
  readonly key?: ConversationKey;
  readonly audience?: Audience;
}

export type Proposal = Partial<MemoryCandidate> & { readonly text: string };

function candidate(proposal: Proposal): MemoryCandidate {
  return { kind: 'fact', sources: [1], ...proposal };
}

let made = 0;

export function memoryOf(text: string, over: Partial<NewMemory> = {}): NewMemory {
  made += 1;
  return {
    id: `y${String(made).padStart(8, '0')}` as MemoryId,
    agentId: 'main',
    kind: 'fact',
    text,
    importance: 0.6,
    confidence: 0.9,
    scope: 'place',
    place: placeOf(dm),
    workspace: workspaceOf(dm),
    audience: 'dm',
    subjectId: ada.id,
    subjectName: ada.name,
    trust: 'self',
    state: 'active',
    pinned: false,
    validFrom: START,
    validUntil: null,
    fingerprint: fingerprintOf(text),
    extractedBy: null,
    ...over,
  };
}
