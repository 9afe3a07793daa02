import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  builtInSpecs,
  type Channel,
  type ChannelSink,
  type CommandInvocation,
  type ConversationKey,
  type InboundMessage,
  type KeptConversations,
  makeReply,
} from '../../src/adapter-kit.ts';
import { postTo } from './channel-kit.ts';

/** A channel on its platform, or on a double of it. */
export interface ChannelUnderTest {
  readonly channel: Channel;
  /** A person sends a message, always in the same conversation. */
  say(text: string): void;
  /** A person runs `/status`. */
  command(): void;
  /** Everything that people can see of the bot. */
  shown(): string;
  dispose(): Promise<void>;
}

/** What `channelContract` tests. `open` is called before each test. */
export interface ChannelContractOptions {
  readonly open: () => Promise<ChannelUnderTest>;
  /** The first part of its keys. */
  readonly platform: string;
}

const reply = makeReply('Status', { text: 'all quiet' });

const nothing = async function* (): AsyncGenerator<never> {};
const nothingKept: KeptConversations = {
  heard: nothing,
  heardIn: nothing,
  within: nothing,
  workspaces: nothing,
  textOf: async () => null,
};

interface Recorded extends ChannelSink {
  readonly messages: InboundMessage[];
  readonly commands: CommandInvocation[];
  /** Runs before each message is stored. */
  gate: (message: InboundMessage) => Promise<void>;
}

function record(): Recorded {
  const sink: Recorded = {
    messages: [],
    commands: [],
    gate: async () => undefined,
    async message(message) {
      await sink.gate(message);
      sink.messages.push(message);
      return { stored: true, willReply: false };
    },
    async command(invocation) {
      sink.commands.push(invocation);
      return reply;
    },
    edited: async () => undefined,
    removed: async () => undefined,
    suggest: async () => [],
    audienceChanged: async () => undefined,
    left: async () => undefined,
    commandSpecs: builtInSpecs,
    conversations: nothingKept,
    dropped: () => undefined,
    catchingUp: () => ({ applied: () => undefined, end: () => undefined }),
  };
  return sink;
}

const signal = new AbortController().signal;

