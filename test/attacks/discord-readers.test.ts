import { describe, expect, test } from 'vitest';
import { makeReply } from '../../src/adapter-kit.ts';
import { ADA, BOB, CONNECT, GENERAL, GUILD, HISTORY, VIEW } from '../fixtures/discord/double.ts';
import { withChannel } from '../fixtures/discord/each-test.ts';
import { until } from '../fixtures/discord/kit.ts';
import { textChannel, thread } from '../fixtures/discord/payloads.ts';

const SECRET = '300000000000000011';
const SECRET_THREAD = '500000000000000011';
const [VOICE, STAGE] = [2, 13];

function channelWithout(denied: bigint, type = 0) {
  const overwrites = [{ id: GUILD, type: 0, allow: '0', deny: String(denied) }];
  return textChannel({ id: SECRET, guild_id: GUILD, name: 'takeover', type, permission_overwrites: overwrites });
}

describe('a channel that everybody sees in the list and not everybody can read', () => {
  test.each([
    ['a text channel without its history', 0, HISTORY],
    ['the chat of a locked voice channel', VOICE, CONNECT],
    ['the chat of a locked stage', STAGE, CONNECT],
  ])('is private: %s', async (_, type, denied) => {
    await withChannel({}, async ({ double, sink }) => {
      double.addChannel(channelWithout(denied, type));
      double.say(SECRET, ADA, 'among us');
      await until('the message', () => sink.messages.length === 1);
      expect(sink.messages[0]?.audience).toBe('private');
    });
  });

  test.each([
    ['text', 0],
    ['voice', VOICE],
    ['announcement', 5],
  ])('is private if it is age-restricted: %s', async (_, type) => {
    await withChannel({}, async ({ double, sink }) => {
      double.addChannel(textChannel({ id: SECRET, guild_id: GUILD, name: 'late', type, nsfw: true }));
      double.say(SECRET, ADA, 'among adults');
      await until('the message', () => sink.messages.length === 1);
      expect(sink.messages[0]?.audience).toBe('private');
    });
  });

  test('is private with the posts of an age-restricted forum', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const forum = textChannel({ id: SECRET, guild_id: GUILD, name: 'late', type: 15, nsfw: true });
      double.gateway.dispatch(GUILD, 'CHANNEL_CREATE', forum);
      double.addChannel(thread({ id: SECRET_THREAD, guild_id: GUILD, parent_id: SECRET }));
      double.say(SECRET_THREAD, ADA, 'among adults');
      await until('the message', () => sink.messages.length === 1);
      expect(sink.messages[0]?.audience).toBe('private');
    });
  });

  test('is public with all it takes', async () => {
    await withChannel({}, async ({ double, sink }) => {
      double.addChannel(channelWithout(0n, VOICE));
      double.say(SECRET, ADA, 'hello everybody');
      await until('the message', () => sink.messages.length === 1);
      expect(sink.messages[0]?.audience).toBe('public');
    });
  });
});

describe('commands of somebody who cannot read what was said', () => {
  const data = { name: 'transcript', type: 1, options: [{ name: 'search', type: 1, options: [] }] };
  const typing = { name: 'summaries', options: [{ name: 'id', type: 3, value: '', focused: true }] };

  test.each([
    ['the history', 0, VIEW],
    ['the channel', 0, HISTORY],
    ['the chat of a voice channel', VOICE, VIEW | HISTORY],
    ['the chat of a stage', STAGE, VIEW | HISTORY],
  ])('show nothing without the permission to read %s', async (_, type, permissions) => {
    await withChannel({}, async ({ double, sink }) => {
      double.addChannel(channelWithout(0n, type));
      const by = { channelId: SECRET, permissions: String(permissions) };
      const form = double.interact({ ...by, type: 5, data: { custom_id: 'x', components: [] } });
      const asked = double.interact({ ...by, type: 2, data });
      const typed = double.interact({ ...by, type: 4, data: typing });
      const answers = () => double.callbacks.filter(({ id }) => [form, asked, typed].includes(id));
      await until('the answers', () => answers().length === 3);
      expect(JSON.stringify(answers())).toContain('does not serve you here');
      expect([sink.commands, sink.suggestions]).toEqual([[], []]);
    });
  });
});

test('commands of who may join work in a voice channel', async () => {
  await withChannel({}, async ({ double, sink }) => {
    double.addChannel(channelWithout(0n, VOICE));
    const data = { name: 'status', type: 1, options: [] };
    double.interact({ channelId: SECRET, permissions: String(VIEW | HISTORY | CONNECT), type: 2, data });
    await until('the command', () => sink.commands.length === 1);
  });
});

