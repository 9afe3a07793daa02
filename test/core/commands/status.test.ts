import { describe, expect, it } from 'vitest';
import { type Storage, StrataError, type SummaryId, workspaceOf } from '../../../src/adapter-kit.ts';
import { createKit } from '../../contracts/store-kit.ts';
import { type BotWorld, type BotWorldOptions, createBotWorld } from '../../support/bot-world.ts';
import { filler, scriptedModel, until } from '../compaction/compaction.world.ts';
import { field } from './commands.world.ts';

interface StatusWorld extends BotWorld {
  readonly storage: Storage;
}

async function open(options: Partial<BotWorldOptions> = {}): Promise<StatusWorld> {
  const kept: Storage[] = [];
  const wrap = options.storage ?? ((own: Storage) => own);
  const world = await createBotWorld({
    models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })],
    ...options,
    storage: (own) => {
      kept.push(own);
      return wrap(own);
    },
  });
  const [storage] = kept;
  if (storage === undefined) throw new Error('The bot has no storage.');
  return Object.assign(world, { storage });
}

async function talk(world: BotWorld, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await world.say(filler(20));
    await world.settled();
  }
}

const fieldOf = async (world: BotWorld, name: string) => field(await world.command('status'), name);

describe('/status', () => {
  it('shows owed replies and when they are tried again', async () => {
    await using world = await open({
      storage: (own) => {
        const commitTurn = () => Promise.reject(new Error('the entry cannot be stored'));
        return { ...own, store: { ...own.store, transcript: { ...own.store.transcript, commitTurn } } };
      },
    });
    await world.say('Are you there?');
    await until(async () => (await fieldOf(world, 'Reply')) !== '');
    expect(await fieldOf(world, 'Reply')).toMatch(
      /^owed, failed 1 time, next attempt (?:now|in [\d.]+ m?s): .*the entry cannot be stored/,
    );
  });

  it('shows posts that wait, their tries and the reason', async () => {
    let refuses = true;
    await using world = await open({
      channel: (own) => ({
        ...own,
        split: (text) => [...text].map((letter) => ({ kind: 'text', text: letter })),
        post(post, options) {
          const refusal = { channel: 'Test', reason: 'slow mode', final: false, retryAfterMs: 60_000 };
          return refuses ? Promise.reject(new StrataError('POST_FAILED', refusal)) : own.post(post, options);
        },
      }),
    });
    await world.say('Are you there?');
    await until(async () => (await fieldOf(world, 'Reply')) !== '');
    const line = 'Test did not accept the message: slow mode';
    expect(await fieldOf(world, 'Reply')).toBe(`4 not posted yet, tried 1 time: ${line}`);
    await world.clock.advance(60_000);
    await until(async () => (await fieldOf(world, 'Reply')).includes('2 times'));
    expect(await fieldOf(world, 'Reply')).toBe(`4 not posted yet, tried 2 times: ${line}`);
    refuses = false;
    await world.clock.advance(60_000);
    await until(async () => (await fieldOf(world, 'Reply')) === '');
  });

  it('shows gaps, and summaries that are ready', async () => {
    await using world = await open();
    await talk(world, 6);
    const { id, compactedUpto } = await world.conversation();
    const { store } = world.storage;
    const gap = { id: 'gap' as SummaryId, conversationId: id, expectedCompactedUpto: compactedUpto, toSeq: 4 };
    expect(await store.summaries.openGap({ ...gap, now: world.clock.now() })).toBe('committed');
    expect(await fieldOf(world, 'Stack')).toMatch(/^0 summaries, 1 gap, ~?[\d,]+ tokens$/);
    const kit = createKit(world.storage);
    const held = await kit.claim('maintenance', id);
    expect(await kit.compact(held, kit.summary(5, 8), { ready: true })).toBe('committed');
    expect(await fieldOf(world, 'Stack')).toMatch(
      /^0 summaries, 1 gap, ~?[\d,]+ tokens; 1 more ready to be published$/,
    );
  });

  it('shows a job that runs', async () => {
    await using world = await open();
    await talk(world, 1);
    const { id: conversationId } = await world.conversation();
    const now = world.clock.now();
    const claim = { work: 'maintenance', conversationId, now, leaseMs: 6000 } as const;
    expect(await world.storage.store.conversations.claim(claim)).not.toBeNull();
    expect(await fieldOf(world, 'Job')).toBe('running');
    await world.clock.advance(6000);
    expect(await fieldOf(world, 'Job')).not.toBe('running');
  });

  it('shows what is wrong with the queue', async () => {
    let isBroken = false;
    await using world = await open({
      storage: (own) => {
        const { conversations } = own.store;
        const get: typeof conversations.get = (id) =>
          isBroken ? Promise.reject(new Error('the row cannot be read')) : conversations.get(id);
        return { ...own, store: { ...own.store, conversations: { ...conversations, get } } };
      },
    });
    await talk(world, 1);
    const { id } = await world.conversation();
    isBroken = true;
    world.bot.services.queue.kick(id);
    await until(() => world.bot.services.queue.stats().trouble !== null);
    isBroken = false;
    expect(await fieldOf(world, 'Queue')).toMatch(/^The job of conversation \d+ failed once: the row cannot be read/);
  });

  it('counts a thousand memories and leaves open whether more follow', async () => {
    await using world = await open();
    await talk(world, 1);
    const { id, key } = await world.conversation();
    const kit = createKit(world.storage);
    const here = { place: key, workspace: workspaceOf(key), agentId: world.bot.services.agents.agentFor(key).id };
    const writes = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => kit.inserting(`fact ${from + index}`, [1], here));
    await kit.save(id, ...writes(0, 999));
    expect(await fieldOf(world, 'Memories')).toMatch(/^999(?! or more)/);
    await kit.save(id, ...writes(999, 1));
    expect(await fieldOf(world, 'Memories')).toMatch(/^1,000 or more/);
  });
});
