import { createInterface } from 'node:readline';
import { z } from 'zod';
import { createAiSdkModels } from '../../adapters/models/ai-sdk/index.ts';
import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { type Channel, type ChannelSink, defineTool, type Storage } from '../../src/adapter-kit.ts';
import { createBot } from '../../src/bot/bot.ts';
import { defaultAgent } from '../../src/config/defaults.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { commandSchema, KEY, type Line, lifeSchema } from './lines.ts';

/**
 * A real bot on real parts, controlled by lines: messages arrive on standard input, events leave on standard output. It
 * kills itself with -9 in a given step.
 */
const life = lifeSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
const agent = defaultAgent({
  model: 'test:model',
  context_window: 2600,
  max_output_tokens: 300,
  persona: 'You are a bot.',
  tools: ['look'],
  mode: 'active',
  compaction: { stack_share: 0.06, timeout_seconds: 60, idle_minutes: life.idleMinutes },
});
const look = defineTool({
  name: 'look',
  description: 'Looks something up',
  input: z.object({ what: z.string() }),
  run: async ({ what }) => `The result for ${what} is in.`,
});
const storage = await createSqliteStorage({ directory: life.directory });
const bot = createBot({
  storage: deadly(storage),
  queue: createLocalQueue({ log: silentLog }),
  models: createAiSdkModels({ environment: {}, providers: { test: { baseUrl: life.url } } }),
  channels: [lineChannel()],
  agents: [agent],
  tools: [look],
});
bot.events.on((event) => tell({ kind: 'event', event: event.kind, at: Date.now() }));
await bot.start();
tell({ kind: 'ready' });

function tell(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The platform at the other end of the lines knows a nonce again, so a post may be repeated. */
function lineChannel(): Channel {
  const taken = new Map<string, () => void>();
  return {
    platform: 'lines',
    traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    async start(sink) {
      createInterface({ input: process.stdin }).on('line', (line) => {
        hear(sink, taken, line).catch((error: unknown) => tell({ kind: 'trouble', message: String(error) }));
      });
    },
    split: (text) => [{ kind: 'text', text }],
    post: ({ nonce, body, replyTo }, { signal }) =>
      new Promise((resolve, reject) => {
        taken.set(nonce, () => resolve({ platformMessageId: `p-${nonce}` }));
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        tell({ kind: 'post', nonce, text: body.text, replyTo });
      }),
    show: () => undefined,
    stop: async () => undefined,
  };
}

async function hear(sink: ChannelSink, taken: Map<string, () => void>, text: string): Promise<void> {
  const line = commandSchema.parse(JSON.parse(text));
  switch (line.kind) {
    case 'message':
      await sink.message({
        conversation: KEY,
        externalId: line.id,
        author: { id: 'u-ada', name: 'Ada', kind: 'person' },
        text: line.text,
        attachments: [],
        replyTo: null,
        mentions: [],
        addressesBot: true,
        audience: 'private',
        at: Date.now(),
      });
      return tell({ kind: 'accepted', id: line.id });
    case 'send': {
      const { isNew } = await bot.send(KEY, line.text, { id: line.id, audience: 'private' });
      return tell({ kind: 'sent', id: line.id, isNew });
    }
    case 'taken':
      taken.get(line.nonce)?.();
      return;
    case 'stop':
      await bot.stop({ deadlineMs: 5000 });
      tell({ kind: 'stopped' });
      process.exit(0);
      break;
    default:
      line satisfies never;
  }
}

/**
 * Every write of the store is a step in which the process can die: right before it, or right after it has resolved. A
 * message may not be on the disk by then.
 */
function deadly({ store, ...rest }: Storage): Storage {
  const step = <Arguments extends readonly unknown[], Result>(
    name: string,
    work: (...given: Arguments) => Promise<Result>,
  ): ((...given: Arguments) => Promise<Result>) => {
    let count = 0;
    return async (...given) => {
      count += 1;
      const isMine = count > life.spare;
      if (isMine && life.killAt === `before ${name}`) process.kill(process.pid, 'SIGKILL');
      const result = await work(...given);
      if (isMine && life.killAt === `after ${name}`) process.kill(process.pid, 'SIGKILL');
      return result;
    };
  };
  const { conversations, transcript, summaries, outbox } = store;
  const claims = {
    reply: step('the claim to reply', conversations.claim),
    maintenance: step('the claim to maintain', conversations.claim),
  };
  return {
    ...rest,
    store: {
      ...store,
      conversations: {
        ...conversations,
        claim: (claim) => claims[claim.work](claim),
        release: step('the end of a job', conversations.release),
      },
      transcript: {
        ...transcript,
        append: step('a message is stored', transcript.append),
        commitTurn: step('a reply is stored', transcript.commitTurn),
      },
      summaries: {
        ...summaries,
        commitCompaction: step('a summary is stored', summaries.commitCompaction),
        commitCondensation: step('a condensed summary is stored', summaries.commitCondensation),
        commitExtraction: step('memories of a silent tail are stored', summaries.commitExtraction),
        openGap: step('a gap is opened', summaries.openGap),
      },
      outbox: { ...outbox, sent: step('a post is known to be sent', outbox.sent) },
    },
  };
}
