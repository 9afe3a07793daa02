import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ConversationKey, Post, StrataError } from '../../../src/adapter-kit.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { postTo } from '../../contracts/channel-kit.ts';
import { ADA, BOB, BOT, BOT_ID, DIRECT, GENERAL, type SlackDouble, STAFF, TEAM } from '../../fixtures/slack/double.ts';
import { slackForEachTest } from '../../fixtures/slack/each-test.ts';
import { createState, type Opened, until } from '../../fixtures/slack/kit.ts';

let slack: SlackDouble;
const { start, stop } = slackForEachTest((fresh) => {
  slack = fresh;
});

const { signal } = new AbortController();
const channelKey = `slack:${TEAM}:${GENERAL}` as ConversationKey;
const post = (details: Partial<Post> = {}) => postTo(channelKey, details);
const ask = async (bot: Opened): Promise<Post['conversation']> => {
  const { ts } = slack.say(GENERAL, ADA, `<@${BOT}> hi`);
  return (await until('it arrives', () => bot.sink.messages.find((message) => message.externalId === ts))).conversation;
};

describe('a reply', () => {
  test('is posted in its thread with blocks and text', async () => {
    const bot = await start();
    const conversation = await ask(bot);
    await bot.channel.post(post({ conversation, body: { kind: 'text', text: '**Yes**, see https://a.example' } }), {
      signal,
    });
    const [sent] = slack.callsOf('chat.postMessage');
    expect(sent).toMatchObject({
      thread_ts: conversation.split(':')[3],
      text: '*Yes*, see <https://a.example|https://a.example>',
      unfurl_links: false,
      unfurl_media: false,
      link_names: false,
    });
    expect(JSON.stringify(sent?.['blocks'])).toContain('"rich_text"');
  });

  test('has a button "Why?" in its first part if set', async () => {
    const bot = await start({ table: { why_button: true } });
    const conversation = await ask(bot);
    const replyTo = bot.sink.messages[0]?.externalId ?? null;
    await bot.channel.post(post({ conversation, replyTo }), { signal });
    await bot.channel.post(post({ conversation, nonce: '1-1-1' }), { signal });
    const [first, second] = slack.callsOf('chat.postMessage').map(({ blocks }) => JSON.stringify(blocks));
    expect(first).toContain('"action_id":"why_reply"');
    expect(second).not.toContain('actions');
  });

  // Shows: D
  test('pings nobody, whatever the model writes', async () => {
    const bot = await start();
    const text = `<!channel> <!here> <@${ADA}> <!subteam^S1|team> \`<!everyone>\`\n\n<!channel>\n\n- <@${ADA}>`;
    await bot.channel.post(post({ body: { kind: 'text', text } }), { signal });
    const sent = slack.callsOf('chat.postMessage')[0];
    expect(sent?.['text']).not.toMatch(/<[!@#]/);
    const types = JSON.stringify(sent?.['blocks']).match(/"type":"\w+"/g) ?? [];
    for (const type of ['user', 'usergroup', 'broadcast', 'channel', 'mrkdwn'])
      expect(types).not.toContain(`"type":"${type}"`);
  });

  test('whose file Slack refuses is posted as messages, each once', async () => {
    const bot = await start();
    const text = Array.from({ length: 250 }, (_, number) => `Paragraph ${number}.`)
      .join(' ')
      .repeat(3);
    const reply = post({ body: { kind: 'file', name: 'reply.md', text } });
    const refuse = () => slack.fail('files.getUploadURLExternal', { error: 'missing_scope' });
    refuse();
    const { platformMessageId } = await bot.channel.post(reply, { signal });
    const posted = slack.posted(GENERAL);
    expect(posted.flatMap(({ text: words }) => String(words).match(/\d+/g))).toEqual(text.match(/\d+/g));
    expect(posted.length).toBeGreaterThan(1);
    expect(posted[0]?.ts).toBe(platformMessageId);
    refuse();
    expect(await bot.channel.post({ ...reply, attempt: 2 }, { signal })).toEqual({ platformMessageId });
    expect(slack.posted(GENERAL)).toEqual(posted);
  });

  test('whose file is too large to upload keeps its words', async () => {
    const bot = await start();
    slack.fail('upload', { status: 413 });
    await bot.channel.post(post({ body: { kind: 'file', name: 'reply.md', text: 'many words' } }), { signal });
    expect(slack.posted(GENERAL)).toMatchObject([{ text: 'many words' }]);
  });

  test('is posted as text where Slack refuses its blocks', async () => {
    const bot = await start();
    const text = `${'a <b> '.repeat(550)}the end`;
    slack.fail('chat.postMessage', { error: 'invalid_blocks' });
    await bot.channel.post(post({ body: { kind: 'text', text } }), { signal });
    expect(slack.posted(GENERAL)).toMatchObject([{ text: expect.stringMatching(/the end$/) }]);
    expect(slack.posted(GENERAL)[0]).not.toHaveProperty('blocks');
  });

  test.each(['invalid_metadata_format', 'metadata_too_large', 'invalid_arguments', 'invalid_arg_name'])(
    'is posted in words alone after %s',
    async (error) => {
      const bot = await start();
      slack.fail('chat.postMessage', { error });
      await bot.channel.post(post({ body: { kind: 'text', text: 'All *is* well' } }), { signal });
      expect(slack.callsOf('chat.postMessage')).toHaveLength(2);
      expect(Object.keys(slack.callsOf('chat.postMessage')[1] ?? {}).toSorted()).toEqual(['channel', 'text']);
      expect(slack.posted(GENERAL)).toMatchObject([{ text: expect.stringContaining('well') }]);
    },
  );

  test('in words alone is not posted twice after a crash', async () => {
    const state = createState();
    const bot = await start({ state });
    const text = 'See https://a.example & b.example 🎉';
    const reply = post({ body: { kind: 'text', text } });
    const refuse = () => slack.fail('chat.postMessage', { error: 'invalid_arguments' });
    const older = { channel: GENERAL, user: BOT, bot_id: BOT_ID, text, ts: '1700000000.000100' };
    slack.messages.push(older);
    refuse();
    const first = await bot.channel.post(reply, { signal });
    await stop(bot);
    slack.store(GENERAL, BOT, 'Something else.', { bot_id: BOT_ID });
    const index = slack.messages.findIndex(({ ts }) => ts === first.platformMessageId);
    const shown = text
      .replace('b.example', '<http://b.example|b.example>')
      .replace('&', '&amp;')
      .replace('🎉', ':tada:');
    slack.messages[index] = { ...older, ts: first.platformMessageId, text: shown };
    const again = await start({ state });
    expect(await again.channel.post({ ...reply, attempt: 2 }, { signal })).toEqual(first);
    refuse();
    const next = await again.channel.post({ ...reply, nonce: '1-2-0', attempt: 2 }, { signal });
    expect(next).not.toEqual(first);
  });

  test('in words alone is not mistaken for an older one', async () => {
    const state = createState();
    const bot = await start({ state });
    await bot.channel.post(post({ nonce: '1-0-0' }), { signal });
    expect(state.writes.filter((write) => write.startsWith('slack.plain'))).toEqual([]);
    slack.messages.push({ channel: GENERAL, user: BOT, bot_id: BOT_ID, text: 'Yes.', ts: '1700000000.000100' });
    slack.fail('chat.postMessage', { error: 'invalid_arguments' }, { status: 500 });
    const reply = post({ body: { kind: 'text', text: 'Yes.' } });
    await expect(bot.channel.post(reply, { signal })).rejects.toThrow('Slack');
    await stop(bot);
    const again = await start({ state });
    const { platformMessageId } = await again.channel.post({ ...reply, attempt: 2 }, { signal });
    expect(Number(platformMessageId)).toBeGreaterThan(1_700_000_001);
  });

  test('in words alone is not mistaken for a whole one', async () => {
    const state = createState();
    const bot = await start({ state });
    const body = { kind: 'text', text: 'Yes.' } as const;
    const whole = await bot.channel.post(post({ nonce: '1-0-0', body }), { signal });
    slack.fail('chat.postMessage', { error: 'invalid_arguments' }, { status: 500 });
    const reply = post({ body });
    await expect(bot.channel.post(reply, { signal })).rejects.toThrow('Slack');
    await stop(bot);
    const again = await start({ state });
    expect(await again.channel.post({ ...reply, attempt: 2 }, { signal })).not.toEqual(whole);
  });

  test.each([
    ['its channel moves', 'external_channel_migrating'],
    ['an organization withholds its keys', 'ekm_access_denied'],
  ])('is tried again while %s', async (_, error) => {
    const bot = await start();
    slack.fail('chat.postMessage', { error });
    await expect(bot.channel.post(post(), { signal })).rejects.toMatchObject({ data: { final: false } });
  });

  test('waits as long as Slack asks', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { retryAfter: 1 });
    const began = Date.now();
    await bot.channel.post(post(), { signal });
    expect(Date.now() - began).toBeGreaterThan(900);
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('leaves a channel alone for as long as Slack asks', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { retryAfter: 90 });
    const refusals = await Promise.all(
      ['1-1-0', '2-1-0', '3-1-0'].map((nonce) =>
        bot.channel
          .post(post({ nonce }), { signal })
          .catch(({ data }: StrataError<'POST_FAILED'>) => data.retryAfterMs),
      ),
    );
    for (const waitMs of refusals) expect(waitMs).toBeGreaterThan(80_000);
    expect(slack.callsOf('chat.postMessage')).toHaveLength(1);
    await bot.channel.post(post({ conversation: `slack:${TEAM}:${STAFF}` as ConversationKey }), { signal });
    expect(slack.posted(STAFF)).toHaveLength(1);
  });

  test('that grows by escaping stays within the limits, updates too', async () => {
    const bot = await start({ table: { streaming: true, streaming_seconds: 0.1 } });
    const text = `${'a <b> & c '.repeat(340)}

\`\`\`\`
x
\`\`\`
\`\`\`\``;
    await bot.channel.post(post({ body: { kind: 'text', text } }), { signal });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'a <b' });
    await until('a draft stands there', () => slack.callsOf('chat.startStream').length === 1);
    await bot.channel.post(post({ conversation, nonce: '2-1-0', body: { kind: 'text', text } }), { signal });
    expect(String(slack.callsOf('chat.update')[0]?.['text']).length).toBeLessThanOrEqual(4_000);
  });

  test("respects Slack's rate for a channel", async () => {
    const bot = await start();
    slack.world.paced = true;
    const threads = Array.from({ length: 5 }, () => slack.store(GENERAL, ADA, 'a question').ts);
    await Promise.all(
      threads.map((ts, index) => {
        const conversation = `${channelKey}:${ts}` as ConversationKey;
        return bot.channel.post(post({ conversation, nonce: `${index}-1-0` }), { signal });
      }),
    );
    expect(slack.posted(GENERAL)).toHaveLength(5);
    expect(slack.callsOf('chat.postMessage')).toHaveLength(5);
  });

  test('rate-limits files and ephemeral messages too', async () => {
    const bot = await start();
    slack.world.paced = true;
    const file = { kind: 'file', name: 'reply.md', text: 'A long story.' } as const;
    await Promise.all([
      bot.channel.post(post({ body: file }), { signal }),
      bot.channel.post(post({ conversation: `${channelKey}:1700000000.000100` as ConversationKey }), { signal }),
      new Promise<void>((resolve) => {
        slack.slash('status', { channel_id: GENERAL, response_url: '' });
        until('the note', () => slack.answers.length === 1).then(() => resolve(), resolve);
      }),
    ]);
    expect(slack.posted(GENERAL)).toHaveLength(3);
    expect(slack.answers).toHaveLength(1);
    expect(slack.refusals).toEqual([]);
  });

  test('waits where Slack does not say how long', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { retryAfter: null });
    const refusal = await bot.channel.post(post(), { signal }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ data: { final: false, retryAfterMs: 30_000 } });
    const next = await bot.channel.post(post({ nonce: '2-1-0' }), { signal }).catch((error: unknown) => error);
    expect(next).toMatchObject({ data: { final: false } });
    expect(slack.callsOf('chat.postMessage')).toHaveLength(1);
  });

  test('that Slack takes in late is not posted twice', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { late: 1_500 });
    await expect(bot.channel.post(post(), { signal })).rejects.toThrow();
    await bot.channel.post(post({ attempt: 2 }), { signal });
    await delay(500);
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('fails soon with reason, telling temporary from permanent', async () => {
    const bot = await start();
    const refusal = async (failure: Parameters<typeof slack.fail>[1], conversation = channelKey) => {
      slack.fail('chat.postMessage', failure);
      return await bot.channel.post(post({ conversation }), { signal }).catch((error: unknown) => error);
    };
    const final = await refusal({ error: 'not_in_channel' });
    expect(final).toMatchObject({ message: expect.stringContaining('/invite'), data: { final: true } });
    expect(await refusal({ error: 'internal_error' })).toMatchObject({ data: { channel: 'Slack', final: false } });
    expect(await refusal({ error: 'token_expired' })).toMatchObject({ data: { final: false } });
    expect(await refusal({ retryAfter: 1_000_000 })).toMatchObject({ data: { final: false, retryAfterMs: HOUR_MS } });
    const began = Date.now();
    const elsewhere = `slack:${TEAM}:${STAFF}` as ConversationKey;
    expect(await refusal({ status: 500 }, elsewhere)).toMatchObject({ data: { channel: 'Slack', final: false } });
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  // Shows: C4
  test('is not posted twice after a crash', async () => {
    const bot = await start();
    const conversation = await ask(bot);
    for (const place of [channelKey, conversation]) {
      const first = await bot.channel.post(post({ conversation: place }), { signal });
      const again = await bot.channel.post(post({ conversation: place, attempt: 2 }), { signal });
      expect(again).toEqual(first);
    }
    expect(slack.posted(GENERAL)).toHaveLength(2);
    await bot.channel.post(post({ attempt: 2, nonce: '1-2-0' }), { signal });
    expect(slack.posted(GENERAL)).toHaveLength(3);
  });

  test('is not repeated while Slack leaves its fate unknown', async () => {
    const bot = await start();
    await bot.channel.post(post(), { signal });
    slack.fail('conversations.history', { error: 'internal_error' });
    await expect(bot.channel.post(post({ attempt: 2 }), { signal })).rejects.toThrow('Slack');
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('too long for messages is a file, with its beginning', async () => {
    const bot = await start();
    const text = `The story.\n\n${'Word after word. '.repeat(3000)}`;
    const [body, ...more] = bot.channel.split(text);
    expect(more).toEqual([]);
    if (body !== undefined) await bot.channel.post(post({ body }), { signal });
    expect(slack.uploads).toMatchObject([{ name: 'reply.md', channel: GENERAL }]);
    expect(slack.uploads[0]?.text).toBe(text.trim());
    expect(slack.posted(GENERAL).at(-1)?.['text']).toContain('The story.');
  });

  // Shows: L
  test('whose answer was lost is found by the next attempt', async () => {
    const bot = await start();
    slack.fail('chat.postMessage', { lost: true });
    await expect(bot.channel.post(post(), { signal })).rejects.toThrow('Slack');
    const [only] = slack.posted(GENERAL);
    expect(await bot.channel.post(post({ attempt: 2 }), { signal })).toEqual({ platformMessageId: only?.ts });
    expect(slack.posted(GENERAL)).toHaveLength(1);
  });

  test('is found among hundreds of newer messages', async () => {
    const bot = await start();
    const conversation = await ask(bot);
    const thread = { thread_ts: conversation.split(':')[3] };
    for (let index = 0; index < 600; index += 1) slack.store(GENERAL, ADA, `message ${index}`, thread);
    const first = await bot.channel.post(post({ conversation }), { signal });
    for (let index = 0; index < 600; index += 1) slack.store(GENERAL, ADA, `message ${index}`, thread);
    expect(await bot.channel.post(post({ conversation, attempt: 2 }), { signal })).toEqual(first);
  });

  test('is found in its thread despite newer ones', async () => {
    const state = createState();
    const table = { direct_conversation: 'person', catch_up: { messages: 0 } };
    const bot = await start({ state, table });
    const first = slack.say(DIRECT, ADA, 'about cats');
    const { conversation } = await until('it arrives', () => bot.sink.messages[0]);
    slack.fail('chat.postMessage', { lost: true });
    await expect(bot.channel.post(post({ conversation }), { signal })).rejects.toThrow('Slack');
    const later = slack.say(DIRECT, ADA, 'about dogs');
    await until('it arrives', () => bot.sink.messages[1]);
    await stop(bot);
    const again = await start({ state, table });
    await again.channel.post(post({ conversation, attempt: 2 }), { signal });
    await again.channel.post(post({ conversation, nonce: '1-2-0' }), { signal });
    expect(slack.posted(DIRECT).map(({ thread_ts: thread }) => thread)).toEqual([first.ts, later.ts]);
  });

  test('that is a file is uploaded once despite a crash', async () => {
    const bot = await start();
    const file = { kind: 'file', name: 'reply.md', text: 'A long story.' } as const;
    slack.fail('chat.postMessage', { error: 'fatal_error' });
    await expect(bot.channel.post(post({ body: file }), { signal })).rejects.toThrow('Slack');
    expect(slack.uploads).toHaveLength(1);
    const { platformMessageId } = await bot.channel.post(post({ body: file, attempt: 2 }), { signal });
    expect(slack.uploads).toMatchObject([{ name: 'reply.md', text: 'A long story.' }]);
    expect(slack.posted(GENERAL).at(-1)?.ts).toBe(platformMessageId);
    await bot.channel.post(post({ body: file, attempt: 2, nonce: '1-2-0' }), { signal });
    expect(slack.uploads).toHaveLength(2);
  });

  test('that brings an image uploads its bytes once', async () => {
    const bot = await start();
    const image = { kind: 'attachment', name: 'a.png', mediaType: 'image/png', base64: 'aGk=', text: 'a.png' } as const;
    const unasked = { body: image, unaskedAt: Date.now() };
    const first = await bot.channel.post(post(unasked), { signal });
    const again = await bot.channel.post(post({ ...unasked, attempt: 2 }), { signal });
    expect(again).toEqual(first);
    expect(slack.uploads).toMatchObject([{ name: 'a.png', text: 'hi' }]);
  });
});

describe('while the model works', () => {
  // Shows: C11
  test('a status appears below the thread and disappears', async () => {
    const bot = await start();
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'working' });
    bot.channel.show(conversation, { kind: 'idle' });
    const shown = () => slack.callsOf('assistant.threads.setStatus').map(({ status }) => status);
    await until('both are shown', () => shown().length === 2);
    expect(shown().toSorted()).toEqual(['', 'is thinking…']);
  });

  const streaming = { streaming: true, streaming_seconds: 0.1 };

  test('streams the reply, which becomes the whole message', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once <!channel>' });
    await until('it streams', () => slack.callsOf('chat.startStream').length === 1);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once <!channel> upon a time' });
    await until('it grows', () => slack.callsOf('chat.appendStream').length === 1);
    expect(slack.callsOf('chat.startStream')[0]).toMatchObject({ recipient_user_id: ADA, recipient_team_id: TEAM });
    expect(slack.posted(GENERAL)[0]?.['text']).toBe('Once &lt;!channel> upon a time');
    const { platformMessageId } = await bot.channel.post(
      post({ conversation, body: { kind: 'text', text: 'Once upon a time.' } }),
      { signal },
    );
    expect(slack.posted(GENERAL)).toMatchObject([{ ts: platformMessageId, text: 'Once upon a time.' }]);
    expect(slack.callsOf('chat.stopStream')).toHaveLength(1);
    const again = await bot.channel.post(
      post({ conversation, body: { kind: 'text', text: 'Once upon a time.' }, attempt: 2 }),
      { signal },
    );
    expect(again.platformMessageId).toBe(platformMessageId);
  });

  test('a stream holds no control character or direction override', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    const noise = '\u0000\u202e\u2066\u0085\u001b[31m\u007f';
    bot.channel.show(conversation, { kind: 'draft', text: `Once${noise}` });
    await until('it streams', () => slack.callsOf('chat.startStream').length === 1);
    bot.channel.show(conversation, { kind: 'draft', text: `Once${noise} upon${noise} a time` });
    await until('it grows', () => slack.callsOf('chat.appendStream').length === 1);
    expect(slack.posted(GENERAL)[0]?.['text']).toBe('Once upon a time');
  });

  // Shows: I
  test('a stream that has expired loses nothing', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it streams', () => slack.callsOf('chat.startStream').length === 1);
    slack.world.expiresStreams = true;
    bot.channel.show(conversation, { kind: 'draft', text: 'Once upon' });
    await until('it fails', () => slack.callsOf('chat.appendStream').length === 1);
    await bot.channel.post(post({ conversation, body: { kind: 'text', text: 'Once upon a time.' } }), { signal });
    expect(slack.posted(GENERAL).map(({ text }) => text)).toEqual(['Once upon a time.']);
  });

  test('streams of many replies keep to the rate', async () => {
    const bot = await start({ table: streaming });
    const conversations = await Promise.all(Array.from({ length: 24 }, () => ask(bot)));
    slack.world.paced = true;
    // A slow machine takes more rounds.
    for (let round = 0; round < 15 || slack.callsOf('chat.appendStream').length <= 50; round += 1) {
      for (const conversation of conversations) {
        bot.channel.show(conversation, { kind: 'draft', text: 'word '.repeat(round + 1) });
      }
      await delay(100);
    }
    expect(slack.refusals).toEqual([]);
  });

  test('a stream waits as long as Slack asks', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it streams', () => slack.callsOf('chat.startStream').length === 1);
    slack.fail('chat.appendStream', { retryAfter: 90 });
    for (const text of ['Once upon', 'Once upon a', 'Once upon a time']) {
      bot.channel.show(conversation, { kind: 'draft', text });
      await delay(250);
    }
    expect(slack.callsOf('chat.appendStream')).toHaveLength(1);
    slack.fail('chat.update', { retryAfter: 90 });
    await bot.channel.post(post({ conversation, body: { kind: 'text', text: 'Whole.' } }), { signal });
    expect(slack.posted(GENERAL).map(({ text }) => text)).toEqual(['Whole.']);
  });

  test('a stream begun late stays no second message', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    slack.fail('chat.startStream', { late: 1_500 });
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it begins', () => slack.callsOf('chat.startStream').length === 1);
    await bot.channel.post(post({ conversation, body: { kind: 'text', text: 'Whole.' } }), { signal });
    await until('the draft is there', () => slack.posted(GENERAL).length === 2);
    await until('only the reply is left', () => slack.posted(GENERAL).length === 1);
    expect(slack.posted(GENERAL)[0]?.['text']).toBe('Whole.');
  });

  test('a stream that begins after a crash is removed', async () => {
    const state = createState();
    const bot = await start({ state, table: streaming });
    const conversation = await ask(bot);
    const { ts: threadTs } = slack.store(GENERAL, ADA, 'Tell me a story');
    await bot.channel.stop();
    await state.set('slack.drafts', conversation, { ts: null, threadTs, at: Date.now() - 12_000, after: threadTs });
    const { now, sleep } = createSystemClock();
    await start({ state, table: streaming, clock: { now, sleep: (ms, options) => sleep(ms / 5, options) } });
    await until('it looks', () => slack.callsOf('conversations.replies').some(({ ts }) => ts === threadTs));
    await delay(100);
    slack.store(GENERAL, BOT, 'Once', { thread_ts: threadTs });
    await until('it is gone', () => slack.posted(GENERAL).length === 0);
  });

  test('a greeting before a lost stream is no draft', async () => {
    const bot = await start({ table: { ...streaming, surface: 'classic' } });
    const { ts } = slack.store(DIRECT, ADA, 'New chat');
    const thread = { user_id: ADA, channel_id: DIRECT, thread_ts: ts, context: {} };
    slack.emit({ type: 'assistant_thread_started', assistant_thread: thread });
    await until('it greets', () => slack.posted(DIRECT).length === 1);
    slack.say(DIRECT, ADA, 'Tell me a story', { thread_ts: ts });
    const { conversation } = await until('it arrives', () => bot.sink.messages[0]);
    slack.fail('chat.startStream', { lost: true });
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it streams', () => slack.posted(DIRECT).length === 2);
    await bot.channel.post(post({ conversation, body: { kind: 'text', text: 'Whole.' } }), { signal });
    await until('the draft is gone', () => slack.callsOf('chat.delete').length > 0);
    await delay(200);
    expect(slack.posted(DIRECT).map(({ text }) => text)).toEqual([expect.stringContaining('Hello'), 'Whole.']);
  });

  test('a streamed message that is gone is posted again', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it streams', () => slack.callsOf('chat.startStream').length === 1);
    slack.fail('chat.update', { error: 'message_not_found' });
    await bot.channel.post(post({ conversation, body: { kind: 'text', text: 'Whole.' } }), { signal });
    expect(slack.posted(GENERAL).map(({ text }) => text)).toEqual(['Whole.']);
  });

  test('leaves no draft though Slack fails to delete it once', async () => {
    const bot = await start({ table: streaming });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it streams', () => slack.posted(GENERAL).length === 1);
    slack.fail('chat.delete', { status: 500 });
    bot.channel.show(conversation, { kind: 'idle' });
    await until('it is gone', () => slack.posted(GENERAL).length === 0, 10_000);
  });

  test('removes no post that began the thread of a draft', async () => {
    const state = createState();
    const root = slack.store(GENERAL, BOT, 'What shall we eat?', { bot_id: BOT_ID });
    const draft = slack.store(GENERAL, BOT, 'Once upon', { bot_id: BOT_ID, thread_ts: root.ts });
    const note = { ts: null, threadTs: root.ts, at: Date.now() };
    await state.set('slack.drafts', `slack:${TEAM}:${GENERAL}:${root.ts}`, note);
    await start({ state, table: streaming });
    await until('it is gone', () => !slack.messages.includes(draft) || slack.posted(GENERAL).length === 1, 10_000);
    expect(slack.posted(GENERAL).map(({ text }) => text)).toEqual(['What shall we eat?']);
  });

  test('leaves no draft without a reply or after a crash', async () => {
    const state = createState();
    const bot = await start({ state, table: streaming });
    const conversation = await ask(bot);
    bot.channel.show(conversation, { kind: 'draft', text: 'Once' });
    await until('it streams', () => slack.posted(GENERAL).length === 1);
    bot.channel.show(conversation, { kind: 'idle' });
    await until('it is gone', () => slack.posted(GENERAL).length === 0);
    bot.channel.show(conversation, { kind: 'draft', text: 'Twice' });
    await until('it streams', () => slack.posted(GENERAL).length === 1);
    await delay(50);
    slack.fail('conversations.replies', { status: 500 });
    await start({ state, table: streaming });
    await until('it is gone', () => slack.posted(GENERAL).length === 0, 10_000);
  });
});

