import { setTimeout as delay } from 'node:timers/promises';
import { ButtonStyle, TextInputStyle } from 'discord.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createButtons } from '../../../adapters/channels/discord/commands/buttons.ts';
import {
  commandsJson,
  FORGET_MENU,
  REMEMBER_MENU,
  WHY_MENU,
} from '../../../adapters/channels/discord/commands/command-json.ts';
import { bodyOf, toMessage } from '../../../adapters/channels/discord/commands/render.ts';
import { keyOf } from '../../../adapters/channels/discord/places/place.ts';
import {
  builtInSpecs,
  type CommandReply,
  type ConversationKey,
  defineCommand,
  errorReply,
} from '../../../src/adapter-kit.ts';
import { allCommands } from '../../../src/commands/custom/custom-commands.ts';
import { createSystemClock, createSystemRandom } from '../../../src/util/time/clock.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import {
  ADA,
  APPLICATION,
  BOB,
  BOT,
  DIRECT,
  type DiscordDouble,
  GENERAL,
  GUILD,
  HISTORY,
  OTHER_BOT,
  OWNER,
  startDiscord,
  VIEW,
} from '../../fixtures/discord/double.ts';
import { withChannel } from '../../fixtures/discord/each-test.ts';
import { createState, type OpenOptions, openChannel, plain, recordSink, until } from '../../fixtures/discord/kit.ts';
import { faultsOfAnswer } from '../../fixtures/discord/limits.ts';
import { message } from '../../fixtures/discord/payloads.ts';

type Json = Record<string, unknown>;
const memoryId = '01k0aaaaaaaaaaaaaaaaaaaaaa';

describe('the commands as registered with Discord', () => {
  const json = commandsJson(builtInSpecs, {
    de: { memory: 'Erinnerungen', 'memory list': 'Zeigt sie', 'memory list page': 'Seite' },
  });
  const named = (name: string) =>
    json.find((command) => command.name === name) as unknown as Json & { options: Json[] };
  const sub = (name: string, action: string) =>
    named(name).options.find((option) => option['name'] === action) as Json & { options: Json[] };

  test('are all registered within the limits, with the message menus', () => {
    const menus = [REMEMBER_MENU, FORGET_MENU, WHY_MENU];
    expect(json.map(({ name }) => name)).toEqual([...builtInSpecs.map(({ name }) => name), ...menus]);
    expect(JSON.stringify(json).length).toBeLessThan(30_000);
    for (const { name, actions } of builtInSpecs) {
      expect(name).toMatch(/^[a-z]{1,32}$/);
      expect(actions.length).toBeLessThanOrEqual(25);
      for (const action of actions) expect(action.options.length).toBeLessThanOrEqual(25);
    }
    const long = [...JSON.stringify(json).matchAll(/"description":"([^"]*)"/g)].filter(
      ([, text = '']) => text.length > 100 || text === '',
    );
    expect(long).toEqual([]);
  });

  test('have sub-commands, kinds of options, choices and completion', () => {
    expect(sub('memory', 'list')).toMatchObject({ type: 1 });
    expect(sub('memory', 'list').options.find(({ name }) => name === 'page')).toMatchObject({
      type: 4,
      min_value: 1,
      required: false,
    });
    expect(sub('memory', 'list').options.find(({ name }) => name === 'kind')).toHaveProperty('choices');
    expect(sub('memory', 'why').options[0]).toMatchObject({ type: 3, required: true, autocomplete: true });
    expect(named('compact').options[0]).toMatchObject({ type: 3, name: 'instruction' });
    expect(named('reset').options).toEqual([]);
    expect(named('memory')).toMatchObject({ contexts: [0, 1], integration_types: [0] });
  });

  test('have required options first, with their limits and descriptions', () => {
    const options = z.object({
      topic: z.string().describe('What it is about'),
      note: z.string().max(500).optional().describe('Why'),
      days: z.int().min(2).max(30).optional().describe('How long'),
      place: z.string().describe('Where'),
      seats: z.int().describe('How many'),
    });
    const form = ['topic'] as const;
    const book = defineCommand({ name: 'book', description: 'Books', options, form, run: () => 'x' });
    const list = defineCommand({ name: 'room list', description: 'Lists', options, form, run: () => 'x' });
    const specs = allCommands([book, list]).map(({ spec }) => spec);
    const made = commandsJson(specs, { de: { 'book days': 'Wie lange', 'room list days': 'Dauer' } });
    const optionsOf = (name: string) => made.find((command) => command.name === name) as unknown as { options: Json[] };
    const booked = optionsOf('book').options;
    expect(booked.map(({ name, required }) => [name, required])).toEqual([
      ['place', true],
      ['seats', true],
      ['topic', false],
      ['note', false],
      ['days', false],
    ]);
    expect(booked.map(({ max_length: most }) => most)).toEqual([undefined, undefined, undefined, 500, undefined]);
    expect(booked.find(({ name }) => name === 'days')).toMatchObject({
      min_value: 2,
      max_value: 30,
      description_localizations: { de: 'Wie lange' },
    });
    const seats = booked.find(({ name }) => name === 'seats');
    for (const limit of ['min_value', 'max_value', 'description_localizations'])
      expect(seats).not.toHaveProperty(limit);
    const listed = optionsOf('room').options[0]?.['options'] as Json[];
    expect(listed.find(({ name }) => name === 'days')).toMatchObject({ description_localizations: { de: 'Dauer' } });
  });

  test('leave the new wording of a memory to a form', () => {
    expect(sub('memory', 'edit').options.map(({ name, required }) => [name, required])).toEqual([
      ['id', true],
      ['text', false],
    ]);
    expect(sub('memory', 'search').options[0]).toMatchObject({ name: 'query', required: true });
  });

  test('can be described in other languages', () => {
    expect(named('memory')['description_localizations']).toEqual({ de: 'Erinnerungen' });
    expect(sub('memory', 'list')['description_localizations']).toEqual({ de: 'Zeigt sie' });
    expect(sub('memory', 'list').options.find(({ name }) => name === 'page')).toMatchObject({
      description_localizations: { de: 'Seite' },
    });
    expect(named('status')).not.toHaveProperty('description_localizations');
  });
});

