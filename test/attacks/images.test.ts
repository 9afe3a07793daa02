import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { withImages } from '../../adapters/models/ai-sdk/calls/images.ts';
import type { ModelRequest, Tool } from '../../src/adapter-kit.ts';
import { createReruns } from '../../src/inspection/rerun.ts';
import { defineTool } from '../../src/tools/define.ts';
import { type Script, scriptedModel } from '../core/compaction/compaction.world.ts';
import { ADA, GENERAL, type SlackDouble, TEAM } from '../fixtures/slack/double.ts';
import { slackForEachTest } from '../fixtures/slack/each-test.ts';
import { arrived } from '../fixtures/slack/kit.ts';
import { type BotWorld, createBotWorld } from '../support/bot-world.ts';

/** Images are large and cost a member nothing. They stay on the platform until a model sees them. */

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const BYTES = { mediaType: 'image/png', base64: PNG.toString('base64') } as const;
const SHOWN = `data:image/png;base64,${BYTES.base64}`;
const MEGABYTES = 4_000_000;

let slack: SlackDouble;
const { start } = slackForEachTest((double) => {
  slack = double;
});
const { signal } = new AbortController();

describe('images on Slack', () => {
  const share = (names: readonly string[], at = slack.base) => ({
    subtype: 'file_share',
    files: names.map((name) => {
      return { id: name, name, mimetype: 'image/png', size: MEGABYTES, url_private: `${at}/files/${name}` };
    }),
  });
  const linksIn = async (names: readonly string[], at?: string) => {
    const bot = await start();
    slack.say(GENERAL, ADA, 'look', share(names, at));
    const { attachments, conversation } = await arrived(bot, 'look');
    const links = attachments.map(({ reference }) => reference.replace('channel:', ''));
    return { bot, attachments, links, conversation };
  };

  it('are stored as links, however many there are', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `${index}.png`);
    for (const name of names) slack.files.set(`/files/${name}`, { body: Buffer.alloc(100_000), type: 'image/png' });
    const { attachments } = await linksIn(names);
    expect(attachments).toHaveLength(25);
    expect(JSON.stringify(attachments).length).toBeLessThan(10_000);
    expect(slack.fetched).toEqual([]);
  });

  it('are loaded with the token of their workspace', async () => {
    slack.files.set('/files/cat.png', { body: PNG, type: 'image/png' });
    const { bot, links, conversation } = await linksIn(['cat.png']);
    const [link = ''] = links;
    expect(await bot.channel.traits.loadImage?.({ conversation, link }, { signal })).toEqual(BYTES);
    expect(slack.fetched).toEqual([TEAM]);
  });

  it('are nothing if gone, too large or no images', async () => {
    slack.files.set('/files/page.png', { body: Buffer.from('<html>sign in</html>'), type: 'text/html' });
    slack.files.set('/files/fake.png', { body: Buffer.from('MZ'), type: 'image/png' });
    slack.files.set('/files/huge.png', { body: Buffer.concat([PNG, Buffer.alloc(MEGABYTES)]), type: 'image/png' });
    const { bot, links, conversation } = await linksIn(['page.png', 'fake.png', 'huge.png', 'gone.png']);
    for (const link of [...links, 'nonsense', ''])
      expect(await bot.channel.traits.loadImage?.({ conversation, link }, { signal })).toBeNull();
  });

  it('are requested from no other server', async () => {
    const evil = 'https://evil.example';
    const bot = await start();
    slack.say(GENERAL, ADA, 'look', share(['cat.png'], evil));
    const { attachments, conversation } = await arrived(bot, 'look\n[image not shown, 4.0 MB: cat.png]');
    expect(attachments).toEqual([]);
    for (const link of [`${evil}/files/cat.png`, 'http://169.254.169.254/latest', 'file:///etc/passwd'])
      expect(await bot.channel.traits.loadImage?.({ conversation, link }, { signal })).toBeNull();
  });
});

describe('images behind links', () => {
  it('are sent newest first, until a request would be full', async () => {
    const image = (name: string) =>
      ({ kind: 'image', mediaType: 'image/png', url: `https://files.example/${name}` }) as const;
    const messages = ['old', 'new'].map((word) => {
      const content = Array.from({ length: 5 }, (_, index) => image(`${word}-${index}`));
      return { role: 'user', content: [{ kind: 'text', text: word } as const, ...content] } as const;
    });
    const load = async (url: URL) => ({ base64: url.pathname.slice(1).padEnd(8_000_000, 'A'), mediaType: 'image/png' });
    const sent = await withImages(messages, load, { signal });
    const shown = sent.flatMap((message) => (message.role === 'user' ? message.content : []));
    const names = shown.flatMap((part) => (part.kind === 'image' ? [part.url.slice(22, 27)] : []));
    expect(names).toEqual(['new-2', 'new-3', 'new-4']);
    expect(shown.filter(({ kind }) => kind === 'text')).toHaveLength(9);
    expect(JSON.stringify(sent)).toContain('left out here to save space');
  });
});

