// A channel of your own: people talk to the bot over TCP, one line per message. Start it: node tcp-channel.ts
// Then, in another terminal: nc 127.0.0.1 7000
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Channel, type ChannelSink, createBot, makeKey } from 'stratabot';
import { isCommandLine, runCommandLine } from 'stratabot/adapter-kit';
import { createAiSdkModels } from 'stratabot/adapters/models/ai-sdk';
import { createOfflineModel } from 'stratabot/adapters/models/offline';
import { createLocalQueue } from 'stratabot/adapters/queues/local';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';

function createTcpChannel(port: number): Channel {
  const sockets = new Map<string, Socket>();
  const server = createServer();
  const hear = (socket: Socket, sink: ChannelSink) => {
    const id = crypto.randomUUID();
    const conversation = makeKey({ platform: 'tcp', workspace: 'local', channel: id });
    sockets.set(conversation, socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(conversation));
    const author = { id, name: socket.remoteAddress ?? 'guest', kind: 'person' } as const;
    const from = { conversation, author, audience: 'dm' } as const;
    const about = { attachments: [], replyTo: null, mentions: [], addressesBot: true } as const;
    createInterface(socket).on('line', (text) => {
      const work = isCommandLine(text)
        ? runCommandLine(sink, text, { ...from, rights: 'member' }).then((reply) => socket.write(`${reply}\n`))
        : sink.message({ ...from, ...about, text, externalId: crypto.randomUUID(), at: Date.now() });
      work.catch((error: unknown) => socket.write(`Not stored: ${error}\n`));
    });
  };
  return {
    platform: 'tcp',
    traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'platform' },
    start: (sink) =>
      new Promise((resolve, reject) => {
        server.on('error', reject).on('connection', (socket) => hear(socket, sink));
        server.listen(port, '127.0.0.1', resolve);
      }),
    split: (text) => [{ kind: 'text', text }],
    async post({ conversation, body, nonce }) {
      sockets.get(conversation)?.write(`${body.text}\n`);
      return { platformMessageId: nonce };
    },
    show: () => undefined,
    linkTo: async () => null,
    async stop() {
      for (const socket of sockets.values()) socket.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
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
