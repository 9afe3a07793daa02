import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type AssembleRequest,
  assembleView,
  type Bot,
  type BotOptions,
  type Channel,
  type ChannelSink,
  type Clock,
  createBot,
  createPromptLibrary,
  createSystemClock,
  defineEngine,
  type InboundMessage,
  type Log,
  makeKey,
  type Storage,
  StrataError,
} from '../../../src/adapter-kit.ts';
import { estimateRequest } from '../../../src/context/measure/tokens.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

/** Parts of a program that break their contracts: the bot answers, or says why it cannot, and goes on. */

const HERE = makeKey({ platform: 'own', workspace: 'here', channel: 'talk' });
// As many tokens as the request is estimated to have, or the difference would be another warning.
const model = scriptedModel((request) => ({ text: 'yes', inputTokens: estimateRequest(request) }), { id: 'test:chat' });
const choose: BotOptions['models']['choose'] = async () => ({ modelId: model.id, reason: 'it is the only one' });
const boom = () => {
  throw new Error('boom');
};

const assembled = async (request: AssembleRequest) => assembleView(request);

let directory: string;
let storage: Storage;
let bot: Bot;
let sink: ChannelSink;
let posts: string[];
let warnings: string[];
let said: number;
/** Rejections that nothing awaits. They would end a program. */
let unhandled: unknown[];
const keepUnhandled = (error: unknown) => unhandled.push(error);

beforeEach(async () => {
  unhandled = [];
  process.on('unhandledRejection', keepUnhandled);
  directory = await createStoreFolder('faulty');
  storage = await createSqliteStorage({ directory });
  [posts, warnings, said] = [[], [], 0];
});
afterEach(async () => {
  await bot.stop();
  rmSync(directory, { recursive: true });
  process.off('unhandledRejection', keepUnhandled);
  expect(unhandled).toEqual([]);
});

function channel(over: object): Channel {
  return {
    platform: 'own',
    traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    async start(given) {
      sink = given;
    },
    split: (text) => [{ kind: 'text', text }],
    async post({ body, nonce }) {
      posts.push(body.text);
      return { platformMessageId: nonce };
    },
    show: () => undefined,
    stop: async () => undefined,
    ...over,
  };
}

/** A busy machine holds up the event loop, and that is reported too. */
const keep: Log['warn'] = (message, fields) => {
  if (message !== 'loop.stalled') warnings.push(`${message} ${fields?.['error'] ?? fields?.['cause']}`);
};
const keeping: Log = { debug: () => undefined, info: () => undefined, warn: keep, error: keep };

/** JavaScript, so a part may have any shape. */
async function open(parts: object, faults: object = {}): Promise<void> {
  const given: Partial<BotOptions> = parts;
  bot = createBot({
    storage,
    queue: createLocalQueue(),
    models: { open: async () => model, choose },
    channels: [channel(faults)],
    log: keeping,
    ...given,
  });
  await bot.start();
}

function message(over: object = {}): InboundMessage {
  said += 1;
  const author = { id: 'u1', name: 'Ada', kind: 'person' } as const;
  const about = { attachments: [], replyTo: null, mentions: [], addressesBot: true } as const;
  const sent = { text: 'Hello', externalId: `m${said}`, at: Date.now() };
  return { conversation: HERE, author, audience: 'dm', ...about, ...sent, ...over };
}

async function hear(): Promise<void> {
  await sink.message(message());
  await bot.settled();
}

