import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ADA, BOB, BOT, BOT_ROLE, type DiscordDouble, GENERAL, GUILD } from '../../fixtures/discord/double.ts';
import { discordForEachTest } from '../../fixtures/discord/each-test.ts';
import { createState, recordSink, until } from '../../fixtures/discord/kit.ts';
import { thread } from '../../fixtures/discord/payloads.ts';

let double: DiscordDouble;
const { start } = discordForEachTest((fresh) => {
  double = fresh;
});

const THREAD = '300000000000000071';
const ADDED = 1;
const REMOVED = 2;

test.each([
  ['private', 12, []],
  ['public', 11, ['among us', 'without it']],
] as const)('missed messages of a %s thread concern the bot', async (_, type, others) => {
  const options = { sink: recordSink(), state: createState() };
  const first = await start(options);
  const say = (text: string, details: object = {}) => double.say(THREAD, ADA, text, { silent: true, ...details });
  const moves = (kind: number, who = BOT) => say('', { type: kind, mentions: [who] });
  double.say(GENERAL, ADA, 'hello');
  await until('it is stored', () => options.sink.messages.length === 1);
  await first.channel.stop();
  double.addChannel(thread({ id: THREAD, guild_id: GUILD, parent_id: GENERAL, type }));
  say('among us');
  say('what does the bot say?', { mentions: [BOT] });
  // Discord then adds all who have the role.
  say('and what does its role say?', { mention_roles: [BOT_ROLE] });
  moves(ADDED);
  say('welcome');
  moves(ADDED, BOB);
  moves(REMOVED);
  say('without it');
  moves(ADDED);
  say('back again');
  await start(options);
  await until('the last', () => options.sink.messages.some(({ text }) => text === 'back again'));
  await delay(50);
  const texts = options.sink.messages.map(({ text }) => text).filter((text) => text !== 'hello');
  const meant = ['what does the bot say?', 'and what does its role say?', 'welcome', 'back again'];
  expect(new Set(texts)).toEqual(new Set([...meant, ...others]));
});