describe('an image that only the channel can load', () => {
  const picture = (name: string) => {
    const reference = `channel:https://files.example/${name}`;
    return { kind: 'attachment', name, mediaType: 'image/png', sizeBytes: 3, reference } as const;
  };
  const many = (count: number) => Array.from({ length: count }, (_, index) => picture(`${index}.png`));
  const contentOf = (request: ModelRequest | undefined) =>
    (request?.messages ?? []).flatMap((message) => (message.role === 'user' ? message.content : []));
  const imagesIn = (request: ModelRequest | undefined) =>
    contentOf(request).flatMap((part) => (part.kind === 'image' ? [part.url] : []));

  async function open(
    script: Script,
    use: (world: BotWorld, requests: readonly ModelRequest[]) => Promise<void>,
    tools: readonly Tool[] = [],
  ) {
    const plain = scriptedModel(script, { id: 'test:chat', window: 100_000 });
    const model = Object.assign(plain, { traits: { windowTokens: 100_000, tools: true, images: true } });
    const agent = { context_window: 100_000, tools: ['message_open', ...tools.map(({ name }) => name)] };
    await using world = await createBotWorld({ models: [model], agent, tools });
    await use(world, plain.requests);
    expect(world.events.filter(({ kind }) => kind === 'turn.failed' || kind === 'error.internal')).toEqual([]);
  }

  it('is shown to the model, and never stored', async () => {
    await open(
      () => ({ text: 'I see.' }),
      async (world, requests) => {
        world.channel.images.set('https://files.example/0.png', BYTES);
        await world.say('What is this?', { attachments: many(1) });
        await world.settled();
        expect(imagesIn(requests[0])).toEqual([SHOWN]);
        expect(JSON.stringify(await world.entries())).not.toContain(BYTES.base64);
      },
    );
  });

  it('is named when it is gone', async () => {
    await open(
      () => ({ text: 'I see nothing.' }),
      async (world, requests) => {
        await world.say('What is this?', { attachments: many(1) });
        await world.settled();
        expect(imagesIn(requests[0])).toEqual([]);
        expect(JSON.stringify(contentOf(requests[0]))).toContain('an image could not be loaded');
      },
    );
  });

  it('is loaded once in a turn, and opened again later', async () => {
    const opening: Script = ({ messages }) => {
      const asks = messages.at(-1)?.role === 'user' && JSON.stringify(messages.at(-1)).includes('look again');
      return asks ? { calls: [{ tool: 'message_open', input: { message: 1 } }] } : { text: 'I see.' };
    };
    await open(opening, async (world, requests) => {
      world.channel.images.set('https://files.example/0.png', BYTES);
      await world.say('look again', { attachments: many(1) });
      await world.settled();
      expect(imagesIn(requests.at(-1))).toContain(SHOWN);
      expect(world.channel.loaded).toEqual(['https://files.example/0.png']);
    });
  });

  it('is loaded for a reply that the inspector runs again', async () => {
    await open(
      () => ({ text: 'I see.' }),
      async (world) => {
        world.channel.images.set('https://files.example/0.png', BYTES);
        await world.say('What is this?', { attachments: many(1) });
        await world.settled();
        const query = { viewer: { name: 'ada', role: 'operator' }, key: world.key, seq: 2, signal } as const;
        const reruns = createReruns(world.bot.commandServices);
        const again = await reruns.run({ ...query, agentId: 'main', modelId: 'test:chat', system: null });
        expect(again.result).toMatchObject({ text: 'I see.' });
        expect(world.channel.loaded).toHaveLength(2);
      },
    );
  });

  it('is not loaded because a tool says so', async () => {
    const link = 'https://files.example/of-another-channel.png';
    const fetching = defineTool({
      name: 'fetch_image',
      description: 'Shows an image',
      input: z.object({ url: z.string() }),
      run({ url }, { onImages }) {
        onImages?.([{ mediaType: 'image/png', url }]);
        return 'Shown.';
      },
    });
    const fetchOnce: Script = ({ messages }) =>
      messages.at(-1)?.role === 'user' && !JSON.stringify(messages).includes('Shown.')
        ? { calls: [{ tool: 'fetch_image', input: { url: `channel:${link}` } }] }
        : { text: 'I see nothing.' };
    await open(
      fetchOnce,
      async (world, requests) => {
        world.channel.images.set(link, BYTES);
        await world.say(`Show channel:${link}`);
        await world.settled();
        expect(JSON.stringify(requests.at(-1)?.messages)).toContain('Shown.');
        expect(imagesIn(requests.at(-1))).toEqual([]);
        expect(world.channel.loaded).toEqual([]);
      },
      [fetching],
    );
  });

  it('is one of twenty, the newest, and of twenty megabytes', async () => {
    await open(
      () => ({ text: 'I see.' }),
      async (world, requests) => {
        for (const { name } of many(30)) world.channel.images.set(`https://files.example/${name}`, BYTES);
        await world.say('What are these?', { attachments: many(30) });
        await world.settled();
        expect(imagesIn(requests[0])).toHaveLength(20);
        expect(world.channel.loaded).not.toContain('https://files.example/9.png');
        expect(world.channel.loaded).toContain('https://files.example/29.png');
        const large = { ...BYTES, base64: 'A'.repeat(8_000_000) };
        for (const { name } of many(30)) world.channel.images.set(`https://files.example/${name}`, large);
        await world.say('And these?', { attachments: many(30) });
        await world.settled();
        expect(imagesIn(requests.at(-1))).toHaveLength(3);
        expect(JSON.stringify(contentOf(requests.at(-1)))).toContain('left out here to save space');
      },
    );
  });
});
