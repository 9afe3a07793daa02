import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createHttpReranker } from '../../../adapters/rerankers/http/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { createBot, type EmbedRequest, type Log, makeKey, type Reranker, silentLog } from '../../../src/adapter-kit.ts';
import { waitingMessages } from '../../../src/memory/recall/recall.ts';
import { passagesFor } from '../../../src/search/passages/recall-passages.ts';
import { withPauses } from '../../../src/search/passages/reranker-pauses.ts';
import { startJsonServer } from '../../support/json-server.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { general, openWorld, type World } from '../memory/memory.world.ts';

const QUESTION = 'What colour is my tent?';
const FILLER = 'The weather report spoke of clouds and the usual traffic on the bridge. '.repeat(20);
const USED = { recall: { rerank_model: 'local:m' } };

/** Removes everything said so far from the view. */
async function leaveView(world: World): Promise<void> {
  const { id, nextSeq, compactedUpto: expectedCompactedUpto } = await world.conversation();
  const gap = { id: world.random.id() as never, conversationId: id, expectedCompactedUpto, toSeq: nextSeq - 1 };
  await world.store.summaries.openGap({ ...gap, now: world.time.now });
}

async function quoted(
  world: World,
  reranker: Reranker | null,
  recall: Partial<World['agent']['recall']> = {},
): Promise<readonly string[]> {
  const newest = await world.say(QUESTION);
  const snapshot = await world.store.transcript.context((await world.conversation()).id, { maxEntries: 100 });
  if (snapshot === null) throw new Error('no conversation');
  const waiting = waitingMessages({ snapshot, newest });
  const agent = { ...world.agent, recall: { ...world.agent.recall, ...recall } };
  const section = await passagesFor({ ...world.services, reranker }, { agent, snapshot, waiting });
  return (section?.passages ?? []).map(({ text }) => text.slice(text.indexOf(']') + 2));
}

function logged(): Log & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const none = () => undefined;
  return { warnings, debug: none, info: none, error: none, warn: (event) => void warnings.push(event) };
}

const rerankerAt = (url: string) => createHttpReranker({ providers: { local: { baseUrl: url } } });

/** Prefers texts with the word. */
const preferring = (word: string) => (request: { readonly body: string }) => {
  const { documents = [], input = [] } = JSON.parse(request.body);
  const has = (text: string) => Number(text.includes(word));
  return {
    body: {
      results: documents.map((text: string, index: number) => ({ index, relevance_score: has(text) })),
      data: input.map((text: string, index: number) => ({ index, embedding: [index === 0 ? 1 : has(text), 0.01] })),
    },
  };
};

async function tellOfTents(world: World): Promise<void> {
  for (const text of ['My tent is orange.', 'A tent has a colour like canvas.', 'The tent was soaked.', FILLER])
    await world.say(text);
  await leaveView(world);
}

