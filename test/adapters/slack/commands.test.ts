import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createButtons } from '../../../adapters/channels/slack/commands/buttons.ts';
import { lineOf } from '../../../adapters/channels/slack/commands/commands.ts';
import { type SignButton, toMessage } from '../../../adapters/channels/slack/commands/render.ts';
import { manifestOf } from '../../../adapters/channels/slack/manifest.ts';
import { builtInSpecs, type CommandReply, type ConversationKey, defineCommand } from '../../../src/adapter-kit.ts';
import { allCommands } from '../../../src/commands/custom/custom-commands.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import {
  ADA,
  BOB,
  BOT,
  BOT_ID,
  BOT_TOKEN,
  COLLEAGUE,
  DIRECT,
  type Fields,
  GENERAL,
  GUEST,
  NEIGHBOUR,
  OTHER_TEAM,
  type SlackDouble,
  STAFF,
  startSlack,
  TEAM,
  WORKSPACE_URL,
} from '../../fixtures/slack/double.ts';
import { type Opened, openChannel, plain, recordSink, settingsFor, until } from '../../fixtures/slack/kit.ts';
import { faultsOf } from '../../fixtures/slack/limits.ts';

let slack: SlackDouble;
let bot: Opened;
beforeEach(async () => {
  slack = await startSlack();
  bot = openChannel(slack);
});
afterEach(async () => {
  await bot.channel.stop();
  await slack.close();
});

async function start(table: Record<string, unknown> = {}): Promise<void> {
  bot = openChannel(slack, { table: { sockets: 1, ...table } });
  await bot.channel.start(bot.sink);
}
const answered = (count = 1) =>
  until('it is answered', () => slack.answers.length >= count && slack.answers[count - 1]);
const ID = '01k0aaaaaaaaaaaaaaaaaaaaaa';
const list: CommandReply = {
  ...plain,
  title: 'Memory',
  text: '9 may be read here.',
  rows: { columns: ['ID', 'KIND', 'WHAT'], cells: [[ID, 'fact', 'Ada drinks <tea>']] },
  page: { number: 1, of: 2, previous: null, next: { path: ['memory', 'list'], options: { page: '2' } } },
  actions: [{ label: 'Delete it', command: { path: ['memory', 'strike'], options: { id: ID } }, style: 'danger' }],
};

const option = {
  kind: 'text',
  rest: true,
  maxLength: 100,
  choices: [],
  range: { min: 0, max: 1 },
  suggests: false,
} as const;
const action = { name: '', description: 'Wipe it', access: 'member', irreversible: true, ephemeral: true } as const;

interface Shown {
  readonly text: string;
  readonly value: string;
}
/** Every button and entry of a menu that an answer shows. */
function buttonsOf(answer: Fields): readonly Shown[] {
  const found: Shown[] = [];
  JSON.stringify(answer, (_, part: unknown) => {
    if (typeof part === 'object' && part !== null && 'value' in part && 'text' in part) {
      const { text, value } = part as { text: { text: string }; value: string };
      found.push({ text: text.text, value });
    }
    return part;
  });
  return found;
}
function press(value: string, more: Fields = {}): void {
  slack.interact({
    type: 'block_actions',
    channel: { id: GENERAL },
    container: { type: 'message', message_ts: '1.1' },
    actions: [{ type: 'button', action_id: 'button 0', block_id: 'x', value }],
    ...more,
  });
}
const sealedOf = (answer: Fields, label: string) => buttonsOf(answer).find(({ text }) => text === label)?.value ?? '';
const opened = () =>
  until('a form opens', () => slack.callsOf('views.open').at(-1)?.['view'] as Record<string, unknown> | undefined);
function submit(view: Record<string, unknown>, values: Fields = {}, user = ADA): void {
  const { private_metadata, callback_id } = view;
  slack.interact({
    type: 'view_submission',
    user: { id: user, team_id: TEAM },
    view: { id: 'V1', type: 'modal', callback_id, private_metadata, state: { values }, blocks: [] },
  });
}

