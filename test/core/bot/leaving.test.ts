import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeChildKey, makeKey } from '../../../src/adapter-kit.ts';
import { ADA, type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';

const THREAD = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't' });
const SILENT = makeKey({ platform: 'test', workspace: 'here', channel: 'silent' });
const ORPHAN = makeChildKey(makeKey({ platform: 'test', workspace: 'here', channel: 'gone' }), 'a');
const ELSEWHERE = makeKey({ platform: 'test', workspace: 'here2', channel: 'talk' });

let world: BotWorld;
beforeEach(async () => {
  world = await createBotWorld({ models: [], agent: { mode: 'observe' } });
});
afterEach(() => world[Symbol.asyncDispose]());

const run = (conversation: typeof HERE, path: readonly string[], options: Record<string, string> = {}) =>
  world.bot.sink.command({ conversation, audience: 'private', author: ADA, rights: 'member', path, options });
const memoriesIn = async (conversation: typeof HERE) => (await run(conversation, ['memory', 'list'])).rows?.cells ?? [];

test('a workspace that the bot left keeps nothing, others everything', async () => {
  const all = [HERE, THREAD, SILENT, ORPHAN, ELSEWHERE];
  for (const key of [HERE, THREAD, ELSEWHERE]) await world.say('hello', { key, asks: false });
  for (const key of [HERE, SILENT, ELSEWHERE]) await run(key, ['memory', 'remember'], { text: 'Ada drinks tea.' });
  for (const key of [HERE, ELSEWHERE]) await run(key, ['privacy', 'pause']);
  const { store, state } = world.bot.services;
  await store.transcript.append({
    conversation: ORPHAN,
    audience: 'private',
    wantsReply: false,
    claimLeaseMs: null,
    idleExtractMs: 1,
    now: 1,
    message: {
      externalId: 'task',
      role: 'user',
      author: null,
      parts: [{ kind: 'text', text: 'hello' }],
      replyTo: null,
      mentions: [],
      tokens: 1,
      at: 1,
    },
  });
  expect(await store.conversations.find(ORPHAN)).not.toBeNull();
  await world.bot.sink.left({ workspace: 'test:here' });
  const left = await Promise.all(all.map((key) => store.conversations.find(key)));
  expect(left.map((conversation) => conversation?.key)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    ELSEWHERE,
  ]);
  expect(await Promise.all(all.map(async (key) => (await memoriesIn(key)).length))).toEqual([0, 0, 0, 0, 1]);
  expect((await state.list('privacy.paused')).map(({ key }) => key)).toEqual([`test:here2:${ADA.id}`]);
});
