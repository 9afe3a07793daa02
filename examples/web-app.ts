// A web application with the bot inside. Start it: node web-app.ts, then open http://127.0.0.1:8000/?as=Ada
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Channel, createBot, makeKey } from 'stratabot';
import { createAiSdkModels } from 'stratabot/adapters/models/ai-sdk';
import { createOfflineModel } from 'stratabot/adapters/models/offline';
import { createLocalQueue } from 'stratabot/adapters/queues/local';
import { createSqliteStorage } from 'stratabot/adapters/stores/sqlite';

const PAGE = `<!doctype html><pre id="log"></pre><form><input name="text" autofocus></form><script>
  const show = (text) => { log.textContent += text + '\\n' };
  new EventSource('/events' + location.search).onmessage = ({ data }) => show('Bot: ' + JSON.parse(data));
  document.forms[0].onsubmit = (event) => {
    event.preventDefault();
    const body = event.target[0].value;
    fetch('/say' + location.search, { method: 'POST', body }).then(() => show('You: ' + body), event.target.reset());
  };</script>`;
const readers = new Map<string, ServerResponse>();
const web: Channel = {
  platform: 'web',
  traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'platform' },
  start: async () => void server.listen(Number(process.env['PORT'] ?? 8000), '127.0.0.1'),
  split: (reply) => [{ kind: 'text', text: reply }],
  async post({ conversation, body, nonce }) {
    if (!readers.has(conversation)) throw new Error('The page is closed'); // The bot tries again.
    readers.get(conversation)?.write(`data: ${JSON.stringify(body.text)}\n\n`);
    return { platformMessageId: nonce };
  },
  show: () => undefined,
  linkTo: async () => null,
  stop: async () => void server.close(), // Running replies are still posted to open pages.
};
const bot = createBot({
  channels: [web],
  models: createAiSdkModels({ environment: process.env, builtIn: { offline: async () => createOfflineModel() } }),
  queue: createLocalQueue(),
  storage: await createSqliteStorage({ directory: 'data' }),
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const name = searchParams.get('as') || 'guest'; // Use your own sessions here.
  const conversation = makeKey({ platform: 'web', workspace: 'local', channel: name });
  if (pathname === '/events') {
    readers.set(conversation, response);
    response.on('close', () => readers.get(conversation) === response && readers.delete(conversation));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  } else if (pathname === '/say') {
    const author = { id: name, name, kind: 'person' } as const;
    const about = { attachments: [], replyTo: null, mentions: [], addressesBot: true, audience: 'dm' } as const;
    const sent = { author, text: await text(request), externalId: crypto.randomUUID(), at: Date.now() };
    response.end(JSON.stringify(await bot.sink.message({ ...about, ...sent, conversation })));
  } else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
await bot.start();
process.once('SIGTERM', () => bot.stop().then(() => server.closeAllConnections()));