describe('slash commands', () => {
  test('one with sub-words or one each, with help', () => {
    expect(lineOf('/strata', 'memory list fact', 'strata')).toBe('/memory list fact');
    expect(lineOf('/strata', ' /status ', 'strata')).toBe('/status');
    expect(lineOf('/strata', '', 'strata')).toBe('/help');
    expect(lineOf('/strata-memory', 'list', 'strata')).toBe('/memory list');
  });

  test('of the manifest reach their commands by name', async () => {
    await start({ commands: 'all' });
    const { slash_commands: all } = manifestOf(settingsFor(slack, { commands: 'all' }), builtInSpecs).features;
    for (const { command } of all) slack.slash('', { command });
    const forms = () => slack.callsOf('views.open').map(({ view }) => JSON.stringify(view));
    await until('all are answered or asked about', () => slack.answers.length + forms().length === all.length);
    const reached = bot.sink.commands.map(({ path }) => path[0] ?? '');
    const asked = forms().map((form) => /"text":"\/strata (\w+)/.exec(form)?.[1]);
    expect(all).toHaveLength(1 + builtInSpecs.length);
    expect(asked).toEqual(['reset']);
    // One requires words, and its usage is shown.
    expect(JSON.stringify(slack.answers)).toContain('/strata transcript');
    const names = builtInSpecs.map(({ name }) => name).filter((name) => name !== 'transcript');
    expect(new Set([...reached, ...asked])).toEqual(new Set(names));
    slack.slash('search green tea', { command: '/strata-memory' });
    await until('it is run', () => bot.sink.commands.at(-1)?.options['query'] === 'green tea');
    expect(bot.sink.commands.at(-1)?.path).toEqual(['memory', 'search']);
  });

  test.each([
    [{}, '/strata '],
    [{ command_prefix: 'helper' }, '/helper '],
  ])('are named as people type them here: %j', async (table, prefix) => {
    await start(table);
    expect(bot.channel.traits.commandPrefix).toBe(prefix);
  });

  test('are answered privately, with the person’s rights and place', async () => {
    await start();
    slack.slash('memory search green tea');
    expect(await answered()).toMatchObject({ response_type: 'ephemeral' });
    expect(bot.sink.commands).toMatchObject([
      {
        conversation: `slack:${TEAM}:${GENERAL}`,
        audience: 'public',
        author: { id: ADA, name: 'Ada', kind: 'person' },
        rights: 'moderator',
        path: ['memory', 'search'],
        options: { query: 'green tea' },
      },
    ]);
    slack.slash('status', { user_id: BOB });
    await answered(2);
    expect(bot.sink.commands[1]?.rights).toBe('member');
  });

  test('have the rights of who manages workspace or channel', async () => {
    slack.people.set(BOB, { ...slack.people.get(BOB), is_owner: true });
    slack.people.set(GUEST, { ...slack.people.get(GUEST), is_admin: true, is_owner: true });
    slack.channels.set(STAFF, { ...slack.channels.get(STAFF), creator: COLLEAGUE });
    await start();
    const asked = [
      [BOB, GENERAL],
      [GUEST, GENERAL],
      [COLLEAGUE, STAFF],
      [COLLEAGUE, GENERAL],
    ] as const;
    for (const [index, [user_id, channel_id]] of asked.entries()) {
      slack.slash('status', { user_id, channel_id });
      await answered(index + 1);
    }
    expect(bot.sink.commands.map(({ rights }) => rights)).toEqual(['moderator', 'member', 'moderator', 'member']);
  });

  test('have no rights of a role that is lost', async () => {
    let now = Date.now();
    bot = openChannel(slack, { table: { sockets: 1 }, clock: { ...createSystemClock(), now: () => now } });
    await bot.channel.start(bot.sink);
    slack.slash('status');
    await answered();
    slack.people.set(ADA, { ...slack.people.get(ADA), is_admin: false });
    now += 61_000;
    slack.slash('status');
    await answered(2);
    expect(bot.sink.commands.map(({ rights }) => rights)).toEqual(['moderator', 'member']);
  });

  test('who runs the bot is named in the settings', async () => {
    await start({ operators: [BOB] });
    slack.slash('status', { user_id: BOB });
    await answered();
    expect(bot.sink.commands[0]?.rights).toBe('operator');
  });

  test('read mentions and escapes in what was typed', async () => {
    await start();
    slack.slash(
      `memory remember <@${ADA}|ada.b> & <@U0GONE|joe> like R&amp;D, <https://x.org|x.org> &lt;3 <b> in <#${GENERAL}|g>`,
    );
    await answered();
    slack.slash(`memory list about=<@${BOB}|bob.s>`);
    await answered(2);
    expect(bot.sink.commands).toMatchObject([
      {
        options: { text: '@Ada & @joe like R&D, [x.org](https://x.org) <3 <b> in #general' },
        mentions: [
          { id: ADA, name: 'Ada' },
          { id: 'U0GONE', name: 'joe' },
        ],
      },
      { options: { about: '@Bob' }, mentions: [{ id: BOB, name: 'Bob' }] },
    ]);
  });

  test('a mistyped one is explained, and nothing runs', async () => {
    await start();
    const envelope = slack.slash('memroy list');
    await until('it is acknowledged', () => slack.acks.includes(envelope));
    expect(JSON.stringify(await answered())).toContain('memory');
    expect(bot.sink.commands).toEqual([]);
  });

  test('people whom the bot does not serve learn so', async () => {
    await start({ users: { deny: [BOB] }, outsiders: false });
    slack.slash('status', { user_id: BOB });
    slack.slash('status', { user_id: GUEST });
    slack.slash(`memory edit ${ID}`, { user_id: BOB });
    await answered(3);
    // Slack does not describe the person.
    slack.slash('status', { user_id: 'U0UNKNOWN', team_id: OTHER_TEAM });
    await answered(4);
    expect(JSON.stringify(slack.answers).match(/does not serve you/g)).toHaveLength(8);
    expect(bot.sink.commands).toEqual([]);
  });

  test('members of an organization are served by its workspace', async () => {
    await start({ outsiders: false });
    for (const user_id of [NEIGHBOUR, COLLEAGUE]) slack.slash('status', { user_id });
    const answers = JSON.stringify([await answered(1), await answered(2)]);
    expect(answers.match(/does not serve you/g)).toHaveLength(2);
    expect(bot.sink.commands.map(({ author }) => author.name)).toEqual(['mia']);
    slack.emit({ type: 'app_home_opened', user: NEIGHBOUR, channel: DIRECT, tab: 'home' });
    slack.emit({ type: 'app_home_opened', user: COLLEAGUE, channel: DIRECT, tab: 'home' });
    await until('the home', () => slack.callsOf('views.publish').length > 0);
    expect(slack.callsOf('views.publish').map(({ user_id }) => user_id)).toEqual([COLLEAGUE]);
  });

  // Shows: R28
  test('clicks, message menus and the App Home are too', async () => {
    await start({ users: { deny: [BOB] } });
    const user = { id: BOB, team_id: TEAM };
    const command = { path: ['memory', 'list'], options: {} };
    const secret = createHash('sha256').update(`buttons ${BOT_TOKEN}`).digest('hex');
    press(createButtons(secret).write({ kind: 'run', ownerId: BOB, command }), { user });
    const message = { type: 'message', ts: '1700000000.000100', user: ADA, text: 'The key is under the mat' };
    const menu = { type: 'message_action', user, channel: { id: GENERAL }, message };
    slack.interact({ ...menu, callback_id: 'remember_message' });
    slack.interact({ ...menu, callback_id: 'forget_message' });
    slack.interact({ ...menu, callback_id: 'why_message' });
    submit(await opened(), {}, BOB);
    await answered(4);
    expect(JSON.stringify(slack.answers).match(/"text":"The bot does not serve you here/g)).toHaveLength(4);
    slack.emit({ type: 'app_home_opened', user: BOB, channel: DIRECT, tab: 'home' });
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' });
    await until('a home is published', () => slack.callsOf('views.publish').length > 0);
    expect(slack.callsOf('views.publish').map(({ user_id: id }) => id)).toEqual([ADA]);
    expect([bot.sink.removals, bot.sink.commands.map(({ author }) => author.id)]).toEqual([[], [ADA]]);
  });

  test('in direct messages mean the newest thread', async () => {
    await start();
    slack.say(DIRECT, ADA, 'first');
    await until('the first arrives', () => bot.sink.messages.length === 1);
    const { ts } = slack.say(DIRECT, ADA, 'second');
    await until('the second arrives', () => bot.sink.messages.length === 2);
    slack.slash('status', { channel_id: DIRECT });
    await answered();
    expect(bot.sink.commands[0]).toMatchObject({ conversation: `slack:${TEAM}:${DIRECT}:${ts}`, audience: 'dm' });
  });

  test('are answered to all where meant so', async () => {
    await start();
    bot.sink.answer = () => ({ ...plain, ephemeral: false });
    slack.slash('compact');
    expect(await answered()).toMatchObject({ response_type: 'in_channel' });
  });

  test('reach the person where their address has expired', async () => {
    await start();
    slack.fail('response_url', { status: 404 });
    slack.slash('status', { user_id: BOB });
    expect(await answered()).toMatchObject({ channel: GENERAL, user: BOB, response_type: 'ephemeral' });
  });

  test('a file comes as a direct message', async () => {
    await start();
    bot.sink.answer = () => ({ ...plain, file: { name: 'memories.json', text: '[]' } });
    slack.slash('memory export');
    await until('it is sent', () => slack.uploads.length === 1);
    expect(slack.uploads).toEqual([{ name: 'memories.json', text: '[]', channel: DIRECT }]);
  });

  test.each([
    ['files.getUploadURLExternal', { error: 'missing_scope' }],
    ['files.completeUploadExternal', { error: 'file_uploads_disabled' }],
    ['conversations.open', { error: 'internal_error' }],
    ['conversations.open', { page: '{"ok":true}' }],
    ['upload', { status: 413 }],
  ] as const)('a file that fails at %s is not missed silently', async (method, failure) => {
    await start();
    bot.sink.answer = () => ({ ...plain, file: { name: '<!here>.json', text: '[]' } });
    slack.fail(method, failure, failure, failure, failure);
    slack.slash('memory export');
    await answered(2);
    expect(JSON.stringify(slack.answers[0])).toContain(plain.text);
    expect(JSON.stringify(slack.answers[1])).toContain('Slack did not accept the file &lt;!here&gt;.json');
    expect(slack.answers[1]).toMatchObject({ response_type: 'ephemeral' });
    expect(slack.uploads).toEqual([]);
  });

  test('a picture comes as one, with its description', async () => {
    await start();
    const picture = {
      name: 'context.png',
      mediaType: 'image/png',
      base64: 'UE5H',
      description: 'All in words.',
    } as const;
    bot.sink.answer = () => ({ ...plain, picture });
    slack.slash('context picture');
    await until('it is sent', () => slack.uploads.length === 1);
    expect(slack.uploads).toEqual([{ name: 'context.png', text: 'PNG', channel: DIRECT }]);
    expect(slack.callsOf('files.getUploadURLExternal')[0]).toMatchObject({ alt_text: 'All in words.' });
  });
});

describe('answers', () => {
  test('name commands in plain text as people type them', async () => {
    await start({ command_prefix: 'helper' });
    bot.sink.answer = () => list;
    slack.slash('memory list', { command: '/helper' });
    const text = String((await answered())['text']);
    expect(text).toContain('next: /helper memory list');
    expect(text).toContain(`Delete it: /helper memory strike ${ID}`);
  });

  test('show rows, pages and buttons, and ping nobody', async () => {
    await start();
    bot.sink.answer = () => list;
    slack.slash('memory list');
    const answer = await answered();
    expect(buttonsOf(answer).map(({ text }) => text)).toEqual([
      'Show',
      'Where it comes from',
      'Edit',
      'Pin',
      'Forget',
      'Next',
      'Delete it',
    ]);
    expect(JSON.stringify(answer['blocks'])).toContain('Ada drinks <tea>');
  });

  test('show an address in a field as a link', async () => {
    await start();
    const address = 'https://strata.example.org/c/slack%3AT1';
    const fields = [address, `see ${address}`, `${address}|evil`].map((value) => ({ name: 'Inspector', value }));
    bot.sink.answer = () => ({ ...plain, fields });
    slack.slash('status');
    const shown = JSON.stringify(await answered());
    expect(shown).toContain(`Inspector*\\n<${address}>"`);
    expect(shown.split(`<${address}`)).toHaveLength(2);
  });

  test('lead to the messages that they tell of', async () => {
    await start();
    const { ts } = slack.say(GENERAL, ADA, 'I drink tea');
    const reply = slack.say(GENERAL, ADA, 'green tea', { thread_ts: ts });
    await until('both arrive', () => bot.sink.messages.length === 2);
    const links = await Promise.all(bot.sink.messages.map((message) => bot.channel.linkTo(message)));
    const place = `${WORKSPACE_URL}archives/${GENERAL}`;
    const [first, second] = [ts, reply.ts].map((stamp) => stamp.replace('.', ''));
    expect(links).toEqual([`${place}/p${first}`, `${place}/p${second}?thread_ts=${ts}&cid=${GENERAL}`]);
    const conversation = `slack:${TEAM}:${GENERAL}` as ConversationKey;
    expect(await bot.channel.linkTo({ conversation, externalId: '1.000001' })).toBeNull();

    const cells = [['#1', 'Ada', 'https://evil.example/login', links[1] ?? '']];
    bot.sink.answer = () => ({ ...list, rows: { columns: ['#', 'WHO', 'WHAT', 'LINK'], cells } });
    slack.slash(`memory why ${ID}`);
    const blocks = JSON.stringify((await answered())['blocks']);
    expect(blocks).toContain(JSON.stringify({ type: 'link', url: links[1], text: 'open' }));
    expect(blocks).toContain(JSON.stringify({ type: 'link', url: 'https://evil.example/login' }));
  });

  // Shows: K
  test('pages replace the list; forms edit and confirm', async () => {
    await start();
    bot.sink.answer = ({ path }) => (path[1] === 'show' ? { ...plain, text: 'Ada drinks tea' } : list);
    slack.slash('memory list');
    const answer = await answered();
    press(sealedOf(answer, 'Next'));
    expect(await answered(2)).toMatchObject({ replace_original: true });
    expect(bot.sink.commands[1]).toMatchObject({ path: ['memory', 'list'], options: { page: '2' } });

    press(sealedOf(answer, 'Edit'));
    const form = await opened();
    expect(JSON.stringify(form)).toContain('"max_length":2000,"initial_value":"Ada drinks tea"');
    submit(form, { text: { text: { type: 'plain_text_input', value: 'Ada drinks coffee' } } });
    await answered(3);
    expect(bot.sink.commands.at(-1)).toMatchObject({
      path: ['memory', 'edit'],
      options: { id: ID, text: 'Ada drinks coffee' },
    });

    const before = bot.sink.commands.length;
    press(sealedOf(answer, 'Delete it'));
    const question = await until('the question', () => {
      const view = slack.callsOf('views.open').at(-1)?.['view'] as Record<string, unknown> | undefined;
      return JSON.stringify(view).includes('cannot be undone') && view;
    });
    expect(JSON.stringify(question)).toContain('/strata memory strike');
    expect(bot.sink.commands).toHaveLength(before);
    submit(question);
    await answered(4);
    expect(bot.sink.commands.at(-1)).toMatchObject({ path: ['memory', 'strike'], options: { id: ID } });
    expect(slack.callsOf('views.publish')).toEqual([]);
  });

  test('asks to confirm what a form has completed', async () => {
    const sink = recordSink();
    const reason = { ...option, name: 'reason', description: 'Why', required: true, inForm: true };
    const wipe = { name: 'wipe', description: 'Wipe it', otherwise: '', actions: [{ ...action, options: [reason] }] };
    bot = openChannel(slack, { table: { sockets: 1 }, sink: { ...sink, commandSpecs: [wipe] } });
    await bot.channel.start(bot.sink);
    slack.slash('wipe');
    submit(await opened(), { reason: { reason: { value: 'too old' } } });
    const question = await until('the question', () => {
      const view = slack.callsOf('views.open').at(-1)?.['view'] as Record<string, unknown> | undefined;
      return JSON.stringify(view).includes('cannot be undone') && view;
    });
    expect(JSON.stringify(question)).toContain('/strata wipe too old');
    expect(sink.commands).toEqual([]);
    submit(question);
    await answered();
    expect(sink.commands).toMatchObject([{ path: ['wipe'], options: { reason: 'too old' } }]);
  });

  test('says that a form has no text', async () => {
    await start();
    slack.slash(`memory edit ${ID}`);
    submit(await opened(), { text: { text: { value: ' \n' } } });
    expect(JSON.stringify(await answered())).toContain('The form contained no text.');
    expect(bot.sink.commands.map(({ path }) => path[1])).toEqual(['show']);
  });

  test('says that a form of an earlier token is void', async () => {
    await start();
    slack.slash(`memory edit ${ID}`);
    const form = await opened();
    const kept = JSON.parse(String(form['private_metadata'])) as Fields;
    const value = { text: { text: { value: 'Ada drinks coffee' } } };
    submit({ ...form, private_metadata: JSON.stringify({ ...kept, sealed: `${kept['sealed']}x` }) }, value);
    expect(JSON.stringify(await answered())).toContain('This form is no longer valid.');
    expect(bot.sink.commands.map(({ path }) => path[1])).toEqual(['show']);
  });

  test("others' clicks, forged buttons and others' forms do nothing", async () => {
    await start();
    bot.sink.answer = () => list;
    slack.slash('memory list');
    const value = sealedOf(await answered(), 'Next');
    press(value, { user: { id: BOB, team_id: TEAM } });
    expect(JSON.stringify(await answered(2))).toContain('Only the person who asked');
    press(value.replace('memory', 'status'));
    expect(JSON.stringify(await answered(3))).toContain('older version');
    press(sealedOf(slack.answers[0] ?? {}, 'Delete it'));
    submit(await opened(), {}, BOB);
    slack.slash('status');
    await answered(4);
    expect(bot.sink.commands.map(({ path }) => path.join(' '))).toEqual(['memory list', 'status']);
  });

  test('answers a question in text when no form fits', async () => {
    await start();
    slack.slash(`memory strike ${'&<>x'.repeat(1_200)}`);
    await until('it is answered', () => slack.answers.length === 1);
    expect(JSON.stringify(slack.answers[0])).toContain(
      'too long for a confirmation. Use an id from /strata memory list',
    );
    expect(slack.callsOf('views.open')).toEqual([]);
  });

  test('fit the limits, whatever they hold', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 });
    const repeated = (most: number) => fc.tuple(part, fc.nat(most)).map(([one, count]) => one.repeat(count));
    const [short, long] = [repeated(60), repeated(900)];
    const action = fc.record({
      label: short.map((label) => `Do ${label}`),
      style: fc.constantFrom('plain', 'danger'),
      id: fc.oneof(fc.nat(40), fc.integer({ min: 1_800, max: 2_100 })).map((length) => 'v'.repeat(length)),
    });
    const cell = fc.oneof(short, long);
    const cells = fc.array(cell, { minLength: 1, maxLength: 4 });
    const id = fc.integer({ min: 1, max: 130 }).map((length) => 'v'.repeat(length));
    const any = fc.record({
      title: fc.oneof(
        fc.constant('Memory'),
        short.map((title) => `T${title}`),
      ),
      text: cell,
      fields: fc.array(fc.record({ name: short, value: cell }), { maxLength: 25 }),
      cells: fc.oneof(
        fc.array(cells, { maxLength: 8 }),
        fc.array(fc.tuple(id, short), { minLength: 50, maxLength: 60 }),
      ),
      actions: fc.array(action, { maxLength: 30 }),
    });
    const command = { path: ['memory', 'show'], options: {} };
    const { write } = createButtons('secret');
    fc.assert(
      fc.property(any, ({ cells: all, actions, ...details }) => {
        const rows = { columns: ['ID', 'B'], cells: all };
        const page = { number: 1, of: 2, previous: null, next: command };
        const made = actions.map(({ id, ...one }) => ({ ...one, command: { ...command, options: { id } } }));
        const sign: SignButton = (button) => write({ ...button, ownerId: ADA });
        const how = { sign, specs: builtInSpecs, prefix: '/strata ' };
        const { text, blocks, files } = toMessage({ ...plain, ...details, rows, page, actions: made }, how);
        expect(faultsOf('chat.postEphemeral', { text, blocks })).toEqual([]);
        const written = JSON.stringify(blocks);
        expect(written).not.toMatch(/\\ud[89a-f]/i);
        expect(written.split('"mrkdwn"').length).toBe(written.split('"verbatim":true').length);
        if (all.length >= 50) expect(files.map(({ name }) => name)).toEqual(['whole.txt']);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  test('fit where each of their parts is too long', () => {
    const [long, how] = ['x'.repeat(5000), { sign: () => 'v', specs: builtInSpecs, prefix: '/strata ' }];
    const fields = Array.from({ length: 30 }, () => ({ name: long, value: long }));
    const cells = fields.map(() => [ID, long]);
    for (const [length, count] of [
      [10, 30],
      [1500, 1],
      [1890, 1],
      [1960, 1],
    ] as const) {
      const command = { path: ['memory', 'show'], options: { id: 'v'.repeat(length) } };
      const actions = fields.slice(0, count).map(({ name: label }) => ({ label, style: 'plain', command }) as const);
      const sign: SignButton = (button) => createButtons('secret').write({ ...button, ownerId: ADA });
      const rows = { columns: ['ID', 'WHAT'], cells: [...cells, ...cells] };
      const reply = { ...plain, title: long, text: long, fields, actions, rows };
      const { text, blocks, files } = toMessage(reply, { ...how, sign });
      expect(faultsOf('chat.postEphemeral', { text, blocks })).toEqual([]);
      expect(files.map(({ name }) => name)).toEqual(['whole.txt']);
    }
    const [field = { name: '', value: '' }] = fields;
    expect(toMessage({ ...plain, fields: [field] }, how).files).toHaveLength(1);
    expect(toMessage({ ...plain, rows: { columns: ['ID'], cells } }, how).files).toEqual([]);
    expect(toMessage({ ...plain, rows: { columns: ['ID'], cells: [...cells, ...cells] } }, how).files).toHaveLength(1);
  });

  test('leave out buttons and menus whose values are too long', () => {
    const command = { path: ['status'], options: {} };
    const actions = Array.from(
      { length: 2 },
      (_, index) => ({ label: `Do ${index}`, style: 'plain', command }) as const,
    );
    const rows = { columns: ['ID', 'WHAT'], cells: [[ID, 'tea']] };
    const shown = (length: number) => {
      const how = { sign: () => 'v'.repeat(length), specs: builtInSpecs, prefix: '/strata ' };
      const { blocks } = toMessage({ ...plain, title: 'Memory', text: '', rows, actions }, how);
      const menus = blocks.filter((block) => 'accessory' in block).length;
      return { menus, buttons: blocks.filter(({ type }) => type === 'actions').length };
    };
    expect(shown(150)).toEqual({ menus: 1, buttons: 1 });
    expect(shown(151)).toEqual({ menus: 0, buttons: 1 });
    expect(shown(1900)).toEqual({ menus: 0, buttons: 1 });
    expect(shown(1901)).toEqual({ menus: 0, buttons: 0 });
  });

  test('show the cells of rows, and menus of memories', () => {
    const how = { sign: () => 'v', specs: builtInSpecs, prefix: '/strata ' };
    const rows = {
      columns: ['ID', 'WHAT', 'LINK'],
      cells: [
        ['', 'a<b', ''],
        ['m`1', 'two\nlines', 'x'],
      ],
    };
    const command = { path: ['status'], options: {} };
    const actions = [{ label: 'Drop it', style: 'danger', command } as const];
    const shown = { ...plain, title: 'Summaries', text: '', rows, actions };
    const [, names, first, second, buttons] = toMessage(shown, how).blocks;
    expect(names).toEqual({ type: 'context', elements: [{ type: 'plain_text', text: 'ID · WHAT · LINK' }] });
    const line = (...elements: readonly object[]) => {
      return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
    };
    const code = (text: string) => ({ type: 'text', text, style: { code: true } });
    const text = (words: string) => ({ type: 'text', text: words });
    expect(first).toEqual(line(code('–'), text(' · a<b')));
    expect(second).toEqual(line(code('m`1'), text(' · two lines'), text(' · x')));
    expect(buttons).toMatchObject({ type: 'actions', elements: [{ style: 'danger' }] });
  });

  test('show texts and rows as they were written', () => {
    const written = '> *all* _of_ ~it~ `is` <@U1> & ```plain```';
    const how = { sign: () => 'v', specs: builtInSpecs, prefix: '/strata ' };
    for (const [title, row] of [
      ['Memory', `${ID} · ${written}`],
      ['Transcript', ` · ${written}`],
    ] as const) {
      const rows = { columns: ['ID', 'WHAT'], cells: [[ID, written]] };
      const { blocks } = toMessage({ ...plain, title, text: written, rows }, how);
      const texts: unknown[] = [];
      JSON.stringify(blocks, (_, part: unknown) => {
        if (typeof part === 'object' && part !== null && 'type' in part && part.type === 'mrkdwn') texts.push(part);
        return part;
      });
      expect(texts).toEqual([]);
      expect(JSON.stringify(blocks)).toContain(JSON.stringify({ type: 'plain_text', text: written }));
      expect(JSON.stringify(blocks)).toContain(JSON.stringify(row));
    }
  });

  test('a form of long texts fits, with all its fields', async () => {
    const options = z.object({
      id: z.string().describe('Which one'),
      topic: z.string().describe('What it is about'),
      color: z.enum(['red', 'x'.repeat(100)]).describe('Its color'),
      reason: z.string().describe('Why'),
    });
    const base = { description: 'x', run: () => 'x' };
    const name = `poll ${'edit'.repeat(8)}`;
    const edit = defineCommand({ ...base, name, options, form: ['topic', 'color', 'reason'] });
    const show = defineCommand({ ...base, name: 'poll show', options: options.pick({ id: true }) });
    const sink = { ...recordSink(), commandSpecs: allCommands([edit, show]).map(({ spec }) => spec) };
    const ran: unknown[] = [];
    sink.command = async ({ path, options: given }) => {
      if (path[1] === 'show') return { ...plain, text: `${'x'.repeat(2999)}😀` };
      ran.push(given);
      return plain;
    };
    bot = openChannel(slack, { table: { sockets: 1 }, sink });
    await bot.channel.start(sink);
    slack.slash(`${name} p1`);
    const form = await opened();
    expect(form['blocks']).toMatchObject([
      { element: { action_id: 'topic', multiline: false, initial_value: `${'x'.repeat(2999)}\ufffd` } },
      { element: { action_id: 'color', type: 'static_select' } },
      { element: { action_id: 'reason', multiline: true } },
    ]);
    expect(JSON.stringify(form).match(/initial_value/g)).toHaveLength(1);
    submit(form, {
      topic: { topic: { value: 'Tea' } },
      color: { color: { type: 'static_select', selected_option: { value: 'red' } } },
      reason: { reason: { value: 'Because' } },
    });
    await answered();
    expect(ran).toEqual([{ id: 'p1', topic: 'Tea', color: 'red', reason: 'Because' }]);
  });

  test('texts that grow by escaping stay within the limits', async () => {
    await start();
    const text = '<&>'.repeat(1_500);
    const fields = [{ name: text, value: text }];
    const rows = { columns: ['ID', 'Text'], cells: [['01', text]] };
    bot.sink.answer = () => ({ ...plain, title: 'Memory', text, fields, rows });
    slack.slash('memory list');
    await until('it is answered', () => slack.answers.length === 1);
  });

  test('a form is read although it has other fields', async () => {
    await start();
    bot.sink.answer = () => list;
    slack.slash('memory list');
    press(sealedOf(await answered(), 'Edit'));
    const odd = { more: { a: null, b: { value: 7, selected_option: 'x' } }, other: null };
    submit(await opened(), { ...odd, text: { a: null, text: { value: 'Ada drinks coffee' } } });
    await answered(2);
    expect(bot.sink.commands.at(-1)).toMatchObject({
      path: ['memory', 'edit'],
      options: { text: 'Ada drinks coffee' },
    });
  });

  test('a form does not offer an error as the wording', async () => {
    await start();
    bot.sink.answer = () => ({ ...plain, text: 'There is no memory.', tone: 'error' });
    slack.slash(`memory edit ${ID}`);
    const form = JSON.stringify(await opened());
    expect(form).toContain('plain_text_input');
    expect(form).not.toContain('There is no memory.');
  });

  test('answers in text when Slack opens no form', async () => {
    await start();
    bot.sink.answer = () => list;
    slack.slash('memory list');
    const value = sealedOf(await answered(), 'Delete it');
    slack.fail('views.open', { error: 'expired_trigger_id' });
    press(value);
    expect(JSON.stringify(await answered(2))).toContain('in time');
  });

  test('buttons work after a restart, only as made', () => {
    const button = { kind: 'run', ownerId: ADA, command: { path: ['memory', 'show'], options: { id: ID } } } as const;
    const value = createButtons('secret').write(button);
    expect(value.length).toBeLessThanOrEqual(75);
    expect(createButtons('secret').read(value)).toEqual(button);
    expect(createButtons('other').read(value)).toBeNull();
    expect(createButtons('secret').read('nonsense')).toBeNull();
  });
});

describe('message shortcuts', () => {
  const shortcut = (callback_id: string, message: Fields, { user = ADA, channel = GENERAL } = {}) =>
    slack.interact({
      type: 'message_action',
      callback_id,
      user: { id: user, team_id: TEAM },
      channel: { id: channel },
      message: { type: 'message', ts: '1700000000.000100', ...message },
    });

  test('"Remember this" stores the text and its author', async () => {
    await start();
    shortcut('remember_message', { user: BOB, text: 'The key is under the mat' });
    await answered();
    expect(bot.sink.commands[0]).toMatchObject({
      path: ['memory', 'remember'],
      options: { text: 'Bob said: The key is under the mat' },
    });
    shortcut('remember_message', { bot_id: BOT_ID, text: '' });
    expect(JSON.stringify(await answered(2))).toContain('no text');
    shortcut('remember_message', { user: ADA, text: `<@${BOB}> has the key` });
    await answered(3);
    expect(bot.sink.commands[1]?.options).toEqual({ text: '@Bob has the key' });
  });

  test('"Remember this" reads the attachments of apps, not shared messages', async () => {
    await start();
    const shared = { is_share: true, text: 'said elsewhere', ts: '1700000000.000050', channel_id: STAFF };
    shortcut('remember_message', { user: BOB, text: '', attachments: [shared] });
    expect(JSON.stringify(await answered())).toContain('no text');
    shortcut('remember_message', { user: BOB, text: '', attachments: [{ title: 'Build', text: 'failed on main' }] });
    await answered(2);
    expect(bot.sink.commands[0]?.options['text']).toContain('failed on main');
  });

  test('"Why this reply?" answers the person who asked', async () => {
    await start();
    const [root, ts] = ['1700000000.000100', '1700000000.000200'];
    shortcut('why_message', { bot_id: BOT_ID, text: 'You drink tea.', ts, thread_ts: root }, { user: BOB });
    expect(await answered()).toMatchObject({ response_type: 'ephemeral', thread_ts: root });
    expect(bot.sink.commands[0]).toMatchObject({
      conversation: `slack:${TEAM}:${GENERAL}:${root}`,
      author: { id: BOB },
      rights: 'member',
      path: ['why', 'show'],
      options: { message: ts },
    });
  });

  test('the button "Why?" of a reply answers whoever pressed it', async () => {
    await start();
    const [root, ts] = ['1700000000.000100', '1700000000.000200'];
    slack.interact({
      type: 'block_actions',
      user: { id: BOB, team_id: TEAM },
      channel: { id: GENERAL },
      container: { type: 'message', message_ts: ts, thread_ts: root },
      message: { type: 'message', bot_id: BOT_ID, text: 'You drink tea.', ts, thread_ts: root },
      actions: [{ type: 'button', action_id: 'why_reply', block_id: 'x' }],
    });
    expect(await answered()).toMatchObject({ response_type: 'ephemeral', replace_original: false, thread_ts: root });
    expect(bot.sink.commands).toMatchObject([
      { conversation: `slack:${TEAM}:${GENERAL}:${root}`, author: { id: BOB }, options: { message: ts } },
    ]);
  });

  test('are all in the manifest', () => {
    const { shortcuts } = manifestOf(settingsFor(slack), builtInSpecs).features;
    expect(shortcuts.map(({ type, callback_id: id }) => [type, id])).toEqual(
      ['remember_message', 'forget_message', 'why_message'].map((id) => ['message', id]),
    );
    for (const { name, description } of shortcuts) {
      expect(name.length).toBeLessThanOrEqual(24);
      expect(description.length).toBeLessThanOrEqual(150);
    }
  });

  test('"Forget this" asks and removes; members only their own', async () => {
    await start();
    shortcut('forget_message', { user: BOB, text: 'The key is under the mat' });
    submit(await opened());
    await answered();
    expect(bot.sink.removals).toContainEqual({
      conversation: `slack:${TEAM}:${GENERAL}`,
      externalIds: ['1700000000.000100'],
    });
    const taken = bot.sink.removals.length;
    shortcut('forget_message', { user: ADA, text: 'mine' }, { user: BOB });
    const second = await until(
      'the second question',
      () => slack.callsOf('views.open')[1]?.['view'] as Record<string, unknown>,
    );
    submit(second, {}, BOB);
    expect(JSON.stringify(await answered(2))).toContain('Only the author');
    expect(bot.sink.removals).toHaveLength(taken);
  });

  test('"Forget this" serves everybody in their direct message', async () => {
    await start();
    const message = { bot_id: BOT_ID, user: BOT, text: 'You told me a secret' };
    shortcut('forget_message', message, { user: BOB, channel: DIRECT });
    submit(await opened(), {}, BOB);
    expect(JSON.stringify(await answered())).toContain('has forgotten this message');
    expect(bot.sink.removals.length).toBeGreaterThan(0);
  });

  test('"Forget this" finds a message in its thread', async () => {
    await start();
    const thread_ts = '1700000000.000050';
    shortcut('forget_message', { user: ADA, text: 'mine', thread_ts });
    submit(await opened());
    await answered();
    expect(bot.sink.removals.map(({ conversation }) => conversation)).toContain(
      `slack:${TEAM}:${GENERAL}:${thread_ts}`,
    );
  });

  test('"Forget this" removes what a channel\'s first id has', async () => {
    await start();
    slack.renumber(GENERAL, 'C0MOVED01');
    await until('it is known', () => bot.log.lines.find(({ message }) => message.includes('a new id')));
    shortcut('forget_message', { user: ADA, text: 'mine' }, { channel: 'C0MOVED01' });
    submit(await opened());
    await answered();
    const conversations = bot.sink.removals.map(({ conversation }) => conversation);
    expect(conversations).toContain(`slack:${TEAM}:${GENERAL}`);
  });
});

describe('the App Home', () => {
  const home = () =>
    until(
      'it is published',
      () => slack.callsOf('views.publish').at(-1)?.['view'] as Record<string, unknown> | undefined,
    );
  const pressHome = (value: string) =>
    slack.interact({
      type: 'block_actions',
      response_url: '',
      container: { type: 'view' },
      view: { id: 'V0', type: 'home' },
      actions: [{ type: 'button', action_id: 'button 0', block_id: 'x', value }],
    });

  const formWith = (...words: readonly string[]) =>
    until('a form', () => {
      const last = slack.callsOf('views.open').at(-1)?.['view'] as Record<string, unknown>;
      return words.every((word) => JSON.stringify(last).includes(word)) && last;
    });

  test('manages memories: list, search, why, edit, forget, export', async () => {
    await start();
    const file = { name: 'copy.json', text: '[]' };
    bot.sink.answer = ({ path }) =>
      path[1] === 'list' ? list : { ...plain, title: path.join(' '), file: path[1] === 'export' ? file : null };
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' });
    const view = await home();
    expect(bot.sink.commands[0]).toMatchObject({
      conversation: `slack:${TEAM}:${DIRECT}`,
      audience: 'dm',
      rights: 'member',
      path: ['memory', 'list'],
    });
    const labels = buttonsOf(view).map(({ text }) => text);
    for (const label of ['Search', 'Take a copy', 'Where it comes from', 'Edit', 'Forget'])
      expect(labels).toContain(label);

    pressHome(sealedOf(view, 'Where it comes from'));
    expect(JSON.stringify(await opened())).toContain('memory why');
    pressHome(sealedOf(view, 'Next'));
    await until('the next page', () => bot.sink.commands.some(({ options }) => options['page'] === '2'));
    pressHome(sealedOf(view, 'Search'));
    const form = await formWith('plain_text_input');
    expect(form).toMatchObject({ submit: { text: 'Search' } });
    const before = slack.callsOf('views.publish').length;
    const forms = slack.callsOf('views.open').length;
    submit(form, { query: { query: { value: 'tea' } } });
    await until('what is found takes the place of the list', () => slack.callsOf('views.publish').length > before);
    expect(bot.sink.commands.at(-1)).toMatchObject({ path: ['memory', 'search'], options: { query: 'tea' } });
    expect(slack.callsOf('views.open')).toHaveLength(forms);
    pressHome(sealedOf(view, 'All'));
    await until('all are listed again', () => slack.callsOf('views.publish').length > before + 1);
    expect(bot.sink.commands.at(-1)).toMatchObject({ path: ['memory', 'list'] });

    pressHome(sealedOf(view, 'Edit'));
    const edit = await formWith('plain_text_input', '"title":{"type":"plain_text","text":"/strata memory edit"}');
    expect(edit).toMatchObject({ submit: { text: 'Save' } });
    submit(edit, { text: { text: { value: 'Ada drinks coffee' } } });
    await until('it is corrected', () => bot.sink.commands.some(({ path }) => path[1] === 'edit'));
    pressHome(sealedOf(view, 'Take a copy'));
    await until('it is sent', () => slack.uploads.some(({ name }) => name === 'copy.json'));

    const published = slack.callsOf('views.publish').length;
    pressHome(sealedOf(view, 'Forget everything about me'));
    await until('it is forgotten', () => bot.sink.commands.some(({ path }) => path[1] === 'forget'));
    await until('the home is shown again', () => slack.callsOf('views.publish').length > published);
  });

  test('shows answers in dialogs, or in messages if too late', async () => {
    await start();
    const why: CommandReply = { ...list, title: 'Where it all comes from😀', actions: [] };
    bot.sink.answer = ({ path }) => (path[1] === 'why' ? why : list);
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' });
    const view = await home();
    pressHome(sealedOf(view, 'Where it comes from'));
    const dialog = await opened();
    expect(dialog).toMatchObject({ title: { text: 'Where it all comes from\ufffd' }, close: { text: 'Close' } });
    expect(JSON.stringify(dialog)).not.toContain('"actions"');
    for (const label of ['Where it comes from', 'Edit']) {
      slack.fail('views.open', { error: 'expired_trigger_id' });
      const before = slack.answers.length;
      pressHome(sealedOf(view, label));
      const told = await answered(before + 1);
      expect(told).toMatchObject({ channel: DIRECT, user: ADA, response_type: 'ephemeral' });
      expect(JSON.stringify(told)).toContain(label === 'Edit' ? 'in time' : 'Ada drinks');
    }
  });

  test.each(['edit', 'pin', 'unpin', 'approve', 'reject', 'forget', 'remember'])(
    'is shown again after %s',
    async (verb) => {
      await start();
      const secret = createHash('sha256').update(`buttons ${BOT_TOKEN}`).digest('hex');
      const command = { path: ['memory', verb], options: { id: ID, text: 'Ada drinks tea' } };
      pressHome(createButtons(secret).write({ kind: 'confirm', ownerId: ADA, command }));
      await until('it is shown', () => slack.callsOf('views.publish').length > 0);
      expect(bot.sink.commands.map(({ path }) => path[1])).toEqual([verb, 'list']);
    },
  );

  test('stays as it is while it asks before forgetting', async () => {
    await start();
    const command = { path: ['memory', 'forget'], options: { id: ID, confirm: 'yes' } };
    const label = 'Delete all of them for good';
    const question: CommandReply = { ...plain, title: label, actions: [{ label, command, style: 'danger' }] };
    bot.sink.answer = ({ path, options }) =>
      path[1] === 'list' ? list : options['confirm'] === undefined ? question : plain;
    slack.emit({ type: 'app_home_opened', user: ADA, channel: DIRECT, tab: 'home' });
    pressHome(sealedOf(await home(), 'Forget'));
    submit(await opened());
    await until('the home is shown again', () => slack.callsOf('views.publish').length > 1);
    await bot.channel.stop();
    expect(bot.sink.commands.map(({ path }) => path[1])).toEqual(['list', 'forget', 'forget', 'list']);
  });
});