describe('a reply as a message', () => {
  const reply = (details: Partial<CommandReply>): CommandReply => ({ ...plain, ...details });

  test('fits Discord’s limits; cut text is attached as a file', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 });
    const repeated = (most: number) => fc.tuple(part, fc.nat(most)).map(([one, count]) => one.repeat(count));
    const [short, text] = [repeated(60), repeated(1500)];
    const field = fc.record({ name: short, value: fc.oneof(short, text) });
    const action = fc.record({ label: short.map((label) => `Do ${label}`), style: fc.constant('plain' as const) });
    const any = fc.record({
      title: short.map((title) => `T${title}`),
      text: fc.oneof(text, short),
      fields: fc.array(field, { maxLength: 30 }),
      cells: fc.array(fc.array(fc.oneof(short, text), { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      actions: fc.array(action, { maxLength: 30 }),
    });
    const command = { path: ['memory', 'list'], options: {} };
    fc.assert(
      fc.property(any, ({ cells, actions, ...details }) => {
        const rows = { columns: ['A', 'B'], cells };
        const page = { number: 1, of: 2_000_000, previous: null, next: command };
        const all = actions.map((one) => ({ ...one, command }));
        const { embed, buttons, files } = toMessage(reply({ ...details, rows, page, actions: all }), builtInSpecs);
        const sealed = buttons.map((button) => ({ button, customId: 'x' }));
        expect(faultsOfAnswer(4, bodyOf({ embed }, sealed))).toEqual([]);
        const isCut = embed.fields.length < details.fields.length || embed.description?.endsWith('…') === true;
        if (isCut) expect(files.map(({ name }) => name)).toContain('whole.txt');
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  test('fits where each of its parts is too long', () => {
    const many = (name: number, value: number) =>
      Array.from({ length: 30 }, () => ({ name: 'n'.repeat(name), value: 'v'.repeat(value) }));
    const [long, command] = ['x'.repeat(5000), { path: ['status'], options: {} }];
    const actions = many(100, 0).map(({ name: label }) => ({ label, style: 'plain', command }) as const);
    for (const fields of [many(1, 1), many(100, 1), many(300, 1), many(1, 1100)]) {
      for (const text of ['', long]) {
        const { embed, buttons } = toMessage(
          reply({ title: `${'x'.repeat(254)}😀${long}`, text, fields, actions }),
          builtInSpecs,
        );
        const sealed = buttons.map((button) => ({ button, customId: 'x' }));
        expect(faultsOfAnswer(4, bodyOf({ embed }, sealed))).toEqual([]);
      }
    }
  });

  test('attaches the whole of a long list or text', () => {
    const fields = Array.from({ length: 30 }, (_, index) => ({ name: `n${index}`, value: 'x' }));
    const long = 'words and words '.repeat(400);
    const crowded = fields.slice(0, 8).map(({ name }) => ({ name, value: long.slice(0, 1000) }));
    for (const details of [{ fields }, { text: long }, { fields: crowded }]) {
      const { embed, files } = toMessage(reply(details), []);
      expect(JSON.stringify(embed).length).toBeGreaterThan(500);
      expect(files.map(({ name }) => name)).toEqual(['whole.txt']);
    }
  });

  test('shows the cells of a row as they were written', () => {
    const cells = [
      ['', 'a*b', '', 'last'],
      ['m`1', 'two\nlines'],
    ];
    const { embed } = toMessage(reply({ text: '', rows: { columns: ['ID', 'WH_AT'], cells } }), []);
    expect(embed.description).toBe("-# ID · WH\\_AT\n`–` · a\\*b · last\n`m'1` · two lines");
  });

  test('shows the tone, dangers and titles as they are', () => {
    const tones = (['info', 'success', 'error'] as const).map((tone) => toMessage(reply({ tone }), []).embed.color);
    expect(new Set(tones).size).toBe(3);
    const command = { path: ['status'], options: {} };
    const actions = (['plain', 'danger'] as const).map((style) => ({ label: style, style, command }));
    const { embed, buttons } = toMessage(reply({ title: 'a*b', actions }), []);
    const sealed = buttons.map((button) => ({ button, customId: 'x' }));
    const shown = bodyOf({ embed }, sealed).components.flatMap(({ components }) => components);
    expect(shown.map(({ style }) => style)).toEqual([ButtonStyle.Secondary, ButtonStyle.Danger]);
    expect(embed.title).toBe('a\\*b');
  });

  test('attaches the whole text of a field that is cut', () => {
    const fields = [{ name: 'Cost', value: `${'x'.repeat(1500)} end` }];
    const { embed, files } = toMessage(reply({ fields }), []);
    expect(embed.fields[0]?.value).not.toContain('end');
    expect(files.map(({ name, data }) => [name, String(data).includes('x end')])).toEqual([['whole.txt', true]]);
    expect(toMessage(reply({ fields: [{ name: 'Cost', value: 'x' }] }), []).files).toEqual([]);
  });

  test('shows plain text without markup', () => {
    const { embed } = toMessage(reply({ text: '**not bold** [link](https://evil.example) `x`\n# no heading' }), []);
    expect(embed.description).toBe('\\*\\*not bold\\*\\* [link\\](https://evil.example) \\`x\\`\n\\# no heading');
  });

  test.each([
    ['[a\\](https://evil.example)', '[a\\\\\\](https://evil.example)'],
    ['[https://good.example](https://evil.example)', '[https://good.example\\](https://evil.example)'],
    ['[https://good.example\\](https://evil.example)', '[https://good.example\\\\\\](https://evil.example)'],
    ['\\*not italic\\*', '\\\\\\*not italic\\\\\\*'],
    ['https://example.org/a_b_c and a_b', 'https://example.org/a_b_c and a\\_b'],
    ['1. one\n  22. two', '1\\. one\n  22\\. two'],
  ])('shows %s as it was written', (text, shown) => {
    expect(toMessage(reply({ text }), []).embed.description).toBe(shown);
  });

  test('has no empty description, which a strict server refuses', () => {
    expect(toMessage(reply({ text: '' }), []).embed).not.toHaveProperty('description');
  });

  test('pings nobody, and has one line per row', () => {
    const { embed, buttons } = toMessage(
      reply({
        rows: {
          columns: ['ID', 'WHAT'],
          cells: [
            ['m1', 'tea'],
            ['m2', 'jam'],
          ],
        },
      }),
      [],
    );
    expect(embed.description).toBe('It is done.\n\n-# ID · WHAT\n`m1` · tea\n`m2` · jam');
    expect(bodyOf({ embed }, []).allowed_mentions).toEqual({ parse: [], replied_user: false });
    expect(buttons).toEqual([]);
  });

  test('puts buttons in rows of five', () => {
    const actions = Array.from({ length: 7 }, (_, index) => ({
      label: `Do ${index}`,
      style: 'plain' as const,
      command: { path: ['x'], options: {} },
    }));
    const { embed, buttons } = toMessage(reply({ actions }), []);
    const body = bodyOf(
      { embed },
      buttons.map((button, index) => ({ button, customId: String(index) })),
    );
    expect(body.components.map(({ components }) => components.length)).toEqual([5, 2]);
  });
});

describe('a button', () => {
  const clock = createSystemClock();
  const open = (secret = 'secret', state = createState()) =>
    createButtons({ secret, state, clock, random: createSystemRandom(clock) });

  test('carries any command within 100 characters, over restarts too', async () => {
    const state = createState();
    const options = fc.dictionary(
      fc.constantFrom('id', 'query', 'page'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 }),
    );
    await fc.assert(
      fc.asyncProperty(options, async (values) => {
        const button = {
          kind: 'page',
          ownerId: ADA.id,
          command: { path: ['memory', 'search'], options: { ...values } },
        } as const;
        const customId = await open('secret', state).write(button);
        expect(customId.length).toBeLessThanOrEqual(100);
        expect(await open('secret', state).read(customId)).toEqual({ kind: 'button', button });
      }),
      { numRuns: 100 },
    );
  });

  test('of another bot, or one that was changed, does nothing', async () => {
    const id = await open().write({
      kind: 'run',
      ownerId: ADA.id,
      command: { path: ['memory', 'forget'], options: { id: 'a' } },
    });
    expect(await open('other').read(id)).toEqual({ kind: 'foreign' });
    expect(await open().read(id.replace('forget', 'export'))).toEqual({ kind: 'foreign' });
    expect(await open().read(id.replace(BigInt(ADA.id).toString(36), BigInt(BOB.id).toString(36)))).toEqual({
      kind: 'foreign',
    });
    for (const junk of ['', '.', 'x.y.z', 'r..']) expect(await open().read(junk)).toEqual({ kind: 'foreign' });
  });

  test('leaves no readable command in the store, nor for long', async () => {
    const state = createState();
    let aheadMs = 0;
    const ahead = { ...clock, now: () => clock.now() + aheadMs };
    const buttons = createButtons({ secret: 'secret', state, clock: ahead, random: createSystemRandom(clock) });
    const command = { path: ['memory', 'search'], options: { query: `the-door-code ${'x'.repeat(200)}` } };
    const customId = await buttons.write({ kind: 'run', ownerId: ADA.id, command });
    const [row] = await state.list('discord.buttons');
    expect(JSON.stringify(row)).not.toMatch(/door|eHh4/);
    await state.set('discord.buttons', row?.key ?? '', { sealed: 'changed', at: clock.now() });
    expect(await buttons.read(customId)).toEqual({ kind: 'expired' });
    const kept = await buttons.write({ kind: 'run', ownerId: ADA.id, command });
    aheadMs = 6 * DAY_MS;
    await buttons.write({ kind: 'run', ownerId: ADA.id, command });
    expect(await buttons.read(kept)).toMatchObject({ kind: 'button', button: { command } });
    aheadMs = 14 * DAY_MS;
    await buttons.write({ kind: 'run', ownerId: ADA.id, command });
    expect(await state.list('discord.buttons')).toHaveLength(1);
  });

  test('explains that its command is no longer stored', async () => {
    const long = {
      kind: 'run',
      ownerId: ADA.id,
      command: { path: ['memory', 'search'], options: { query: 'x'.repeat(200) } },
    } as const;
    expect(await open().read(await open().write(long))).toEqual({ kind: 'expired' });
  });
});

type Answered = {
  type: number;
  data: Json & { embeds: Json[]; components: { components: (Json & { custom_id: string; label: string })[] }[] };
};
const answerTo = (double: DiscordDouble, id: string): Promise<Answered> =>
  until(
    `an answer to ${id}`,
    () => double.callbacks.find((callback) => callback.id === id)?.body as unknown as Answered | undefined,
  );
const buttonsOf = ({ data }: Answered) => data.components.flatMap(({ components }) => components);
const labelled = (answer: Answered, label: string): string => {
  const button = buttonsOf(answer).find((candidate) => candidate.label === label);
  if (button === undefined) throw new Error(`no button ${label}`);
  return button.custom_id;
};
const slash = (name: string, action: string | null, options: Record<string, string | number> = {}) => {
  const values = Object.entries(options).map(([key, value]) => ({
    name: key,
    type: typeof value === 'number' ? 4 : 3,
    value,
  }));
  return {
    type: 2,
    data: { id: '1', type: 1, name, options: action === null ? values : [{ type: 1, name: action, options: values }] },
  };
};
const press = (customId: string) => ({ type: 3, data: { custom_id: customId, component_type: 2 } });

describe('the commands in Discord', () => {
  test('run once, however many others came before', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const ids = Array.from({ length: 1001 }, () => double.interact(slash('help', null)));
      await until('all of them', () => sink.commands.length === ids.length, 60_000);
      double.interact({ ...slash('help', null), fields: { id: ids.at(-2) } });
      double.interact(slash('status', null));
      await until('the last one', () => sink.commands.at(-1)?.path[0] === 'status');
      expect(sink.commands).toHaveLength(ids.length + 1);
    });
  });

  test('reach the bot with person, place and rights', async () => {
    await withChannel({ table: { operators: [BOB.id] } }, async ({ double, sink }) => {
      const member = await answerTo(double, double.interact(slash('memory', 'list', { page: 2, about: 'me' })));
      expect(member).toMatchObject({
        type: 4,
        data: { flags: 64, embeds: [{ title: 'Done', description: 'It is done.' }] },
      });
      expect(sink.commands[0]).toEqual({
        conversation: `discord:${GUILD}:${GENERAL}`,
        audience: 'public',
        author: { id: ADA.id, name: 'Ada', kind: 'person' },
        rights: 'member',
        path: ['memory', 'list'],
        options: { page: '2', about: 'me' },
        mentions: [],
      });
      await answerTo(
        double,
        double.interact({ ...slash('status', null), permissions: String(VIEW | HISTORY | (1n << 13n)) }),
      );
      await answerTo(double, double.interact({ ...slash('status', null), author: BOB }));
      await answerTo(double, double.interact({ ...slash('status', null), author: OWNER }));
      await answerTo(double, double.interact({ ...slash('status', null), channelId: DIRECT }));
      expect(sink.commands.slice(1).map(({ rights, audience, path }) => [rights, audience, path])).toEqual([
        ['moderator', 'public', ['status']],
        ['operator', 'public', ['status']],
        ['operator', 'public', ['status']],
        ['member', 'dm', ['status']],
      ]);
    });
  });

  test.each([
    ['with an option of another kind', { options: [{ name: 'file', type: 11, value: { id: '1' } }, null] }],
    ['with odd resolved data', { resolved: { messages: { 1: null, 2: { author: 7 } }, users: [] } }],
    ['with nothing resolved', { resolved: null, options: null, target_id: 5 }],
  ])('are answered %s', async (_, odd) => {
    await withChannel({}, async ({ double, sink }) => {
      const data = { id: '1', type: 1, name: 'status', ...odd };
      expect(await answerTo(double, double.interact({ type: 2, data }))).toMatchObject({ type: 4 });
      expect(sink.commands).toMatchObject([{ path: ['status'] }]);
    });
  });

  test('read mentions in what was typed as names', async () => {
    await withChannel({}, async ({ double, sink }) => {
      double.addMember(OWNER, { nick: 'Boss' });
      const text = `<@${BOB.id}> and <@!${OWNER.id}> bring <:tea:123> to <#${GENERAL}>, not <@123>`;
      const typed = slash('memory', 'remember', { text });
      const resolved = { users: { [BOB.id]: BOB, 7: null }, members: { [BOB.id]: { nick: 'Bobby' } } };
      await answerTo(double, double.interact({ ...typed, data: { ...typed.data, resolved } }));
      expect(sink.commands[0]).toMatchObject({
        options: { text: '@Bobby and @Boss bring :tea: to #general, not <@123>' },
        mentions: [
          { id: BOB.id, name: 'Bobby', kind: 'person' },
          { id: OWNER.id, name: 'Boss', kind: 'person' },
        ],
      });
    });
  });

  test('do not wait long for the name of a mention', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const answers = Promise.withResolvers<void>();
      double.rest.delay('GET', /\/members\//, answers.promise);
      await answerTo(double, double.interact(slash('memory', 'search', { query: `<@${BOB.id}>` })));
      expect(sink.commands).toMatchObject([{ options: { query: `<@${BOB.id}>` }, mentions: [] }]);
      answers.resolve();
    });
  });

  test('look up few of the ids that somebody types', async () => {
    await withChannel({}, async ({ double }) => {
      for (let count = 0; count < 5; count += 1) {
        const query = Array.from({ length: 10 }, (_, index) => `<@${9000 + 10 * count + index}>`).join(' ');
        await answerTo(double, double.interact(slash('memory', 'search', { query })));
      }
      expect(double.rest.sent('GET', /\/members\//)).toHaveLength(30);
    });
  });

  test('are answered where only the channel itself is named', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const data = { id: '1', type: 1, name: 'status' };
      const id = double.interact({ type: 2, data, fields: { channel_id: undefined } });
      expect(await answerTo(double, id)).toMatchObject({ type: 4 });
      expect(sink.commands).toMatchObject([{ conversation: `discord:${GUILD}:${GENERAL}` }]);
    });
  });

  test('are answered in the server that only the member shows', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const data = { id: '1', type: 1, name: 'memory', options: [{ type: 1, name: 'list' }] };
      await answerTo(double, double.interact({ type: 2, data, fields: { guild_id: undefined } }));
      const place = { conversation: `discord:${GUILD}:${GENERAL}`, audience: 'public' };
      expect(sink.commands).toMatchObject([{ ...place, path: ['memory', 'list'], options: {} }]);
      expect(double.rest.sent('POST', /callback$/).map(({ authorization }) => authorization)).toEqual([null]);
    });
  });

  test('are refused between people in their own direct messages', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const asked = { ...slash('memory', 'list'), channelId: DIRECT, fields: { context: 2 } };
      expect(JSON.stringify(await answerTo(double, double.interact(asked)))).toContain('does not serve you here');
      await answerTo(double, double.interact({ ...asked, fields: { context: 1 } }));
      expect(sink.commands).toMatchObject([{ audience: 'dm' }]);
    });
  });

  test('are answered for administrators with that permission alone', async () => {
    await withChannel({}, async ({ double, sink }) => {
      await answerTo(double, double.interact({ ...slash('status', null), permissions: String(1n << 3n) }));
      expect(sink.commands).toMatchObject([{ rights: 'moderator' }]);
    });
  });

  test('mention no file where an answer without one is refused', async () => {
    await withChannel({}, async ({ double, log }) => {
      double.rest.fail('POST', /\/callback$/, { status: 403, code: 50_013 });
      double.interact(slash('status', null));
      await until('it is logged', () => log.lines.find(({ message }) => message.includes('could not be answered')));
      expect(double.callbacks).toEqual([]);
    });
  });

  test('take the text of a form with other fields', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const form = await answerTo(double, double.interact(slash('memory', 'edit', { id: memoryId })));
      const components = [
        ...[null, { type: 10, id: 1 }, { type: 18, component: { type: 23, custom_id: 'box', value: true } }],
        ...[
          { type: 18, component: { type: 21, custom_id: 'pick', value: null } },
          { type: 18, component: null },
        ],
        { type: 18, component: { type: 4, custom_id: 'text', value: 'Ada drinks tea' } },
      ];
      const data = { custom_id: form.data['custom_id'], components };
      expect(await answerTo(double, double.interact({ type: 5, data }))).toMatchObject({ type: 4 });
      expect(sink.commands.at(-1)).toMatchObject({
        path: ['memory', 'edit'],
        options: { id: memoryId, text: 'Ada drinks tea' },
      });
    });
  });

  test('bring a picture with its description', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const picture = {
        name: 'context.png',
        mediaType: 'image/png',
        base64: 'UE5H',
        description: 'All in words.',
      } as const;
      sink.answer = () => ({ ...plain, picture });
      const id = double.interact(slash('context', 'picture'));
      const attachments = [{ id: '0', filename: 'context.png', description: 'All in words.' }];
      expect(await answerTo(double, id)).toMatchObject({ type: 4, data: { flags: 64, attachments } });
      expect(double.callbacks.find((callback) => callback.id === id)?.files).toEqual([
        { name: 'context.png', text: 'PNG' },
      ]);
    });
  });

  test('with a very large file are announced and packed', async () => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => ({ ...plain, file: { name: 'export.json', text: 'all of it '.repeat(1_000_000) } });
      const id = double.interact(slash('memory', 'export'));
      expect(await answerTo(double, id)).toMatchObject({ type: 5, data: { flags: 64 } });
      const [edit] = await until('the answer', () => double.edits.length > 0 && double.edits);
      expect(edit?.files.map(({ name }) => name)).toEqual(['export.json.gz']);
      expect(edit?.files[0]?.text.length).toBeLessThan(1_000_000);
    });
  });

  test.each([
    [413, 0],
    [400, 40_005],
    [403, 50_013],
  ])('say when Discord refuses the file with %s, %s', async (status, code) => {
    await withChannel({}, async ({ double, sink, log }) => {
      sink.answer = () => ({ ...plain, file: { name: 'export.json', text: 'all of it' } });
      double.rest.fail('POST', /\/callback$/, { status, code });
      const answered = await answerTo(double, double.interact(slash('memory', 'export')));
      expect(JSON.stringify(answered)).toContain('Discord refused the file');
      expect(JSON.stringify(answered)).toContain(plain.text);
      sink.answer = () => ({ ...plain, file: { name: 'export.json', text: 'all of it '.repeat(200_000) } });
      double.rest.fail('PATCH', /@original$/, { status, code });
      double.interact(slash('memory', 'export'));
      const [edit] = await until('the answer', () => double.edits.length > 0 && double.edits);
      expect(JSON.stringify(edit?.body)).toContain('Discord refused the file');
      expect(edit?.files).toEqual([]);
      expect(JSON.stringify(log.lines)).not.toContain('could not be answered');
    });
  });

  test('are answered publicly where meant so, and late if long', async () => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => ({ ...plain, ephemeral: false, file: { name: 'export.md', text: 'all of it' } });
      const id = double.interact(slash('memory', 'export'));
      expect(await answerTo(double, id)).toMatchObject({ type: 4, data: { flags: 0 } });
      expect(double.callbacks.find((callback) => callback.id === id)?.files).toEqual([
        { name: 'export.md', text: 'all of it' },
      ]);
      const release = Promise.withResolvers<CommandReply>();
      sink.answer = () => release.promise;
      const late = double.interact(slash('compact', null));
      expect(await answerTo(double, late)).toEqual({ type: 5, data: { flags: 0 } });
      const file = { name: 'export.md', text: 'all of it' };
      const picture = {
        name: 'view.png',
        mediaType: 'image/png',
        base64: 'UE5H',
        description: 'All in words.',
      } as const;
      release.resolve({ ...plain, ephemeral: false, file, picture });
      await until('the late answer', () => double.edits.find(({ token }) => token === `token-${late}`));
      const attachments = [{ filename: 'export.md' }, { filename: 'view.png', description: 'All in words.' }];
      expect(double.edits[0]?.body).toMatchObject({ embeds: [{ title: 'Done' }], attachments });
      expect(double.edits[0]?.files.map(({ name }) => name)).toEqual(['export.md', 'view.png']);
      const kept = Promise.withResolvers<CommandReply>();
      sink.answer = () => kept.promise;
      const held = double.interact(slash('memory', 'held'));
      expect(await answerTo(double, held)).toEqual({ type: 5, data: { flags: 64 } });
      kept.resolve(plain);
    });
  });

  test.each([
    ['private', 'compact', true],
    ['public', 'status', false],
  ])('a late %s answer is shown as meant', async (_, name, ephemeral) => {
    await withChannel({}, async ({ double, sink }) => {
      const release = Promise.withResolvers<CommandReply>();
      sink.answer = () => release.promise;
      const id = double.interact(slash(name, null));
      expect(await answerTo(double, id)).toEqual({ type: 5, data: { flags: ephemeral ? 0 : 64 } });
      release.resolve({ ...plain, ephemeral, file: { name: 'all.md', text: 'all of it' } });
      const sent = await until('the answer', () => double.followUps[0]);
      expect(sent).toMatchObject({ token: `token-${id}`, files: [{ name: 'all.md' }] });
      expect(sent.body).toMatchObject({ flags: ephemeral ? 64 : 0, embeds: [{ title: 'Done' }] });
      expect([double.removed, double.edits]).toEqual([[`token-${id}`], []]);
    });
  });

  test('complete an option while it is typed', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const options = [{ type: 1, name: 'why', options: [{ name: 'id', type: 3, value: 'te', focused: true }] }];
      const id = double.interact({ type: 4, data: { id: '1', type: 1, name: 'memory', options } });
      expect(await answerTo(double, id)).toEqual({
        type: 8,
        data: { choices: [{ name: 'fact: Ada drinks tea', value: memoryId }] },
      });
      expect(sink.suggestions[0]).toMatchObject({
        option: 'id',
        invocation: { path: ['memory', 'why'], options: { id: 'te' } },
      });
    });
  });

  test('complete an option with no more than Discord shows', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const found = Array.from({ length: 30 }, (_, index) => {
        return { label: `${index}`.padEnd(99, 'x').concat('😀 and more'), value: `${index}`.padEnd(120, 'x') };
      });
      sink.suggest = async () => found;
      const options = [{ type: 1, name: 'why', options: [{ name: 'id', type: 3, value: 'te', focused: true }] }];
      const id = double.interact({ type: 4, data: { id: '1', type: 1, name: 'memory', options } });
      const { data } = await answerTo(double, id);
      expect(data['choices']).toHaveLength(25);
    });
  });

  // Shows: K
  test('turn pages only for the person who asked', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const pageOf = (number: number) => ({ path: ['memory', 'list'], options: { page: String(number) } });
      sink.answer = ({ options: { page = '1' } }) => {
        const number = Number(page);
        return {
          ...plain,
          text: `page ${page}`,
          page: {
            number,
            of: 3,
            previous: number > 1 ? pageOf(number - 1) : null,
            next: number < 3 ? pageOf(number + 1) : null,
          },
        };
      };
      const first = await answerTo(double, double.interact(slash('memory', 'list')));
      expect(buttonsOf(first).map(({ label }) => label)).toEqual(['Next']);
      const second = await answerTo(double, double.interact(press(labelled(first, 'Next'))));
      expect(second).toMatchObject({
        type: 7,
        data: { embeds: [{ description: 'page 2', footer: { text: 'Page 2 of 3' } }] },
      });
      expect(buttonsOf(second).map(({ label }) => label)).toEqual(['Previous', 'Next']);
      const stranger = await answerTo(double, double.interact({ ...press(labelled(second, 'Next')), author: BOB }));
      expect(stranger).toMatchObject({ type: 4, data: { flags: 64 } });
      expect(JSON.stringify(stranger)).toContain('Only the person who asked');
      expect(sink.commands).toHaveLength(2);
      const forged = await answerTo(double, double.interact(press('p.abc.memory list?page=1.AAAAAAAA')));
      expect(JSON.stringify(forged)).toContain('older version');
    });
  });

  test('ask before what cannot be undone', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const asked = await answerTo(double, double.interact(slash('memory', 'strike', { id: memoryId })));
      expect(asked).toMatchObject({ type: 4, data: { flags: 64, embeds: [{ title: 'This cannot be undone' }] } });
      expect(sink.commands).toEqual([]);
      expect(await answerTo(double, double.interact(press(labelled(asked, 'Cancel'))))).toMatchObject({ type: 7 });
      expect(sink.commands).toEqual([]);
      expect(await answerTo(double, double.interact(press(labelled(asked, 'Do it'))))).toMatchObject({ type: 7 });
      expect(sink.commands).toMatchObject([{ path: ['memory', 'strike'], options: { id: memoryId } }]);
    });
  });

  test.each([
    ['at once', 0],
    ['late', 2_000],
  ])('answer everyone after a confirmation where meant so, %s', async (_, waitMs) => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => delay(waitMs, { ...plain, ephemeral: false });
      const asked = await answerTo(double, double.interact(slash('reset', null)));
      expect(asked).toMatchObject({ type: 4, data: { flags: 64 } });
      const id = double.interact(press(labelled(asked, 'Do it')));
      const { body } = await until('the public answer', () => double.followUps[0]);
      expect(body).toMatchObject({ flags: 0, embeds: [{ title: 'Done', description: 'It is done.' }] });
      const first = await answerTo(double, id);
      const changed = first.type === 7 ? first.data : double.edits.find(({ token }) => token === `token-${id}`)?.body;
      expect(changed).toMatchObject({ embeds: [{ description: 'Everyone here sees the answer.' }], components: [] });
    });
  });

  test('tell only who confirmed that a command failed', async () => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => delay(2_000, errorReply('It failed.'));
      const asked = await answerTo(double, double.interact(slash('reset', null)));
      const id = double.interact(press(labelled(asked, 'Do it')));
      const edit = await until('the answer', () => double.edits.find(({ token }) => token === `token-${id}`));
      expect(edit.body).toMatchObject({ embeds: [{ description: 'It failed.' }], components: [] });
      expect(double.followUps).toEqual([]);
    });
  });

  test('name the values that a confirmed command gets', async () => {
    const options = z.object({ from: z.string().describe('From'), to: z.string().describe('To') });
    const moving = defineCommand({ name: 'move', description: 'Moves it', confirm: true, options, run: () => 'x' });
    const sink = { ...recordSink(), commandSpecs: allCommands([moving]).map(({ spec }) => spec) };
    await withChannel({ sink }, async ({ double }) => {
      const asked = await answerTo(double, double.interact(slash('move', null, { to: 'my old den', from: 'to here' })));
      const description = '/move from="to here" my old den\nMoves it';
      expect(asked).toMatchObject({ data: { embeds: [{ title: 'This cannot be undone', description }] } });
    });
  });

  test('ask for a memory’s new wording in a prefilled form', async () => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => ({ ...plain, text: 'Ada drinks *green* tea' });
      const form = await answerTo(double, double.interact(slash('memory', 'edit', { id: memoryId })));
      expect(form.type).toBe(9);
      const custom = String(form.data['custom_id']);
      const component = { style: TextInputStyle.Paragraph, max_length: 2000 };
      expect(form.data).toMatchObject({ components: [{ component }] });
      expect(JSON.stringify(form)).toContain('"value":"Ada drinks *green* tea"');
      const components = [{ type: 18, component: { type: 4, custom_id: 'text', value: 'Ada drinks black tea' } }];
      const stranger = double.interact({ type: 5, data: { custom_id: custom, components }, author: BOB });
      expect(JSON.stringify(await answerTo(double, stranger))).toContain('no longer valid');
      expect(sink.commands.map(({ path }) => path)).toEqual([['memory', 'show']]);
      const done = await answerTo(double, double.interact({ type: 5, data: { custom_id: custom, components } }));
      expect(done).toMatchObject({ type: 4 });
      expect(sink.commands.at(-1)).toMatchObject({
        path: ['memory', 'edit'],
        options: { id: memoryId, text: 'Ada drinks black tea' },
      });
      const direct = await answerTo(
        double,
        double.interact(slash('memory', 'edit', { id: memoryId, text: 'at once' })),
      );
      expect(direct.type).toBe(4);
    });
  });

  test('a form of long texts fits, with all its fields', async () => {
    const options = z.object({
      id: z.string().describe('Which one'),
      topic: z.string().describe(`${'What it is about, '.repeat(2)}😀`.padStart(46, 'x')),
      color: z.enum(['red', 'blue']).describe('Its color'),
      reason: z.string().describe('Why'),
    });
    const base = { description: 'x', run: () => 'x' };
    const edit = { ...base, name: `poll ${'edit'.repeat(8)}`, options, form: ['topic', 'color', 'reason'] as const };
    const show = { ...base, name: 'poll show', options: options.pick({ id: true }) };
    const commands = allCommands([
      defineCommand(edit),
      defineCommand(show),
      defineCommand({ ...base, name: 'x'.repeat(32) }),
    ]);
    const sink = { ...recordSink(), commandSpecs: commands.map(({ spec }) => spec) };
    sink.command = async () => ({ ...plain, text: `${'x'.repeat(3999)}😀` });
    await withChannel({ sink }, async ({ double }) => {
      const form = await answerTo(double, double.interact(slash('poll', 'edit'.repeat(8), { id: 'p1' })));
      const fields = z.array(z.object({ component: z.record(z.string(), z.unknown()) })).parse(form.data.components);
      expect(fields.map(({ component: { custom_id: id, value, style } }) => [id, String(value).length, style])).toEqual(
        [
          ['topic', 4000, TextInputStyle.Short],
          ['color', 9, undefined],
          ['reason', 9, TextInputStyle.Paragraph],
        ],
      );
      const components = [
        { type: 18, component: { type: 4, custom_id: 'topic', value: 'Tea' } },
        { type: 18, component: { type: 3, custom_id: 'color', values: ['blue'] } },
        { type: 1, components: [{ type: 4, custom_id: 'reason', value: 'Because' }] },
      ];
      const ran: unknown[] = [];
      sink.command = async (invocation) => {
        ran.push(invocation.options);
        return plain;
      };
      await answerTo(double, double.interact({ type: 5, data: { custom_id: form.data['custom_id'], components } }));
      expect(ran).toEqual([{ id: 'p1', topic: 'Tea', color: 'blue', reason: 'Because' }]);
    });
  });

  test('the form comes empty when the old wording is slow', async () => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => new Promise<CommandReply>(() => undefined);
      const form = await answerTo(double, double.interact(slash('memory', 'edit', { id: memoryId })));
      expect(form.type).toBe(9);
      expect(JSON.stringify(form)).not.toContain('"value"');
    });
  });

  test('the form does not offer an error as the wording', async () => {
    await withChannel({}, async ({ double, sink }) => {
      sink.answer = () => ({ ...plain, text: 'There is no memory.', tone: 'error' });
      const form = await answerTo(double, double.interact(slash('memory', 'edit', { id: memoryId })));
      expect(form.type).toBe(9);
      expect(JSON.stringify(form)).not.toContain('There is no memory.');
    });
  });

  test('a turned list keeps no file of the previous page', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const next = { path: ['memory', 'list'], options: { page: '2' } };
      const file = { name: 'page.md', text: 'first' };
      sink.answer = ({ options: { page } }) =>
        page === '2' ? plain : { ...plain, file, page: { number: 1, of: 2, previous: null, next } };
      const first = await answerTo(double, double.interact(slash('memory', 'list')));
      const second = await answerTo(double, double.interact(press(labelled(first, 'Next'))));
      expect(second).toMatchObject({ type: 7, data: { attachments: [] } });
    });
  });

  test('a button lacking text opens the form with current wording', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const command = { path: ['memory', 'edit'], options: { id: memoryId } };
      const wording = 'a_b \\* [c](https://example.org)';
      sink.answer = () => ({ ...plain, text: wording, actions: [{ label: 'Correct it', style: 'plain', command }] });
      const shown = await answerTo(double, double.interact(slash('memory', 'show', { id: memoryId })));
      const form = await answerTo(double, double.interact(press(labelled(shown, 'Correct it'))));
      expect(form.type).toBe(9);
      expect(JSON.stringify(form)).toContain(JSON.stringify({ value: wording }).slice(1, -1));
      const components = [{ type: 18, component: { type: 4, custom_id: 'text', value: '  ' } }];
      const custom_id = String(form.data['custom_id']);
      const blank = await answerTo(double, double.interact({ type: 5, data: { custom_id, components } }));
      expect(JSON.stringify(blank)).toContain('form contained no text');
    });
  });

  // Shows: R28
  test('serve nobody excluded by lists, buttons and completions included', async () => {
    const state = createState();
    const sealed = await createButtons({
      secret: 'x',
      state,
      clock: createSystemClock(),
      random: createSystemRandom(createSystemClock()),
    }).write({ kind: 'page', ownerId: ADA.id, command: { path: ['status'], options: {} } });
    await withChannel({ table: { users: { deny: [ADA.id] } }, state }, async ({ double, sink }) => {
      for (const use of [slash('memory', 'list'), press(sealed)]) {
        const refused = await answerTo(double, double.interact(use));
        expect(refused).toMatchObject({ type: 4, data: { flags: 64 } });
        expect(JSON.stringify(refused)).toContain('does not serve you');
      }
      const options = [{ type: 1, name: 'why', options: [{ name: 'id', type: 3, value: 'te', focused: true }] }];
      const typed = await answerTo(
        double,
        double.interact({ type: 4, data: { id: '1', type: 1, name: 'memory', options } }),
      );
      expect(typed).toEqual({ type: 8, data: { choices: [] } });
      expect([...sink.commands, ...sink.suggestions]).toEqual([]);
    });
  });

  test('serve people with the roles that the lists name', async () => {
    const role = '700000000000000009';
    await withChannel({ table: { roles: { allow: [role] } } }, async ({ double, sink }) => {
      const refused = await answerTo(double, double.interact(slash('status', null)));
      expect(JSON.stringify(refused)).toContain('does not serve you');
      await answerTo(double, double.interact({ ...slash('status', null), roles: [role] }));
      expect(sink.commands).toMatchObject([{ path: ['status'] }]);
    });
  });

  // Shows: R28
  test('hold for messages, menus and forms', async () => {
    await withChannel({ table: { users: { deny: [ADA.id] } } }, async ({ double, sink }) => {
      const said = double.say(GENERAL, ADA, 'hello');
      await until('the drop', () => sink.drops.length === 1);
      expect(sink.drops).toMatchObject([{ reason: 'unserved', externalId: said.id }]);
      const target = { id: said.id, author: ADA, content: 'I drink tea' };
      const menu = {
        id: '1',
        type: 3,
        name: REMEMBER_MENU,
        target_id: said.id,
        resolved: { messages: { [said.id]: target } },
      };
      for (const use of [
        { type: 2, data: menu },
        { type: 5, data: { custom_id: 'x', components: [] } },
      ]) {
        const refused = await answerTo(double, double.interact(use));
        expect(JSON.stringify(refused)).toContain('does not serve you');
      }
      expect([...sink.messages, ...sink.commands]).toEqual([]);
    });
  });

  // Shows: R28
  test('come with posts that keep code whole and ping nobody', async () => {
    await withChannel({ table: { file_above_parts: 20 } }, async ({ double, channel }) => {
      const code = Array.from({ length: 200 }, (_, line) => `print("${line}: @everyone <@${ADA.id}>")`);
      const bodies = channel.split(['Here it is:', '```python', ...code, '```', 'That is all.'].join('\n'));
      const conversation = keyOf('', { guildId: GUILD, channelId: GENERAL, threadId: null });
      for (const [chunk, body] of bodies.entries()) {
        const post = { conversation, nonce: `1-1-${chunk}`, body, replyTo: null, attempt: 1 };
        await channel.post(post, { signal: AbortSignal.timeout(5_000) });
      }
      const sent = double.rest.sent('POST', /messages$/).map(({ body }) => body);
      expect(sent.length).toBeGreaterThan(2);
      for (const { content, allowed_mentions: mentions } of sent) {
        expect(String(content).split('```').length % 2).toBe(1);
        expect(mentions).toEqual({ parse: [], replied_user: false });
      }
    });
  });
});

