import { afterEach, beforeEach, expect, test } from 'vitest';
import { EMULATED_BOT, EMULATED_TOKEN, startEmulator } from '../../fixtures/slack/emulator.ts';
import { install, many } from '../../fixtures/slack/installing.ts';
import { type Opened, openChannel, until } from '../../fixtures/slack/kit.ts';
import { freePort } from '../../support/port.ts';

let emulator: Awaited<ReturnType<typeof startEmulator>>;
let bot: Opened;
let port = 0;
let channel = '';
beforeEach(async () => {
  port = await freePort();
  emulator = await startEmulator(await freePort(), `http://127.0.0.1:${port}/slack/events`);
  const { channels } = await emulator.call('conversations.list', {});
  const list = channels as readonly { readonly id: string; readonly name: string }[];
  channel = list.find(({ name }) => name === 'bots')?.id ?? '';
});
afterEach(async () => {
  await bot.channel.stop();
  await emulator.close();
});

const start = async (table: Record<string, unknown>): Promise<void> => {
  bot = openChannel(emulator, { table });
  await bot.channel.start(bot.sink);
};
const { signal } = new AbortController();

test('receives, replies, edits and deletes over signed HTTP', async () => {
  await start({ bot_token: EMULATED_TOKEN, transport: 'http', http: { host: '127.0.0.1', port } });
  const { ts } = await emulator.call('chat.postMessage', { channel, text: `<@${EMULATED_BOT}> hi` });
  const message = await until('it arrives', () => bot.sink.messages[0]);
  expect(message).toMatchObject({ externalId: ts, addressesBot: true, audience: 'public', author: { kind: 'person' } });
  const body = { kind: 'text', text: '**Hello** <!channel>' } as const;
  const post = { conversation: message.conversation, nonce: '1-1-0', body, replyTo: message.externalId, attempt: 1 };
  const { platformMessageId } = await bot.channel.post(post, { signal });
  const replies = await emulator.call('conversations.replies', { channel, ts: String(ts) });
  expect(replies['messages']).toMatchObject([{ ts }, { ts: platformMessageId, text: '*Hello* &lt;!channel&gt;' }]);
  await emulator.call('chat.update', { channel, ts: String(ts), text: 'hello again' });
  await emulator.call('chat.delete', { channel, ts: String(ts) });
  await until('the deletion', () => bot.sink.removals.some(({ externalIds }) => externalIds[0] === ts));
});

test('works when installed by its own pages', async () => {
  await start(many(port));
  expect(await install(port, emulator.authorize)).toMatchObject({ status: 200 });
  const { ts } = await emulator.call('chat.postMessage', { channel, text: `<@${EMULATED_BOT}> hi` });
  const message = await until('it arrives', () => bot.sink.messages[0]);
  expect(message).toMatchObject({ externalId: ts, addressesBot: true });
  const body = { kind: 'text', text: 'Hello' } as const;
  const post = { conversation: message.conversation, nonce: '1-1-0', body, replyTo: message.externalId, attempt: 1 };
  await bot.channel.post(post, { signal });
  const replies = await emulator.call('conversations.replies', { channel, ts: String(ts) });
  expect(replies['messages']).toMatchObject([{ ts }, { text: 'Hello', user: EMULATED_BOT }]);
});
