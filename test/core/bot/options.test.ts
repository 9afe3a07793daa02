import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createDiscordChannel } from '../../../adapters/channels/discord/index.ts';
import { createSlackChannel } from '../../../adapters/channels/slack/index.ts';
import { startInspector } from '../../../adapters/inspector/web/index.ts';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { startOperations } from '../../../adapters/operations/http/index.ts';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { adapters } from '../../../adapters/registry.ts';
import { createHttpReranker } from '../../../adapters/rerankers/http/index.ts';
import { createKyselyStorage } from '../../../adapters/stores/kysely/index.ts';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { BotOptions } from '../../../src/adapter-kit.ts';
import {
  assembleView,
  type Channel,
  createBot,
  createPromptLibrary,
  defineCommand,
  defineEngine,
  defineTool,
  isStrataError,
  makeKey,
  type Queue,
  type Storage,
  silentLog,
} from '../../../src/adapter-kit.ts';
import { BUILT_IN_CHANNELS, BUILT_IN_STORES, builtInNames } from '../../../src/config/known.ts';
import { openApp, openStore } from '../../../src/program.ts';
import { createBuiltinTools } from '../../../src/tools/builtin.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

let directory: string;
let storage: Storage;

beforeEach(async () => {
  directory = await createStoreFolder('parts');
  storage = await createSqliteStorage({ directory });
});

afterEach(async () => {
  await storage.store.close();
  rmSync(directory, { recursive: true });
});

const model = scriptedModel(() => ({ text: 'yes' }), { id: 'test:chat' });
const weather = defineTool({ name: 'weather', description: 'Tells it', input: z.object({}), run: async () => 'Rain' });

function make(parts: Partial<BotOptions>) {
  return createBot({
    storage,
    queue: createLocalQueue({ log: silentLog }),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    log: silentLog,
    ...parts,
  });
}

function problemsOf(parts: Partial<BotOptions>): readonly string[] {
  try {
    make(parts);
  } catch (error) {
    if (isStrataError(error, 'CONFIG_INVALID')) return error.data.problems;
    throw error;
  }
  return [];
}

function channelOf(platform: string): Channel {
  return {
    platform,
    traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start: async () => undefined,
    split: (text) => [{ kind: 'text', text }],
    post: async () => ({ platformMessageId: '1' }),
    show: () => undefined,
    stop: async () => undefined,
  };
}

it.each<[string, Partial<BotOptions>, RegExp]>([
  [
    'thresholds that fall',
    { agents: [{ id: 'a', compaction: { background_threshold: 0.9 } }] },
    /^createBot: agents\[a\]\.compaction: thresholds must rise: background_threshold 0\.9 \(createBot\)/,
  ],
  [
    'a share above one',
    { agents: [{ id: 'a', compaction: { stack_share: 7 } }] },
    /stack_share: expected at most 1, got 7/,
  ],
  ['two agents of one id', { agents: [{ id: 'a' }, { id: 'a' }] }, /agents\[a\]\.id: two agents have the id "a"/],
  [
    'two default agents',
    {
      agents: [
        { id: 'a', default: true },
        { id: 'b', default: true },
      ],
    },
    /only one agent can be the/,
  ],
  [
    'an unknown tool',
    { agents: [{ id: 'a', tools: ['wether'] }], tools: [weather] },
    /no tool "wether"; did you mean weather\?/,
  ],
  [
    'an unknown engine',
    { agents: [{ id: 'a', engine: 'stackd' }] },
    /no context engine "stackd"; did you mean stacked\?/,
  ],
  [
    'an unknown model provider',
    { models: createAiSdkModels({ environment: {} }), agents: [{ id: 'a', model: 'opena:gpt' }] },
    /^createBot: agents\[a\]\.model: there is no provider "opena"; did you mean openai\?/,
  ],
  [
    'an unknown provider of a fallback',
    {
      models: createAiSdkModels({ environment: {}, builtIn: { offline: async () => model } }),
      agents: [{ id: 'a', model: ['offline:demo', 'ofline:demo'] }],
    },
    /no provider "ofline"; did you mean offline\?/,
  ],
  [
    'an unknown provider of summaries',
    {
      models: createAiSdkModels({ environment: {}, providers: { local: { baseUrl: 'http://127.0.0.1:9/v1' } } }),
      agents: [{ id: 'a', model: 'local:small', compaction: { model: 'lokal:small' } }],
    },
    /compaction\.model: there is no provider "lokal"; did you mean local\?/,
  ],
  [
    'names of providers that are none',
    // @ts-expect-error As a program in JavaScript may call it.
    { models: { open: async () => model, choose: async () => ({ modelId: 'a:b', reason: '' }), providers: [7] } },
    /^createBot: models\.providers\[0\]: /,
  ],
  ['a missing folder of prompts', { agents: [{ id: 'a', prompts: 'no/such/folder' }] }, /no\/such\/folder/],
  [
    'two channels of one platform',
    { channels: [channelOf('slack'), channelOf('slack')] },
    /two channels have .*"slack"/,
  ],
  ['a gateway alone', { role: 'gateway' }, /^createBot: role: A gateway needs a queue that is shared/],
  ['no workers', { workers: 0 }, /workers: expected a whole number of at least 1, got 0/],
  ['half a day', { retentionDays: 0.5 }, /retentionDays: expected a whole number of at least 0/],
])('%s is refused with words', (_name, parts, expected) => {
  const problems = problemsOf(parts);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(expected);
});