describe('a model', () => {
  it.each<[string, object, string]>([
    ['open rejects', { open: async () => boom(), choose }, 'boom'],
    ['open throws', { open: boom, choose }, 'boom'],
    ['open gives nothing', { open: async () => undefined, choose }, 'open returned no ChatModel'],
    ['there are no traits', { open: async () => ({ ...model, traits: undefined }), choose }, 'traits: '],
    ['choose gives a name', { open: async () => model, choose: async () => 'own:model' }, 'choose returned no model'],
  ])('leaves an apology if %s', async (_name, models, cause) => {
    await open({ models });
    await hear();
    expect(posts).toEqual([expect.stringContaining('could not answer')]);
    expect(warnings.join('\n')).toContain(cause);
  });

  it.each(['MODEL_KEY_MISSING', 'MODEL_KEY_INVALID'] as const)('says that a key is wrong: %s', async (code) => {
    const fault = new StrataError(code, { model: 'own:model', variable: 'OWN_KEY', fault: 'is in quotation marks' });
    await open({ models: { open: () => Promise.reject(fault), choose } });
    await hear();
    expect(posts).toEqual([expect.stringContaining('key')]);
  });

  it('that opens later still announces the conversation to its engine', async () => {
    const begun: string[] = [];
    const engine = defineEngine({
      id: 'own',
      assemble: boom,
      async bootstrap({ conversation }) {
        begun.push(conversation.key);
        return { bootstrapped: true, reason: 'it is noted' };
      },
    });
    let isUp = false;
    await open({
      models: { open: async () => (isUp ? model : boom()), choose },
      engines: { own: engine },
      agents: [{ id: 'main', engine: 'own' }],
    });
    await hear();
    isUp = true;
    await hear();
    expect(begun).toEqual([HERE]);
  });

  it.each([
    [{ type: 'text', text: 'yes' }, 'its stream yielded { type, text }; expected a ModelPart'],
    [{ kind: 'text', text: 42 }, 'its stream yielded { kind, text }'],
    [{ kind: 'call', tool: 'dice' }, 'its stream yielded { kind, tool }'],
    [{ kind: 'call', call: { callId: '1', tool: 'dice' } }, 'its stream yielded { kind, call }'],
    [null, 'its stream yielded null'],
  ])('that streams %j is named with what it yielded', async (part, cause) => {
    const stream = async function* () {
      yield part;
    };
    await open({ models: { open: async () => ({ ...model, stream }), choose } });
    await hear();
    expect(warnings.join('\n')).toContain(cause);
  });
});

describe('a stream', () => {
  it.each<[string, () => unknown, string]>([
    ['a promise', async () => boom(), 'its stream returned a promise; expected an AsyncIterable of ModelPart'],
    ['nothing', () => undefined, 'its stream returned undefined; expected'],
    ['text', () => 'yes', 'its stream returned string; expected'],
  ])('that is %s is named', async (_name, stream, cause) => {
    await open({ models: { open: async () => ({ ...model, stream }), choose } });
    await hear();
    expect(posts).toHaveLength(1);
    expect(warnings.join('\n')).toContain(cause);
  });
});

it.each([
  ['render', { render: () => undefined }, 'returned undefined from render; expected an object with text and hash'],
  ['render later', { render: async () => ({ text: '', hash: '' }) }, 'returned a promise from render'],
])('prompts of another kind are named: %s', async (_name, over, cause) => {
  await open({ prompts: { ...createPromptLibrary(), ...over } });
  await hear();
  expect(warnings.join('\n')).toContain(cause);
});

it('a directory without an agent is named', async () => {
  await open({});
  const agents = bot.services.agents.list();
  await bot.stop();
  storage = await createSqliteStorage({ directory });
  await open({ agents: { agentFor: () => undefined, agent: () => null, list: () => agents } });
  await expect(sink.message(message())).rejects.toThrow('agents: agentFor returned undefined; expected an agent');
});

describe('a clock', () => {
  it.each([
    ['a promise', async () => undefined],
    ['nothing', () => undefined],
  ])('whose sleep is %s leaves time for the rest', async (_name, sleep) => {
    await open({ clock: { now: () => Date.now(), sleep } });
    await hear();
    expect(posts).toEqual(['yes']);
    await expect.poll(() => warnings).toContainEqual(expect.stringContaining('clock.failed sleep ended at once'));
  });

  it('that runs ahead leaves time for the rest', async () => {
    let now = Date.now();
    const sleep = async (ms: number) => {
      now += ms;
    };
    await open({ clock: { now: () => now, sleep } });
    await hear();
    expect(posts).toEqual(['yes']);
    expect(warnings.join()).not.toContain('clock.failed');
  });

  it('with parts of milliseconds does for a store', async () => {
    const sleep: Clock['sleep'] = (ms, options) => createSystemClock().sleep(ms, options);
    await open({ clock: { now: () => performance.timeOrigin + performance.now(), sleep } });
    await hear();
    expect(posts).toEqual(['yes']);
  });
});