describe('a reranker', () => {
  it.each(['rerank', 'embeddings'] as const)('brings forward what it prefers (%s)', async (rerank_with) => {
    await using world = await openWorld({ recall: { ...USED.recall, rerank_with } });
    await tellOfTents(world);
    const plain = await quoted(world, null);
    await using server = await startJsonServer(preferring('soaked'));
    const ranked = await quoted(world, rerankerAt(server.url));
    const place = (texts: readonly string[]) => texts.indexOf('The tent was soaked.');
    expect(place(plain)).toBeGreaterThan(0);
    expect(place(ranked)).toBeLessThan(place(plain));
    expect(ranked.toSorted()).toEqual(plain.toSorted());
    expect(server.requests).toHaveLength(1);
  });

  it('gets no text that the asker may not see', async () => {
    await using world = await openWorld(USED);
    await world.say('My tent is purple.', { key: general });
    await world.say('The tent of before was black.');
    const { id } = await world.conversation();
    await world.store.conversations.change(id, { kind: 'reset', now: world.time.now });
    await world.say('The tent has the code 4417.', { externalId: 'x1' });
    await world.store.transcript.redact(id, { externalIds: ['x1'], now: world.time.now });
    await tellOfTents(world);
    await world.say('This tent is still in view.');
    await using server = await startJsonServer(preferring('canvas'));
    expect(await quoted(world, rerankerAt(server.url))).not.toEqual([]);
    const sent = server.requests.map(({ body }) => body).join('');
    expect(sent).toContain('orange');
    for (const hidden of ['purple', 'black', '4417', 'still in view']) expect(sent).not.toContain(hidden);
  });

  it('is asked nothing unless the agent names one', async () => {
    await using world = await openWorld();
    await tellOfTents(world);
    await using server = await startJsonServer(preferring('canvas'));
    expect(await quoted(world, rerankerAt(server.url))).toContain('My tent is orange.');
    expect(server.requests).toEqual([]);
  });

  it('delays one reply when it hangs, then rests', async () => {
    await using world = await openWorld({ recall: { ...USED.recall, rerank_timeout_ms: 500 } });
    await tellOfTents(world);
    const plain = await quoted(world, null);
    await using server = await startJsonServer(() => null);
    const log = logged();
    const hanging = rerankerAt(server.url);
    let calls = 0;
    const counted: Reranker = {
      ...hanging,
      async rerank(request) {
        calls += 1;
        return await hanging.rerank(request);
      },
    };
    const patient = withPauses(counted, { clock: world.services.clock, log });
    expect(await quoted(world, patient)).toEqual(plain);
    expect(await quoted(world, patient)).toEqual(plain);
    expect(calls).toBe(1);
    expect(log.warnings).toEqual(['recall.unranked']);
    world.time.now += 31_000;
    expect(await quoted(world, patient)).toEqual(plain);
    expect(calls).toBe(2);
  });

  it.each([{ rerank_with: 'embeddings' }, { rerank_timeout_ms: 5000 }] as const)(
    'rests only for the agent whose request failed (%o)',
    async (other) => {
      await using world = await openWorld({ recall: { ...USED.recall, rerank_timeout_ms: 500 } });
      await tellOfTents(world);
      const plain = await quoted(world, null);
      let isFirst = true;
      const prefer = preferring('soaked');
      await using server = await startJsonServer((request) => {
        const answer = isFirst ? null : prefer(request);
        isFirst = false;
        return answer;
      });
      const patient = withPauses(rerankerAt(server.url), { clock: world.services.clock, log: logged() });
      expect(await quoted(world, patient)).toEqual(plain);
      expect(await quoted(world, patient)).toEqual(plain);
      expect(server.requests).toHaveLength(1);
      expect(await quoted(world, patient, other)).not.toEqual(plain);
      expect(server.requests).toHaveLength(2);
    },
  );

  it('changes nothing when it fails', async () => {
    await using world = await openWorld(USED);
    await tellOfTents(world);
    const plain = await quoted(world, null);
    await using server = await startJsonServer(() => ({ status: 503, body: {} }));
    expect(await quoted(world, rerankerAt(server.url))).toEqual(plain);
  });
});

it.each([
  ['rerank', { question: QUESTION }],
  ['embeddings', { texts: expect.arrayContaining([QUESTION]) }],
] as const)('a bot calls its own one before a reply (%s)', async (rerank_with, request) => {
  const directory = await createStoreFolder('rerank');
  const storage = await createSqliteStorage({ directory });
  const requests: EmbedRequest[] = [];
  const scored = async (given: EmbedRequest) => {
    requests.push(given);
    return given.texts.map((_, index) => index);
  };
  const reranker: Reranker = { rerank: scored, embed: async (given) => (await scored(given)).map((value) => [value]) };
  const model = scriptedModel(() => ({ text: 'Orange.' }), { id: 'test:chat' });
  const bot = createBot({
    storage,
    reranker,
    queue: createLocalQueue(),
    log: silentLog,
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'main', recall: { rerank_model: 'own:small', rerank_with } }],
  });
  const conversation = makeKey({ platform: 'own', workspace: 'here', channel: 'talk' });
  const author = { id: 'u1', name: 'Ada', kind: 'person' } as const;
  const about = { conversation, author, audience: 'dm', attachments: [], replyTo: null, mentions: [] } as const;
  const say = async (text: string, addressesBot: boolean) => {
    await bot.sink.message({ ...about, text, addressesBot, externalId: text, at: Date.now() });
    await bot.settled();
  };
  for (const text of ['My tent is orange.', 'A tent has a colour like canvas.', 'The tent was soaked.'])
    await say(text, false);
  expect(requests).toEqual([]);
  const found = await storage.store.conversations.find(conversation);
  if (found === null) throw new Error('no conversation');
  const gap = { id: 'gap' as never, conversationId: found.id, expectedCompactedUpto: 0, toSeq: found.nextSeq - 1 };
  await storage.store.summaries.openGap({ ...gap, now: Date.now() });
  bot.changed(conversation);
  await say(QUESTION, true);
  expect(requests).toEqual([expect.objectContaining({ model: 'own:small', ...request })]);
  await bot.stop();
  await rm(directory, { recursive: true });
});