/** What the core requires of every channel. */
export function channelContract(name: string, { open, platform }: ChannelContractOptions): void {
  describe(`channel contract: ${name}`, () => {
    let world: ChannelUnderTest;
    let sink: Recorded;
    beforeEach(async () => {
      world = await open();
      sink = record();
    });
    afterEach(async () => {
      await world.channel.stop();
      await world.dispose();
    });

    const started = () => world.channel.start(sink);
    const said = async (text: string): Promise<InboundMessage> => {
      world.say(text);
      return await eventually(() => sink.messages.find((message) => message.text === text), `"${text}" did not arrive`);
    };
    const showing = (text: string) => eventually(() => world.shown().includes(text), `"${text}" was not shown`);

    test('names its platform in every conversation', async () => {
      await started();
      const { conversation } = await said('hello');
      expect(world.channel.platform).toBe(platform);
      expect(conversation.startsWith(`${platform}:`)).toBe(true);
    });

    test('hands over who said what, and when', async () => {
      const before = Date.now();
      await started();
      const message = await said('my name is Ada');
      expect(message.author.id).not.toBe('');
      expect(message.author.name).not.toBe('');
      expect(message.author.kind).toBe('person');
      expect(message.externalId).not.toBe('');
      expect(message.at).toBeGreaterThan(before - 5_000);
      expect(message.at).toBeLessThan(Date.now() + 5_000);
    });

    test('gives each message an id of its own', async () => {
      await started();
      const ids = [await said('one'), await said('two'), await said('three')].map(({ externalId }) => externalId);
      expect(new Set(ids).size).toBe(3);
    });

    test('hands over a message only once the previous is stored', async () => {
      await started();
      await said('first of all');
      const order: string[] = [];
      sink.gate = async ({ text }) => {
        order.push(`begin ${text}`);
        await delay(60);
        order.push(`end ${text}`);
      };
      for (const text of ['a', 'b', 'c']) world.say(text);
      await eventually(() => order.length === 6, 'not all messages arrived');
      expect(order).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c']);
    });

    test('continues after a message that could not be stored', async () => {
      await started();
      let failures = 1;
      sink.gate = async () => {
        failures -= 1;
        if (failures >= 0) throw new Error('the disk is full');
      };
      world.say('into a full store');
      expect((await said('after it')).text).toBe('after it');
    });

    test('posts what it is given, and tells under which id', async () => {
      await started();
      const { conversation, externalId } = await said('a question');
      const first = await world.channel.post(postTo(conversation, { replyTo: externalId }), { signal });
      const second = await world.channel.post(
        postTo(conversation, { nonce: '1-1-1', body: { kind: 'text', text: 'and more' } }),
        { signal },
      );
      expect(first.platformMessageId).not.toBe(second.platformMessageId);
      await showing('an answer');
      await showing('and more');
    });

    test('gives the address of a message, or none', async () => {
      await started();
      const link = await world.channel.linkTo(await said('a question'));
      expect(link === null || URL.canParse(link)).toBe(true);
    });

    test('posts once under the same nonce if it says so', async () => {
      await started();
      const { conversation, externalId } = await said('a question');
      const ids: string[] = [];
      for (const attempt of [1, 2]) {
        const given = postTo(conversation, { replyTo: externalId, attempt, body: { kind: 'text', text: 'only once' } });
        ids.push((await world.channel.post(given, { signal })).platformMessageId);
      }
      const isOnce = world.channel.traits.idempotentPosts;
      const times = () => world.shown().split('only once').length - 1;
      await eventually(() => times() === (isOnce ? 1 : 2), 'the posts were not shown');
      expect([times(), new Set(ids).size]).toEqual(isOnce ? [1, 1] : [2, expect.any(Number)]);
    });

    test('cuts a text into valid bodies that make the text', async () => {
      await started();
      const { conversation } = await said('tell me all');
      const text = Array.from({ length: 600 }, (_, index) => `Sentence number ${index} is here.`).join(' ');
      const bodies = world.channel.split(text);
      expect(bodies.map((body) => body.text).join('')).toBe(text);
      for (const [index, body] of bodies.entries()) {
        await world.channel.post(postTo(conversation, { nonce: `1-2-${index}`, body }), { signal });
      }
      await showing('Sentence number 0 is here.');
      await showing('Sentence number 599 is here.');
      expect(world.channel.split('short')).toEqual([{ kind: 'text', text: 'short' }]);
    });

    test('answers a command with the bot’s reply', async () => {
      await started();
      const { conversation } = await said('hello');
      world.command();
      await eventually(() => world.shown().includes('all quiet'), 'the answer was not shown');
      expect(sink.commands).toMatchObject([{ conversation, path: ['status'], options: {} }]);
      expect(sink.messages).toHaveLength(1);
    });

    test('never fails for showing activity at any time', async () => {
      const somewhere = `${platform}:somewhere:else` as ConversationKey;
      const activities = [{ kind: 'working' }, { kind: 'draft', text: 'so far' }, { kind: 'idle' }] as const;
      for (const activity of activities) world.channel.show(somewhere, activity);
      await started();
      const { conversation } = await said('hello');
      for (const activity of [...activities, ...activities.toReversed()]) world.channel.show(conversation, activity);
      await world.channel.stop();
      for (const activity of activities) world.channel.show(conversation, activity);
    });

    test('after a stop, accepts nothing but sends owed posts', async () => {
      await started();
      const { conversation } = await said('before');
      await world.channel.stop();
      world.say('after');
      await world.channel.post(postTo(conversation, { body: { kind: 'text', text: 'still owed' } }), { signal });
      await delay(100);
      await showing('still owed');
      expect(sink.messages.map(({ text }) => text)).toEqual(['before']);
    });

    // Shows: M
    test('lets a running call of the bot end before stopping', async () => {
      await started();
      const release = Promise.withResolvers<void>();
      sink.gate = () => release.promise;
      world.say('in flight');
      await delay(80);
      const stopped = world.channel.stop();
      release.resolve();
      await stopped;
      expect(sink.messages.length).toBeLessThanOrEqual(1);
      await world.channel.stop();
    });
  });
}

/** Waits for something to become true. */
async function eventually<Result>(look: () => Result | undefined | false, complaint: string): Promise<Result> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(complaint);
    await delay(5);
  }
}