it.each([
  [{ queue: undefined }, 'createBot: queue: expected an object with kick, process, idle, stats, close; got undefined'],
  [
    { models: { open: async () => model } },
    'createBot: models: expected an object with open, choose; choose is missing',
  ],
  [
    { storage: Promise.resolve() },
    'createBot: storage: expected an object with store, search, state, provenance, upkeep; got a promise, so await it',
  ],
  [
    { storage: { store: {}, search: {}, state: {} } },
    'createBot: storage: expected an object with store, search, state, provenance, upkeep; provenance and upkeep are missing',
  ],
  [{ tools: [weather, { name: 'x' }] }, 'createBot: tools[1]: expected an object with run; run is missing'],
  [{ role: 'boss' }, 'createBot: role: expected gateway, worker, all'],
  [
    { engines: { own: { assemble: () => undefined, maintain: () => undefined } } },
    expect.stringMatching(/^createBot: engines\.own: expected an object .*; bootstrap and ingest and .* are missing$/),
  ],
  [{ workers: '4' }, 'createBot: workers: expected a whole number of at least 1, got string'],
  [{ inspectorLink: 'http://x' }, 'createBot: inspectorLink: expected a function that returns an address or null'],
  [
    { engines: { stacked: defineEngine({ id: 'stacked', assemble: async (request) => assembleView(request) }) } },
    'createBot: engines.stacked: is the name of a built-in engine; choose another one',
  ],
  [{ agents: 'main' }, 'createBot: agents: expected a list of agents, or an object with agentFor, agent, list'],
  [{ hooks: {} }, 'createBot: hooks: expected a list'],
  [{ hooks: [{ inbond: () => undefined }] }, 'createBot: hooks[0]: there is no hook "inbond"; did you mean inbound?'],
  [
    { log: { info: () => undefined } },
    'createBot: log: expected an object with debug, info, warn, error; debug and warn and error are missing',
  ],
  [
    { clock: { now: () => new Date(), sleep: async () => undefined } },
    'createBot: clock.now: expected milliseconds since 1970, got object',
  ],
  [
    { agents: { agentFor: () => undefined, agent: () => undefined, list: () => undefined } },
    'createBot: agents: list returned undefined; expected a list of agents',
  ],
  [
    { agents: { agentFor: () => undefined, agent: () => undefined, list: () => [{ id: 'a' }] } },
    'createBot: agents: list returned an agent whose default cannot be used; expected an agent with every setting',
  ],
  [{ clock: {} }, 'createBot: clock: expected an object with now, sleep; now and sleep are missing'],
  [
    { channels: [{ ...channelOf('own'), traits: { ephemeral: false } }] },
    'createBot: channels[0].traits.idempotentPosts: is missing',
  ],
  [{ channels: {} }, 'createBot: channels: expected a list, got object'],
  [{ channels: [channelOf('My place')] }, 'createBot: channels[0].platform: expected lower-case letters, digits and -'],
  [{ prices: { own: {} } }, 'createBot: prices.own: expected a function that returns prices by model'],
  [{ prices: { lists: {} } }, 'createBot: prices.lists: unknown option'],
  [
    { reranker: { rerank: async () => [], embed: async () => [] } },
    'createBot: reranker: no agent sets recall.rerank_model, so nothing would call it; expected provider:model there',
  ],
  [
    { agents: [{ id: 'a', recall: { rerank_model: 'own:ranker' } }] },
    'createBot: agents[a].recall.rerank_model: needs the option reranker, such as createHttpReranker',
  ],
  [{ chanels: [] }, 'createBot: chanels: unknown option; did you mean channels?'],
])('a program in JavaScript reads what is wrong with %j', (parts, problem) => {
  const given: object = parts;
  expect(problemsOf(given)[0]).toEqual(problem);
});