describe('an engine', () => {
  it.each<[object, string]>([
    [{ assemble: async () => undefined }, 'expected an object, got undefined'],
    [{ assemble: async () => ({}) }, 'system: is missing'],
    [{ assemble: assembled, afterTurn: () => undefined }, 'expected an object, got undefined'],
  ])('with a wrong result is disabled, and the reply is given: %j', async (faults, problem) => {
    const engine: object = { id: 'own', assemble: assembled, ...faults };
    await open({ engines: { own: defineEngine(engine as never) }, agents: [{ id: 'main', engine: 'own' }] });
    await hear();
    expect(posts).toEqual(['yes']);
    expect(warnings).toEqual([expect.stringMatching(/engine own failed and is disabled: .* broke its contract: /)]);
    expect(warnings[0]).toContain(problem);
  });
});

describe('a price', () => {
  it.each([
    [{ list: { source: 'own', find: async () => ({ input: 1 }) } }, 'find returned neither a function nor null'],
    [{ list: { source: 'own', find: async () => boom } }, 'boom'],
    [{ own: boom }, 'boom'],
  ])('that fails leaves replies unpriced, with one warning: %j', async (prices, cause) => {
    await open({ prices });
    await hear();
    await hear();
    expect(posts).toEqual(['yes', 'yes']);
    expect(warnings.filter((line) => line.startsWith('prices'))).toEqual([`prices.unreadable ${cause}`]);
  });

  it('that is text counts as unknown', async () => {
    await open({ prices: { own: () => ({ [model.id]: { input: 'x', output: 'y' } }) } });
    await hear();
    expect(posts).toEqual(['yes']);
  });
});

describe('a channel', () => {
  it.each([
    ['show throws', { show: boom }],
    ['split throws', { split: boom }],
    ['split loses the text', { split: () => [] }],
    ['split gives strings', { split: (text: string) => [text] }],
  ])('gets its reply although %s', async (_name, faults) => {
    await open({}, faults);
    await hear();
    expect(posts).toEqual(['yes']);
    expect(warnings).toContainEqual(expect.stringContaining('channel.failed'));
  });

  it('posts once although post returns nothing', async () => {
    await open({}, { post: async ({ body }: { body: { text: string } }) => void posts.push(body.text) });
    await hear();
    expect(posts).toEqual(['yes']);
    expect(warnings).toEqual(['channel.failed expected an object with platformMessageId']);
  });

  it('may not send for another platform or without a key', async () => {
    await open({});
    const elsewhere = makeKey({ platform: 'other', workspace: 'here', channel: 'talk' });
    await expect(sink.message(message({ conversation: elsewhere }))).rejects.toThrow(
      'conversation: expected a key of the platform "own", got "other:here:talk"',
    );
    await expect(sink.message(message({ conversation: 'talk' }))).rejects.toThrow('a key that makeKey has made');
    await expect(bot.sink.message(message({ conversation: undefined }))).rejects.toThrow('conversation: is missing');
  });
});

it('a log that throws loses its lines, and nothing else', async () => {
  const lines: string[] = [];
  const { write } = process.stderr;
  process.stderr.write = (line) => lines.push(String(line)) > 0;
  try {
    await open({ log: { debug: boom, info: boom, warn: boom, error: boom } });
    await hear();
    await hear();
  } finally {
    process.stderr.write = write;
  }
  expect(posts).toEqual(['yes', 'yes']);
  expect(lines).toEqual([expect.stringMatching(/log\.failed .*error=boom/)]);
});