describe('a form that stayed open while its person was removed', () => {
  const MANAGE_THREADS = 1n << 34n;
  const id = '01k0aaaaaaaaaaaaaaaaaaaaaa';
  const edit = { name: 'edit', type: 1, options: [{ name: 'id', type: 3, value: id }] };
  const components = [{ type: 18, component: { type: 4, custom_id: 'text', value: 'planted' } }];

  /** Bob opens a form in a private thread, is removed from it, and sends the form. */
  async function sendForm(permissions: bigint, isMember: boolean, { type = 12, isMute = false, fails = false } = {}) {
    const world = { answer: '', commands: [] as unknown[] };
    await withChannel({}, async ({ double, sink }) => {
      double.addChannel(thread({ id: SECRET_THREAD, guild_id: GUILD, parent_id: GENERAL, type }));
      const answered = Promise.withResolvers<void>();
      if (fails) double.rest.fail('GET', /thread-members/, { status: 403, code: 50_001, times: 9 });
      if (isMute) double.rest.delay('GET', /thread-members/, answered.promise);
      const answerTo = (asked: string) => until('it', () => double.callbacks.find((one) => one.id === asked)?.body);
      const here = { channelId: SECRET_THREAD, author: BOB, permissions: String(permissions) };
      const data = { name: 'memory', type: 1, options: [edit] };
      const form = await answerTo(double.interact({ ...here, type: 2, data }));
      sink.commands.length = 0;
      double.threadMembers.set(SECRET_THREAD, isMember ? [ADA.id, BOB.id] : [ADA.id]);
      const { custom_id } = form['data'] as { custom_id: string };
      const sent = await answerTo(double.interact({ ...here, type: 5, data: { custom_id, components } }));
      world.answer = JSON.stringify(sent);
      world.commands = sink.commands.map(({ options }) => options['text']);
      answered.resolve();
    });
    return world;
  }

  test('does nothing in a private thread', async () => {
    const { answer, commands } = await sendForm(VIEW | HISTORY, false);
    expect(answer).toContain('does not serve you here');
    expect(commands).toEqual([]);
  });

  test.each([
    ['members', VIEW | HISTORY, true],
    ['those who manage threads', VIEW | HISTORY | MANAGE_THREADS, false],
  ])('works for %s', async (_, permissions, isMember) => {
    expect((await sendForm(permissions, isMember)).commands).toEqual(['planted']);
  });

  test('works in a public thread, which everybody can read', async () => {
    expect((await sendForm(VIEW | HISTORY, false, { type: 11 })).commands).toEqual(['planted']);
  });

  test.each([{ isMute: true }, { fails: true }])('does nothing while Discord tells no members: %j', async (trouble) => {
    const { answer, commands } = await sendForm(VIEW | HISTORY, true, trouble);
    expect(answer).toContain('does not serve you here');
    expect(commands).toEqual([]);
  });
});

describe('a button of somebody who was removed from a private thread', () => {
  test.each([
    ['does nothing', false],
    ['works for members', true],
  ])('%s', async (_, isMember) => {
    await withChannel({}, async ({ double, sink }) => {
      double.addChannel(thread({ id: SECRET_THREAD, guild_id: GUILD, parent_id: GENERAL, type: 12 }));
      const next = { path: ['memory', 'list'], options: { page: '2' } };
      sink.answer = () => makeReply('Memory', { page: { number: 1, of: 2, previous: null, next } });
      const answerTo = (asked: string) => until('it', () => double.callbacks.find((one) => one.id === asked)?.body);
      const here = { channelId: SECRET_THREAD, author: BOB, permissions: String(VIEW | HISTORY) };
      const data = { name: 'memory', type: 1, options: [{ name: 'list', type: 1, options: [] }] };
      const list = JSON.stringify(await answerTo(double.interact({ ...here, type: 2, data })));
      const [, custom_id = ''] = /"custom_id":"([^"]+)"/.exec(list) ?? [];
      sink.commands.length = 0;
      double.threadMembers.set(SECRET_THREAD, isMember ? [ADA.id, BOB.id] : [ADA.id]);
      const pressed = await answerTo(double.interact({ ...here, type: 3, data: { custom_id, component_type: 2 } }));
      expect(JSON.stringify(pressed).includes('does not serve you here')).toBe(!isMember);
      expect(sink.commands.map(({ options }) => options['page'])).toEqual(isMember ? ['2'] : []);
    });
  });
});

describe('the name of a private channel', () => {
  test('is told if everybody sees it in the list', async () => {
    await withChannel({}, async ({ double, sink }) => {
      double.gateway.dispatch(GUILD, 'CHANNEL_CREATE', channelWithout(CONNECT, VOICE));
      double.say(GENERAL, BOB, `<#${SECRET}>`);
      await until('the message', () => sink.messages.length === 1);
      expect(sink.messages[0]?.text).toBe('#takeover');
    });
  });

  test('is not told to whoever writes its id elsewhere', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const closed = thread({ id: SECRET_THREAD, guild_id: GUILD, parent_id: GENERAL, type: 12, name: 'layoffs' });
      double.addChannel(closed);
      double.gateway.dispatch(GUILD, 'CHANNEL_CREATE', channelWithout(VIEW));
      double.gateway.dispatch(GUILD, 'THREAD_CREATE', closed);
      double.say(GENERAL, BOB, `<#${SECRET}> <#${SECRET_THREAD}>`);
      double.say(SECRET_THREAD, ADA, `<#${SECRET}> <#${SECRET_THREAD}>`);
      await until('the messages', () => sink.messages.length === 2);
      expect(sink.messages.map(({ text }) => text)).toEqual([
        `<#${SECRET}> <#${SECRET_THREAD}>`,
        `<#${SECRET}> #layoffs`,
      ]);
    });
  });
});
