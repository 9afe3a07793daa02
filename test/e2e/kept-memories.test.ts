import { createRedisMock } from 'js-redis-server';
import { describe, expect, test } from 'vitest';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { createKit, HERE, READER, textParts } from '../contracts/store-kit.ts';
import { openFolder } from './strata.ts';

const EVERYTHING = { fromSeq: 1, toSeq: 1000, limit: 1000 };
const PLACE = ['--conversation', HERE] as const;

/** A bot that has read the memories of the place, beside a command line that works on the same file. */
async function openBot() {
  const redis = await createRedisMock();
  const folder = openFolder({ STRATA_QUEUE_URL: redis.url });
  await folder.run(['chat'], 'My name is Ada and I prefer tea.\n');
  const { store, search, provenance, ...rest } = await createSqliteStorage({
    directory: folder.file('data'),
    shared: true,
    create: false,
  });
  const kit = createKit({ store, search, provenance, ...rest });
  const conversation = await store.conversations.find(HERE);
  if (conversation === null) throw new Error('nothing was said');
  const reader = { ...READER, agentId: 'main', audience: conversation.audience };
  const of = { reader, states: ['active'] } as const;
  const texts = async () => (await store.memories.list({ ...of, limit: 9, offset: 0 })).map(({ text }) => text);
  const found = (text: string) => search.memories({ ...of, text, limit: 9 });
  const [tea] = await found('tea');
  if (tea === undefined) throw new Error('nothing was remembered');
  /** Returns how the turn ends. */
  const ask = async () => {
    const asked = { wantsReply: true, claimLeaseMs: 60_000, audience: reader.audience, now: Date.now() };
    const { claim, seq } = await kit.say('And now?', asked);
    if (claim === null) throw new Error('no claim');
    return async () => (await kit.commitTurn(claim, { given: [tea.id], readUpto: seq })).kind;
  };
  return {
    id: tea.id,
    texts,
    found,
    ask,
    areReadable: () => provenance.areReadable(conversation.id, [tea.id]),
    async run(...args: readonly string[]) {
      const { code, stderr } = await folder.runProcess(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
    chat: (lines: string) => folder.runProcess(['chat'], lines),
    /** A reply that repeats the memory. */
    async repeat(text: string) {
      const asked = { wantsReply: true, claimLeaseMs: 60_000, audience: reader.audience, now: Date.now() };
      const { claim, seq } = await kit.say('And now?', asked);
      if (claim === null) throw new Error('no claim');
      const entries = [{ role: 'assistant', parts: textParts(text), tokens: 2, at: Date.now() }] as const;
      return (await kit.commitTurn(claim, { given: [tea.id], readUpto: seq, entries })).kind;
    },
    runAsking: folder.runAsking,
    transcript: async () => JSON.stringify(await store.transcript.read(conversation.id, EVERYTHING)),
    async [Symbol.asyncDispose]() {
      await store.close();
      await redis.close();
      folder[Symbol.dispose]();
    },
  };
}

describe('a bot notices at once that the command line', () => {
  test.each([
    ['forgets a memory', ['memory', 'forget', 'tea', ...PLACE, '--yes']],
    ['forgets a message', ['memory', 'forget', '#1', ...PLACE, '--yes']],
  ])('%s', async (_, command) => {
    await using bot = await openBot();
    for (let turn = 0; turn < 3; turn += 1) expect(await (await bot.ask())()).toBe('committed');
    const commit = await bot.ask();
    expect([await bot.areReadable(), await bot.texts()]).toEqual([true, [expect.any(String), expect.any(String)]]);
    await bot.run(...command);
    expect(await bot.texts()).not.toContainEqual(expect.stringContaining('tea'));
    expect([await bot.found('tea'), await bot.areReadable()]).toEqual([[], false]);
    expect(await commit()).toBe('stale');
    expect(await (await bot.ask())()).toBe('stale');
  });

  test('words a memory anew', async () => {
    await using bot = await openBot();
    await bot.run('memory', 'edit', bot.id, 'Ada', 'prefers', 'coffee', ...PLACE);
    expect(await bot.texts()).toContain('Ada prefers coffee');
    expect([await bot.found('tea'), (await bot.found('coffee')).map(({ id }) => id)]).toEqual([[], [bot.id]]);
  });

  test('erases a conversation', async () => {
    await using bot = await openBot();
    expect(await (await bot.ask())()).toBe('committed');
    expect(await bot.chat('/privacy erase yes\n')).toMatchObject({ code: 0 });
    expect([await bot.texts(), await bot.found('tea'), await bot.areReadable()]).toEqual([[], [], false]);
  });
});

test('what a bot says meanwhile is forgotten, too', async () => {
  await using bot = await openBot();
  const answers = async function* () {
    expect(await bot.repeat('Ada prefers tea, as ever.')).toBe('committed');
    yield 'y\n';
    yield 'y\n';
  };
  const { code, stderr } = await bot.runAsking(['memory', 'forget', 'tea', ...PLACE], answers());
  expect(await bot.transcript()).not.toContain('as ever');
  expect({ code, asked: stderr.split('Delete for good?').length - 1 }).toEqual({ code: 0, asked: 2 });
});

test('what is forgotten meanwhile is not asked about again', async () => {
  await using bot = await openBot();
  const forget = ['memory', 'forget', 'tea', ...PLACE];
  const answers = async function* () {
    await bot.run(...forget, '--yes');
    yield 'y\n';
    yield 'y\n';
  };
  const { code, stderr } = await bot.runAsking(forget, answers());
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'Delete for good? [y/N] Nothing matches, so there is nothing to forget.\n',
  });
});
