import { describe, expect, it } from 'vitest';
import { makeKey, textOf } from '../../src/adapter-kit.ts';
import { scriptedModel } from '../core/compaction/compaction.world.ts';
import { type BotWorld, createBotWorld } from '../support/bot-world.ts';

const MESSAGES = 60;
const THREAD = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't1' });

/** A made-up word for each message. */
function wordOf(at: number): string {
  return `quol${String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26))}vorn`;
}

/** Each message tells a word, which its answer repeats; a thread repeats the last one. */
async function told(): Promise<BotWorld> {
  let at = 0;
  const echo = scriptedModel(() => ({ text: `Noted: ${wordOf(at)}` }), { id: 'test:chat' });
  const world = await createBotWorld({ models: [echo], agent: { recall: { places: true } } });
  for (; at < MESSAGES; at += 1) {
    await world.say(`my word is ${wordOf(at)}`, { id: `a${at}` });
    await world.settled();
  }
  at = MESSAGES - 1;
  await world.say('What was my word?', { key: THREAD, id: 'b1' });
  await world.settled();
  return world;
}

async function wordsLeft(world: BotWorld): Promise<readonly string[]> {
  return (await world.entries()).flatMap(({ parts }) => textOf(parts).match(/quol\w+/gu) ?? []);
}

describe('messages that are deleted all at once', () => {
  const deletions: Readonly<Record<string, (world: BotWorld, ids: readonly string[]) => Promise<unknown>>> = {
    'on their platform': ({ bot, key }, externalIds) => bot.sink.removed({ conversation: key, externalIds }),
    'by command': async (world) => {
      const own = (await world.entries()).filter(({ role }) => role === 'user');
      return await world.command('memory forget', { id: own.map(({ seq }) => `#${seq}`).join(' '), confirm: 'yes' });
    },
  };
  it.each(Object.entries(deletions))('take with them all answers that repeat them: %s', async (_how, deleteAll) => {
    await using world = await told();
    expect(new Set(await wordsLeft(world)).size).toBe(MESSAGES);
    const ids = Array.from({ length: MESSAGES }, (_, at) => `a${at}`);
    await deleteAll(world, ids);
    expect(await wordsLeft(world)).toEqual([]);
    const thread = await world.bot.services.store.conversations.find(THREAD);
    const entries = await world.bot.services.store.transcript.pick(thread?.id ?? 0, [2]);
    expect(entries.map(({ parts }) => textOf(parts))).toEqual(['']);
  });
});