describe('the menus of a message', () => {
  const menu = (name: string, target: { id: string }) => ({
    type: 2,
    data: { id: '1', type: 3, name, target_id: target.id, resolved: { messages: { [target.id]: target } } },
  });

  test('"Remember this" remembers it as its author’s words', async () => {
    await withChannel({}, async ({ double, sink }) => {
      await answerTo(
        double,
        double.interact(menu(REMEMBER_MENU, message({ channel_id: GENERAL, author: ADA, content: 'I drink tea' }))),
      );
      await answerTo(
        double,
        double.interact(menu(REMEMBER_MENU, message({ channel_id: GENERAL, author: BOB, content: 'I drink coffee' }))),
      );
      expect(sink.commands.map(({ path, options }) => [path, options])).toEqual([
        [['memory', 'remember'], { text: 'I drink tea' }],
        [['memory', 'remember'], { text: 'Bob said: I drink coffee' }],
      ]);
    });
  });

  test('"Remember this" remembers a message as people see it', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const named = { content: `<@${ADA.id}> writes in <#${GENERAL}>`, mentions: [ADA] };
      const card = { embeds: [{ title: 'Build', description: 'failed', fields: [] }] };
      for (const details of [
        { author: BOB, ...named },
        { author: OTHER_BOT, ...card },
      ])
        await answerTo(double, double.interact(menu(REMEMBER_MENU, message({ channel_id: GENERAL, ...details }))));
      expect(sink.commands.map(({ options }) => options['text'])).toEqual([
        'Bob said: @Ada writes in #general',
        expect.stringContaining('Build\nfailed'),
      ]);
    });
  });

  test('the button "Why?" of a reply answers whoever pressed it', async () => {
    await withChannel({ table: { why_button: true } }, async ({ double, channel, sink }) => {
      const question = double.say(GENERAL, ADA, 'a question');
      const body = { kind: 'text', text: 'You drink tea.' } as const;
      const conversation = `discord:${GUILD}:${GENERAL}` as ConversationKey;
      const { platformMessageId: id } = await channel.post(
        { conversation, nonce: '1-1-0', body, replyTo: question.id, attempt: 1 },
        { signal: new AbortController().signal },
      );
      const pressed = { ...press('why'), message: { id }, author: BOB };
      expect(await answerTo(double, double.interact(pressed))).toMatchObject({ data: { flags: 64 } });
      expect(sink.commands).toMatchObject([
        { conversation, path: ['why', 'show'], options: { message: id }, author: { id: BOB.id }, rights: 'member' },
      ]);
    });
  });

  test('"Why this reply?" answers the person who asked', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const reply = message({ channel_id: GENERAL, author: BOT, content: 'You drink tea.' });
      const late = Promise.withResolvers<CommandReply>();
      sink.answer = () => late.promise;
      expect(await answerTo(double, double.interact(menu(WHY_MENU, reply)))).toEqual({ type: 5, data: { flags: 64 } });
      late.resolve(plain);
      expect(sink.commands[0]).toMatchObject({
        path: ['why', 'show'],
        options: { message: reply.id },
        author: { id: ADA.id },
        rights: 'member',
        audience: 'public',
      });
    });
  });

  // Shows: G
  test('"Forget this" asks, and serves author and managers only', async () => {
    await withChannel({}, async ({ double, sink }) => {
      const own = message({ channel_id: GENERAL, author: ADA, content: 'my secret' });
      const foreign = message({ channel_id: GENERAL, author: BOB, content: 'not mine' });
      const forget = async (target: { id: string }, permissions = String(VIEW | HISTORY), channelId = GENERAL) => {
        const asked = await answerTo(double, double.interact({ ...menu(FORGET_MENU, target), permissions, channelId }));
        const pressed = double.interact({ ...press(labelled(asked, 'Forget it')), permissions, channelId });
        return await answerTo(double, pressed);
      };
      expect(await forget(own)).toMatchObject({ type: 7, data: { embeds: [{ title: 'Forgotten' }] } });
      expect(await forget(foreign)).toMatchObject({ type: 7, data: { embeds: [{ title: 'That did not work' }] } });
      expect(await forget(foreign, String(VIEW | HISTORY | (1n << 5n)))).toMatchObject({
        data: { embeds: [{ title: 'Forgotten' }] },
      });
      expect(sink.removals.map(({ externalIds }) => externalIds)).toEqual([[own.id], [foreign.id]]);
      // A direct message belongs to its person.
      const direct = message({ channel_id: DIRECT, author: BOT, content: 'you told me a secret' });
      expect(await forget(direct, undefined, DIRECT)).toMatchObject({ data: { embeds: [{ title: 'Forgotten' }] } });
    });
  });
});