it('has the tools that an agent may name', () => {
  const { services, commandServices } = make({});
  const names = createBuiltinTools(services, commandServices.memories).map(({ name }) => name);
  expect(names.sort()).toEqual([...builtInNames.tools].sort());
});

it('knows the names of the adapters', () => {
  expect(Object.keys(adapters.channels)).toEqual(BUILT_IN_CHANNELS);
  expect(Object.keys(adapters.stores)).toEqual(BUILT_IN_STORES);
  const { providers } = createAiSdkModels({ environment: {}, builtIn: adapters.builtInModels });
  expect(providers).toEqual(builtInNames.providers);
});

it('names everything that is wrong at once', () => {
  const agents = [{ id: 'A!' }, { id: 'b', tools: ['nothing'], max_steps: 0 }];
  expect(problemsOf({ agents, role: 'worker' })).toHaveLength(3);
});

it('judges a directory as it judges a list', () => {
  const bot = make({ agents: [{ id: 'a' }] });
  const [agent] = bot.services.agents.list();
  if (agent === undefined) throw new Error('There is no agent.');
  const wrong = { ...agent, tools: ['weather'] };
  const directoryOf = { agentFor: () => wrong, agent: () => wrong, list: () => [wrong] };
  expect(problemsOf({ agents: directoryOf })).toEqual([expect.stringContaining('no tool "weather"')]);
  expect(problemsOf({ agents: directoryOf, tools: [weather] })).toEqual([]);
});

it('fills in what an agent leaves out, at any depth', () => {
  const agents = make({ agents: [{ id: 'a', compaction: { background_threshold: 0.3 } }, { id: 'b' }] }).services
    .agents;
  expect(agents.agent('a')?.compaction).toMatchObject({ background_threshold: 0.3, aggressive_threshold: 0.85 });
  expect(agents.list().map((agent) => agent.default)).toEqual([true, false]);
});

it('logs a listener that throws or rejects', async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, error: (message: string, fields?: object) => void lines.push([message, fields]) };
  const { events } = make({ log });
  const seen: string[] = [];
  events.on(() => {
    throw new Error('at once');
  });
  events.on(async () => {
    throw new Error('later');
  });
  events.on((event) => seen.push(event.kind));
  events.emit({ kind: 'config.changed', conversation: null, waitsForRestart: '', file: 'config.toml' });
  await new Promise(setImmediate);
  expect(seen).toEqual(['config.changed']);
  expect(lines).toEqual(['at once', 'later'].map((cause) => ['An event listener failed', { cause }]));
});

/** What JavaScript lets a program pass. */
const anything = (value: unknown): never => value as never;

