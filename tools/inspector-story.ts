import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInspector } from '../adapters/inspector/web/index.ts';
import { createOfflineModel } from '../adapters/models/offline/index.ts';
import { createLocalQueue } from '../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import { type Channel, type Clock, createSystemClock, makeKey, silentLog } from '../src/adapter-kit.ts';
import { type Bot, createBot } from '../src/bot/bot.ts';
import { generalDefaults } from '../src/config/defaults.ts';
import { loadConfig } from '../src/config/load.ts';
import { type ConfigRow, rowsOf } from '../src/config/rows.ts';
import { createInspection } from '../src/inspection/inspection.ts';

/** A bot with some hours of talk and its inspector, for screenshots and for tests in a browser. */
export interface InspectedStory extends AsyncDisposable {
  readonly bot: Bot;
  /** One more message in the first conversation, and what follows from it. */
  say(): Promise<void>;
  /** The address with its key. */
  readonly url: string;
  /** A page of each kind by name. */
  readonly paths: Readonly<Record<string, string>>;
}

const WORKSHOP = makeKey({ platform: 'discord', workspace: 'workshop', channel: 'support' });
const OTHERS = ['bicycles', 'garden', 'music'].map((channel) =>
  makeKey({ platform: 'discord', workspace: 'workshop', channel }),
);
const STEP_MS = 3 * 60_000;
const PEOPLE = ['Ada', 'Bruno', 'Mei'];

const SAID = [
  'The door code of the workshop is 4711 and changes on 3 May.',
  'I prefer green tea over coffee in the morning.',
  'We decided to order the bolts from https://parts.example.org/bolts by Friday.',
  'The invoice 2026-118 over $1,250.50 is due on 15 December 2026.',
  'Please never call the customer in Lisbon before 9:30.',
  'Our meeting moved to room B-204 on Tuesday.',
  'I promise to send the report to mia@example.org tomorrow.',
  'The build machine is at 10.0.3.17, port 8443.',
  'I am allergic to peanuts.',
  'My sister Lena lives in Porto since 2019.',
  'The project is now called Northwind.',
  'I adopted a dog called Biscuit last week.',
];
const FILLER = [
  'It rained the whole afternoon, and the river behind the garden rose to the second step.',
  'The green bicycle needs a new chain, but that can wait until the weekend.',
  'Somebody left the lights on in the hall again, so I turned them off on the way out.',
];

export async function tellStory({ messages }: { readonly messages: number }): Promise<InspectedStory> {
  const directory = await mkdtemp(join(tmpdir(), 'strata-inspector-'));
  const clock = createShiftedClock(messages * STEP_MS);
  const model = createOfflineModel();
  const bot = createBot({
    storage: await createSqliteStorage({ directory }),
    queue: createLocalQueue({ log: silentLog }),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'support', model: model.id, mode: 'active', context_window: 3000, max_output_tokens: 300 }],
    channels: [channel],
    log: silentLog,
    clock,
  });
  await bot.start();
  for (let index = 0; index < messages; index += 1) {
    await say(bot, clock, { key: index % 6 === 5 ? (OTHERS[index % 3] ?? WORKSHOP) : WORKSHOP, index });
    clock.shift(STEP_MS);
  }
  let next = messages;
  const inspector = await startInspector({
    settings: generalDefaults.inspector,
    open: async () => createInspection({ services: bot.commandServices, configRows: () => rowsIn(directory) }),
    clock,
    log: silentLog,
  });
  return {
    bot,
    url: inspector.url,
    say: () => say(bot, clock, { key: WORKSHOP, index: next++ }),
    paths: await pathsOf(bot),
    async [Symbol.asyncDispose]() {
      await inspector.close();
      await bot.stop({ deadlineMs: 500 });
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const CONFIG = `[[agents]]
id = "support"
model = "offline:demo"
mode = "active"
context_window = 3000
max_output_tokens = 300
`;

/** As in a file beside the data. */
function rowsIn(directory: string): readonly ConfigRow[] {
  const file = join(directory, 'config.toml');
  writeFileSync(file, CONFIG);
  const rows = rowsOf(loadConfig({ file, explicit: true, environment: {}, flags: {} }), null);
  return rows.map((row) => ({ ...row, origin: row.origin.replace(file, 'config.toml') }));
}

const channel: Channel = {
  platform: 'discord',
  traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
  linkTo: async () => null,
  start: async () => undefined,
  split: (text) => [{ kind: 'text', text }],
  post: async ({ nonce }) => ({ platformMessageId: nonce }),
  show: () => undefined,
  stop: async () => undefined,
};

interface ShiftedClock extends Clock {
  shift(ms: number): void;
}

/** Begins in the past; each message moves it towards now. */
function createShiftedClock(backMs: number): ShiftedClock {
  const system = createSystemClock();
  let offset = -backMs;
  return {
    now: () => system.now() + offset,
    sleep: (ms, options) => system.sleep(ms, options),
    shift(ms) {
      offset += ms;
    },
  };
}

async function say(
  bot: Bot,
  clock: Clock,
  { key, index }: { readonly key: ReturnType<typeof makeKey>; readonly index: number },
): Promise<void> {
  const name = PEOPLE[index % PEOPLE.length] ?? 'Ada';
  await bot.sink.message({
    conversation: key,
    externalId: `m${index}`,
    attachments: [],
    replyTo: null,
    mentions: [],
    author: { id: `u-${name.toLowerCase()}`, name, kind: 'person' },
    text: `${SAID[(index * 5) % SAID.length]} ${FILLER[index % FILLER.length]}`,
    addressesBot: index % 4 === 0,
    audience: 'private',
    at: clock.now(),
  });
  await bot.settled();
  await bot.services.queue.idle();
}

async function pathsOf({ services }: Bot): Promise<InspectedStory['paths']> {
  const { store } = services;
  const at = `/c/${encodeURIComponent(WORKSHOP)}`;
  const conversation = await store.conversations.find(WORKSHOP);
  const id = conversation?.id ?? 0;
  const stack = await store.summaries.live(id);
  const [layer] = stack;
  const newest = stack.findLast(({ kind, level }) => kind === 'summary' && level === 0);
  const [part] = layer === undefined ? [] : await store.summaries.children(layer.id);
  const reader = {
    agentId: 'support',
    place: WORKSHOP,
    workspace: 'discord:workshop',
    sharePublic: false,
    audience: 'private' as const,
  };
  const [memory] = await store.memories.list({ reader, limit: 1, offset: 0 });
  return {
    conversations: '/',
    conversation: at,
    past: `${at}?at=${Math.floor((conversation?.nextSeq ?? 2) / 2)}`,
    ...(layer === undefined ? {} : { layer: `${at}/s/${layer.id}` }),
    ...(part === undefined ? {} : { summary: `${at}/s/${part.id}` }),
    ...(newest === undefined ? {} : { rewrite: `${at}/s/${newest.id}` }),
    reply: `${at}/r/${(conversation?.nextSeq ?? 2) - 1}`,
    request: `${at}/context`,
    'what-if': `${at}/what-if?context_window=2200&compaction.background_threshold=0.6`,
    memories: '/memories',
    graph: '/memories?view=graph',
    place: `/memories?place=${encodeURIComponent(WORKSHOP)}`,
    ...(memory === undefined ? {} : { memory: `${at}/m/${memory.id}`, forget: `${at}/m/${memory.id}/forget` }),
    search: '/find?q=door',
    costs: '/costs',
    settings: '/settings',
    prompt: '/settings/prompts/support/compactor',
    changes: '/audit',
  };
}
