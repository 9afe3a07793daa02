// A channel of your own: a line over TCP is a message. Start it: node tcp-channel.ts, then: nc 127.0.0.1 7000
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Channel, type ChannelSink, createBot, makeKey, StrataError } from 'stratabot';
import { isCommandLine, runCommandLine } from 'stratabot/adapter-kit';
import { createAiSdkModels } from 'stratabot/adapters/models/ai-sdk';
import { createOfflineModel } from 'stratabot/adapters/models/offline';
import { createLocalQueue } from 'stratabot/adapters/queues/local';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';

function createTcpChannel(port: number): Channel {
  const lines = new Map<string, { readonly socket: Socket; work: Promise<unknown> }>();
  const server = createServer();
  const hear = async (socket: Socket, sink: ChannelSink) => {
    const author = { id: crypto.randomUUID(), name: socket.remoteAddress ?? 'guest', kind: 'person' } as const;
    const conversation = makeKey({ platform: 'tcp', workspace: 'local', channel: author.id });
    const from = { conversation, author, audience: 'dm', attachments: [], replyTo: null, mentions: [] } as const;
    const take = async (text: string): Promise<unknown> =>
      isCommandLine(text)
        ? socket.write(`${await runCommandLine(sink, text, { ...from, rights: 'member' })}\n`)
        : sink.message({ ...from, text, addressesBot: true, externalId: crypto.randomUUID(), at: Date.now() });
    const line = { socket, work: Promise.resolve<unknown>(null) };
    lines.set(conversation, line);
    socket.on('error', () => undefined).on('close', () => lines.delete(conversation));
    for await (const text of createInterface(socket)) {
      if (!server.listening) return;
      line.work = take(text).catch((error: unknown) => socket.write(`Not stored: ${error}\n`));
      await line.work; // Each message is stored before the next one is read.
    }
  };
  return {
    platform: 'tcp',
    traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'platform' },
    start: (sink) =>
      new Promise((resolve, reject) => {
        server.on('error', reject).on('connection', (socket) => hear(socket, sink).catch(() => socket.destroy()));
        server.listen(port, '127.0.0.1', resolve);
      }),
    split: (text) => [{ kind: 'text', text }],
    async post({ conversation: key, body, nonce }) {
      if (!lines.has(key)) throw new StrataError('POST_FAILED', { channel: 'tcp', reason: 'closed', final: true });
      lines.get(key)?.socket.write(`${body.text}\n`);
      return { platformMessageId: nonce };
    },
    show: () => undefined,
    linkTo: async () => null,
    async stop() {
      server.close(); // Connections stay open for the replies that are still owed.
      for (const { socket, work } of lines.values()) await work.then(() => socket.unref());
    },
  };
}
const bot = createBot({
  channels: [createTcpChannel(Number(process.env['PORT'] ?? 7000))],
  models: createAiSdkModels({ environment: process.env, builtIn: { offline: async () => createOfflineModel() } }),
  queue: createLocalQueue(),
  storage: await createSqliteStorage({ directory: 'data' }),
});
process.once('SIGINT', () => bot.stop()).once('SIGTERM', () => bot.stop());
await bot.start();