it.each([
  ['createBot', () => createBot(anything('x')), 'createBot: expected an object with the options, got string'],
  ['createBot with null', () => createBot(anything(null)), 'createBot: expected an object with the options, got null'],
  ['createBot with a list', () => createBot(anything([])), 'expected an object with the options, got a list'],
  ['a promise of options', () => createBot(anything((async () => ({}))())), 'got a promise, so await it'],
  ['a queue', () => createLocalQueue(anything(null)), 'createLocalQueue needs an object such as { log }; got null.'],
  ['a queue on a server', () => createBullMqQueue(anything(undefined)), 'createBullMqQueue needs an object'],
  ['a queue without a server', () => createBullMqQueue(anything({ log: silentLog })), 'createBullMqQueue needs a url'],
  ['the end of a queue', () => createLocalQueue().close(anything(undefined)), 'queue.close needs an object such as'],
  ['the work of a queue', () => createLocalQueue().process(async () => {}, anything(undefined)), 'queue.process needs'],
  ['prompts', () => createPromptLibrary(anything(null)), 'createPromptLibrary needs an object'],
  ['Slack alone', () => createSlackChannel(anything(undefined)), 'createSlackChannel needs an object'],
  ['Discord alone', () => createDiscordChannel(anything(null)), 'createDiscordChannel needs an object'],
  ['the inspector', () => startInspector(anything({})), 'startInspector needs an object such as { settings: {'],
  ['operations', () => startOperations(anything({})), 'startOperations needs an object such as { services:'],
  ['defineTool', () => defineTool(anything({ name: 'x' })), 'input: expected z.object({ … }) of zod 4'],
  ['a misspelt tool', () => defineTool(anything({ ...weather, desc: 'x' })), 'unknown key desc'],
  ['a tool without its parts', () => defineTool(anything({ name: 'x' })), 'description: is missing; input: expected'],
  [
    'defineTool',
    () => defineTool(anything('x')),
    'The tool "(without a name)" cannot be used: expected an object, got string',
  ],
  [
    'defineCommand',
    () => defineCommand(anything(undefined)),
    'The command "(without a name)" cannot be used: expected an object, got undefined',
  ],
  [
    'an access',
    () => defineCommand(anything({ name: 'x', description: 'x', access: 'boss', run: () => '' })),
    'access:',
  ],
  ['a raw command', () => make({ commands: anything([{ name: 'X Y', run: () => '' }]) }), 'one or two words'],
  ['makeKey', () => makeKey(anything({ platform: 'own', workspace: 7 })), '"own:7:" is not a conversation key'],
  ['makeKey without parts', () => makeKey(anything(undefined)), '"::" is not a conversation key'],
  ['an event by its name', () => make({}).events.on(anything('turn.failed')), 'events.on needs one function'],
  ['SQLite', () => createSqliteStorage(anything({})), 'createSqliteStorage needs a directory'],
  ['Postgres', () => createPostgresStorage(anything({})), 'createPostgresStorage needs a url'],
  ['Kysely', () => createKyselyStorage(anything({ place: 'x' })), 'createKyselyStorage needs a dialect'],
  ['SQLite alone', () => createSqliteStorage(anything(undefined)), 'createSqliteStorage needs a directory'],
  ['Postgres alone', () => createPostgresStorage(anything(undefined)), 'createPostgresStorage needs a url'],
  ['Kysely alone', () => createKyselyStorage(anything(null)), 'createKyselyStorage needs a dialect'],
  ['a reranker alone', () => createHttpReranker(anything(undefined)), 'createHttpReranker needs providers'],
  ['a reranker', () => createHttpReranker(anything({ provider: {} })), 'createHttpReranker needs providers'],
  ['models', () => createAiSdkModels(anything(undefined)), 'createAiSdkModels needs an environment'],
  ['a misspelt environment', () => createAiSdkModels(anything({ enviroment: {} })), 'createAiSdkModels needs'],
  ['an engine', () => defineEngine(anything(undefined)), 'defineEngine needs an id and assemble'],
  ['an engine without assemble', () => defineEngine(anything({ id: 'own' })), 'defineEngine needs an id and assemble'],
  ['Slack', () => createSlackChannel(anything({ settings: {} })), 'needs at least bot_token and app_token'],
  ['openApp', () => openApp(anything({ confg: 'x' })), 'There is no option confg. Did you mean config?'],
  ['a role', () => openApp(anything({ role: 'boss' })), 'Expected the role gateway, worker, all.'],
  ['openApp with null', () => openApp(anything(null)), 'Expected an object with options, got null.'],
  ['a file as the options', () => openApp(anything('bot.toml')), 'Expected an object with options, got string.'],
  ['a number as the file', () => openApp(anything({ config: 5 })), 'config: expected the path of a file, got number.'],
  [
    'a platform',
    () => openApp(anything({ platforms: 'discord' })),
    'platforms: expected "configured" or a list of names',
  ],
  ['an unknown platform', () => openApp(anything({ platforms: ['irc'] })), 'There is no channel named "irc"'],
  ['openStore', () => openStore(anything({ role: 'all' })), 'There is no option role. Known: config, data'],
])('%s says what is wrong with its options', async (_name, work, words) => {
  await expect((async () => await work())()).rejects.toThrow(words);
});

it('starts once, however often it is asked, and not again', async () => {
  let starts = 0;
  const start = async () => {
    starts += 1;
  };
  const channel = { ...channelOf('own'), start };
  const bot = make({ channels: [channel] });
  await Promise.all([bot.start(), bot.start()]);
  expect(starts).toBe(1);
  await bot.stop();
  await expect(bot.start()).rejects.toThrow('A bot that was stopped cannot be started again.');
});

it.each([
  ['local', createLocalQueue({ log: silentLog })],
  ['own', { ...createLocalQueue(), process: () => undefined } satisfies Queue],
])('refuses the %s queue of another bot', async (_name, queue) => {
  const bot = make({ queue });
  await bot.start();
  await expect(make({ queue }).start()).rejects.toThrow('Two bots use one queue.');
  await bot.stop();
});