test('a stop does not wait for a rate limit', async () => {
  await withChannel({}, async ({ double, channel }) => {
    double.rest.limit('POST', /callback$/, { forMs: 60_000 });
    double.interact({ type: 2, data: { id: '1', name: 'status', type: 1, options: [] } });
    await until('the answer', () => double.rest.sent('POST', /callback$/).length > 0);
    expect(await Promise.race([channel.stop().then(() => 'stopped'), delay(20_000, 'still waiting')])).toBe('stopped');
  });
});

describe('the registration of the commands', () => {
  const writes = (double: DiscordDouble) => double.rest.sent('PUT', /commands$/).map(({ path }) => path);
  const run = async (double: DiscordDouble, options: OpenOptions) => {
    const { channel, sink } = openChannel(double, options);
    await channel.start(sink);
    await channel.stop();
  };

  // Shows: R30
  test('is written when something changed, and only then', async () => {
    const double = await startDiscord();
    const state = createState();
    await run(double, { state });
    expect(writes(double)).toEqual([`/applications/${APPLICATION}/commands`]);
    await run(double, { state });
    expect(writes(double)).toHaveLength(1);
    await run(double, { state, table: { localizations: { de: { memory: 'Erinnerungen' } } } });
    expect(writes(double)).toHaveLength(2);
    await double.close();
  });

  test('is restored when somebody else deleted the commands', async () => {
    const double = await startDiscord();
    const state = createState();
    await run(double, { state });
    double.registered.set('commands', []);
    await run(double, { state });
    expect(writes(double)).toHaveLength(2);
    await double.close();
  });

  test('reaches the bot’s servers, whatever others answer', async () => {
    const double = await startDiscord();
    const state = createState();
    const gone = '100000000000000077';
    double.rest.fail('PUT', new RegExp(`${gone}/commands$`), { status: 403, code: 50001, times: 9 });
    await run(double, { state, table: { command_guilds: [gone, GUILD] } });
    expect(double.registered.has(`guilds/${GUILD}/commands`)).toBe(true);
    await run(double, { state });
    expect(double.registered.has('commands')).toBe(true);
    await double.close();
  });

  test('moves into a server, back, and away when switched off', async () => {
    const double = await startDiscord();
    const state = createState();
    const inGuild = `/applications/${APPLICATION}/guilds/${GUILD}/commands`;
    const everywhere = `/applications/${APPLICATION}/commands`;
    await run(double, { state });
    await run(double, { state, table: { command_guilds: [GUILD] } });
    await run(double, { state, table: { commands: false } });
    await run(double, { state, table: { commands: false } });
    expect(writes(double)).toEqual([everywhere, everywhere, inGuild, inGuild]);
    expect(double.registered.get('commands')).toEqual([]);
    expect(double.registered.get(`guilds/${GUILD}/commands`)).toEqual([]);
    await double.close();
  });

  test('failing disturbs nothing else', async () => {
    const double = await startDiscord();
    double.rest.fail('PUT', /commands$/, { status: 403, times: 9 });
    const { channel, sink, log } = openChannel(double);
    await channel.start(sink);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'The commands could not be registered with Discord' }),
    );
    double.say(GENERAL, ADA, 'still here?');
    await until('the message', () => sink.messages.length === 1);
    await channel.stop();
    await double.close();
  });
});