describe("Slack's agent surface", () => {
  test('greets once, suggests each time, and titles threads', async () => {
    await start();
    for (let index = 0; index < 2; index += 1) {
      slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'messages' });
    }
    await until('it suggests', () => slack.callsOf('assistant.threads.setSuggestedPrompts').length === 2);
    expect(slack.posted(DIRECT)).toHaveLength(1);
    expect(slack.callsOf('assistant.threads.setSuggestedPrompts')[0]).not.toHaveProperty('thread_ts');
    const { ts } = slack.say(DIRECT, ADA, 'What is the\nplan?');
    await until('it is titled', () => slack.callsOf('assistant.threads.setTitle').length === 1);
    expect(slack.callsOf('assistant.threads.setTitle')[0]).toMatchObject({ thread_ts: ts, title: 'What is the plan?' });
  });

  test('greets after the pause that Slack asks for', async () => {
    await start({ table: { greeting: 'Hello!' } });
    slack.fail('chat.postMessage', { retryAfter: 1 });
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'messages' });
    await until('it greets', () => slack.posted(DIRECT).length === 1, 10_000);
    expect(slack.posted(DIRECT)).toMatchObject([{ text: 'Hello!' }]);
  });

  test('remembers whom it has greeted in which workspace', async () => {
    const state = createState();
    const bot = await start({ state });
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'messages' });
    await until('it greets', () => slack.posted(DIRECT).length === 1);
    await bot.channel.stop();
    expect((await state.list('slack.greeted')).map(({ key }) => key)).toEqual([`${TEAM}:${ADA}`]);
  });

  test('titles no thread that begins without words', async () => {
    const bot = await start();
    const file = {
      id: 'F1',
      name: 'map.png',
      mimetype: 'image/png',
      size: 3,
      url_private: 'https://files.slack.com/F1',
    };
    slack.say(DIRECT, ADA, '', { subtype: 'file_share', files: [file] });
    await until('it arrives', () => bot.sink.messages.length === 1);
    expect(bot.sink.messages[0]?.text).toBe('');
    slack.say(DIRECT, ADA, 'With words');
    await until('it is titled', () => slack.callsOf('assistant.threads.setTitle').length > 0);
    await bot.channel.stop();
    expect(slack.callsOf('assistant.threads.setTitle').map(({ title }) => title)).toEqual(['With words']);
  });

  const looksAt = (...entities: object[]) =>
    slack.emit({ type: 'app_context_changed', user: ADA, channel: DIRECT, context: { entities } });
  const channelEntity = (id: string) => ({ type: 'slack#/types/channel_id', value: id, team_id: TEAM });
  const said = (bot: Opened, words: string) =>
    until(`"${words}" arrives`, () => bot.sink.messages.find(({ text }) => text.endsWith(words)));

  test('mentions what an author is viewing once per change', async () => {
    const bot = await start({ table: { direct_conversation: 'person' } });
    looksAt({ type: 'slack#/types/canvas_id', value: 'F1' }, channelEntity(GENERAL));
    slack.say(DIRECT, ADA, 'What is this about?');
    expect((await said(bot, 'about?')).text).toBe('[the sender is looking at #general]\nWhat is this about?');
    slack.say(DIRECT, ADA, 'And who is here?');
    expect((await said(bot, 'here?')).text).toBe('And who is here?');
    slack.say(DIRECT, ADA, 'And now?', { app_context: { entities: [channelEntity(STAFF)] } });
    expect((await said(bot, 'now?')).text).toBe('[the sender is looking at #staff]\nAnd now?');
    looksAt(channelEntity('C0UNKNOWN'));
    slack.say(DIRECT, ADA, 'Elsewhere?');
    expect((await said(bot, 'Elsewhere?')).text).toBe('Elsewhere?');
    slack.say(GENERAL, ADA, 'In public.', { app_context: { entities: [channelEntity(STAFF)] } });
    expect((await said(bot, 'public.')).text).toBe('In public.');
  });

  test('keeps and shows nothing for people it does not serve', async () => {
    const state = createState();
    const bot = await start({ state, table: { users: { deny: [BOB] } } });
    const context = { entities: [channelEntity(GENERAL)] };
    const home = { type: 'app_home_opened', user: BOB, channel: DIRECT, context };
    for (const tab of ['messages', 'home']) slack.emit({ ...home, tab });
    const seen = { channel_id: STAFF, team_id: TEAM, enterprise_id: null };
    const thread = { user_id: BOB, channel_id: DIRECT, thread_ts: '1700000000.000100', context: seen };
    for (const type of ['assistant_thread_started', 'assistant_thread_context_changed']) {
      slack.emit({ type, assistant_thread: thread });
    }
    slack.emit({ type: 'app_context_changed', user: BOB, channel: DIRECT, context });
    slack.emit({ ...home, user: ADA, tab: 'messages' });
    await until('it suggests', () => slack.callsOf('assistant.threads.setSuggestedPrompts').length > 0);
    slack.say(DIRECT, ADA, 'What is this?');
    expect((await said(bot, 'this?')).text).toBe('[the sender is looking at #general]\nWhat is this?');
    await bot.channel.stop();
    expect(state.writes.filter((write) => write.includes(BOB))).toEqual([]);
    expect(slack.callsOf('assistant.threads.setSuggestedPrompts')).toHaveLength(1);
    expect(slack.callsOf('views.publish')).toEqual([]);
  });

  test('titles only threads of direct messages, in few words', async () => {
    const bot = await start();
    slack.say(GENERAL, ADA, `<@${BOT}> In public.`);
    slack.say(DIRECT, ADA, `${'x'.repeat(59)}😀 and more`);
    await until('it is titled', () => slack.callsOf('assistant.threads.setTitle').length > 0);
    await until('both arrive', () => bot.sink.messages.length === 2);
    await bot.channel.stop();
    const titles = slack.callsOf('assistant.threads.setTitle').map(({ title }) => title);
    expect(titles).toEqual([`${'x'.repeat(59)}\ufffd`]);
    const person = await start({ table: { direct_conversation: 'person' } });
    slack.say(DIRECT, ADA, 'One conversation');
    await said(person, 'One conversation');
    await person.channel.stop();
    expect(slack.callsOf('assistant.threads.setTitle')).toHaveLength(1);
  });

  test('says and suggests nothing where nothing is configured', async () => {
    const opened = { type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'messages' };
    const silent = await start({ table: { greeting: '' } });
    slack.emit(opened);
    await until('it suggests', () => slack.callsOf('assistant.threads.setSuggestedPrompts').length === 1);
    await silent.channel.stop();
    expect(slack.posted(DIRECT)).toEqual([]);
    const bot = await start({ table: { prompts: [] } });
    slack.emit(opened);
    await until('it greets', () => slack.posted(DIRECT).length === 1);
    await bot.channel.stop();
    expect(slack.callsOf('assistant.threads.setSuggestedPrompts')).toHaveLength(1);
  });

  test('greets older apps only in each of the assistant’s threads', async () => {
    const bot = await start({ table: { surface: 'classic', greeting: 'Hello *you*' } });
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'messages' });
    for (const thread_ts of ['1700000000.000100', '1700000000.000200']) {
      const thread = { user_id: ADA, channel_id: DIRECT, thread_ts, context: { channel_id: GENERAL } };
      slack.emit({ type: 'assistant_thread_started', assistant_thread: thread });
    }
    await until('it suggests', () => slack.callsOf('assistant.threads.setSuggestedPrompts').length === 2);
    slack.say(DIRECT, ADA, 'What is this?', { thread_ts: '1700000000.000100' });
    expect((await said(bot, 'this?')).text).toContain('[the sender is looking at #general]');
    await bot.channel.stop();
    expect(slack.callsOf('assistant.threads.setSuggestedPrompts')).toHaveLength(2);
    expect(
      slack
        .posted(DIRECT)
        .map(({ mrkdwn, thread_ts: thread }) => [mrkdwn, thread])
        .toSorted(),
    ).toEqual([
      [false, '1700000000.000100'],
      [false, '1700000000.000200'],
    ]);
  });

  // Shows: H
  test('greets older apps in the assistant’s thread with its context', async () => {
    const bot = await start({ table: { surface: 'classic' } });
    const thread = { user_id: ADA, channel_id: DIRECT, thread_ts: '1700000000.000100', context: {} };
    slack.emit({ type: 'assistant_thread_started', assistant_thread: thread });
    await until('it suggests', () => slack.callsOf('assistant.threads.setSuggestedPrompts').length === 1);
    expect(slack.posted(DIRECT)[0]).toMatchObject({ thread_ts: '1700000000.000100' });
    const looking = { ...thread, context: { channel_id: STAFF, team_id: TEAM, enterprise_id: null } };
    slack.emit({ type: 'assistant_thread_context_changed', assistant_thread: looking });
    slack.say(DIRECT, ADA, 'What is this?', { thread_ts: thread.thread_ts });
    expect((await said(bot, 'What is this?')).text).toBe('[the sender is looking at #staff]\nWhat is this?');
  });
});
