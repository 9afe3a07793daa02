import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CommandDefinition, defineCommand } from '../../../src/adapter-kit.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { createSystemClock } from '../../../src/util/time/clock.ts';
import { ADA, openWorld } from './commands.world.ts';

/** Commands that a bot's author adds, without a channel. */

const poll = defineCommand({
  name: 'poll start',
  description: 'Ask everyone here',
  options: z.object({
    days: z.int().min(1).max(14).default(7).describe('How long it runs'),
    question: z.string().min(3).describe('What to ask'),
    color: z.enum(['red', 'blue']).describe('Its color'),
    open: z.boolean().optional().describe('Everyone can add answers'),
  }),
  form: ['question', 'color'],
  ephemeral: false,
  suggest: { question: () => ['Who brings tea?', { label: 'Milk', value: 'Who brings milk?' }] },
  run: ({ days, question, color, open }, { author }) => ({
    text: JSON.stringify({ days, question, color, open, by: author.name }),
    buttons: [{ label: 'Close it', command: 'poll close', options: { id: 7 }, style: 'danger' }],
  }),
});
const close = defineCommand({
  name: 'poll close',
  description: 'Close a poll',
  options: z.object({ id: z.int() }),
  access: 'moderator',
  confirm: true,
  run: ({ id }) => `Closed ${id + 1}.`,
});
const names = defineCommand({
  name: 'names',
  description: 'List names',
  paged: true,
  run: () => ({ rows: { columns: ['NAME'], cells: Array.from({ length: 20 }, (_, index) => [`n${index + 1}`]) } }),
});

function open(commands: readonly CommandDefinition[], parts = {}) {
  return openWorld({ audience: 'public', parts: { commands, ...parts } });
}

describe('a command of a plugin', () => {
  it('gets its options as the types of its schema', async () => {
    await using world = await open([poll, close]);
    const reply = await world.type('/poll start color=red open=yes days=3 Who brings tea?');
    const given = { days: 3, question: 'Who brings tea?', color: 'red', open: true, by: 'Ada' };
    expect(reply).toMatchObject({ title: 'poll start', text: JSON.stringify(given), ephemeral: false });
    const plain = await world.type('/poll start color=blue Tea again?');
    expect(JSON.parse(plain.text)).toEqual({ days: 7, question: 'Tea again?', color: 'blue', by: 'Ada' });
    expect(reply.actions).toEqual([
      { label: 'Close it', style: 'danger', command: { path: ['poll', 'close'], options: { id: '7' } } },
    ]);
  });

  it.each([
    ['/poll start color=green Tea?', 'color must be one of red, blue'],
    ['/poll start color=red days=15 Tea?', 'days must be a whole number from 1 to 14, not "15"'],
    ['/poll start color=red T', 'question: expected at least 3 characters. Usage: /poll start <question> <color>'],
    ['/poll start', 'question is missing. Usage: /poll start <question> <color>'],
    ['/poll', 'the action is missing. Usage: /poll start|close'],
    ['/pol start', 'Did you mean /poll?'],
    ['/poll close x', 'id must be a whole number, not "x"'],
    ['/level 7', 'level must be a whole number of at most 5, not "7"'],
  ])('%s is refused with the reason', async (line, reason) => {
    const options = z.object({ level: z.int().max(5) });
    const level = defineCommand({ name: 'level', description: 'Set the level', options, run: () => 'x' });
    await using world = await open([poll, close, level]);
    const reply = await world.type(line);
    expect(reply.tone).toBe('error');
    expect(reply.text).toContain(reason);
  });

  it('runs only for those who may use it', async () => {
    await using world = await open([poll, close]);
    expect((await world.type('/poll close 7')).text).toBe('/poll close is for the people who manage this place.');
    expect((await world.type('/poll close -7', { rights: 'moderator' })).text).toBe('Closed -6.');
    expect((await world.type('/poll close 0', { rights: 'moderator' })).text).toBe('Closed 1.');
  });

  it('gets what a platform sends only as described', async () => {
    await using world = await open([poll, close, names]);
    const ran = (path: readonly string[], options: Record<string, string>) =>
      world.type('/names', { path, options, rights: 'moderator' });
    expect((await ran(['poll', 'start'], { question: 'Tea?', color: 'red', days: '14' })).tone).toBe('info');
    expect((await ran(['names'], { page: ' ' })).page?.number).toBe(1);
    expect((await ran(['poll', 'close'], { id: ' ' })).text).toContain('id is missing');
    expect((await ran(['names'], { bogus: '1' })).text).toContain('there is no option "bogus"');
    expect((await ran(['poll', 'close', 'now'], { id: '1' })).text).toContain('there is no "close now"');
    expect((await ran(['memory'], {})).title).toBe('Memory');
  });

  it('of operators neither runs nor completes for others', async () => {
    const run = () => 'Restarted.';
    const shape = { options: z.object({ host: z.string() }), suggest: { host: () => ['alpha'] } };
    const restart = defineCommand({ name: 'restart', description: 'Restart', access: 'operator', ...shape, run });
    await using world = await open([restart]);
    const asked = {
      conversation: world.place,
      audience: 'public',
      author: ADA,
      path: ['restart'],
      options: {},
    } as const;
    for (const rights of ['member', 'moderator', 'operator'] as const) {
      const may = rights === 'operator';
      const expected = may ? 'Restarted.' : '/restart is for the operators of the bot.';
      expect((await world.type('/restart alpha', { rights })).text, rights).toBe(expected);
      const found = await world.bot.commands.suggest({ ...asked, rights }, 'host');
      expect(
        found.map(({ value }) => value),
        rights,
      ).toEqual(may ? ['alpha'] : []);
    }
  });

  it.each([true, false])('says itself who sees an answer, as otherwise: %s', async (ephemeral) => {
    const vote = defineCommand({
      name: 'vote',
      description: 'Vote',
      ephemeral,
      options: z.object({ choice: z.string() }),
      run: ({ choice }) => (choice === 'none' ? { text: 'Choose one.', ephemeral: !ephemeral } : 'Counted.'),
    });
    await using world = await open([vote]);
    expect((await world.type('/vote none')).ephemeral).toBe(!ephemeral);
    expect((await world.type('/vote tea')).ephemeral).toBe(ephemeral);
  });

  it('shows no control characters in any part', async () => {
    const beep = defineCommand({
      name: 'beep',
      description: 'Beep',
      run: () => ({
        title: 'title\u0007',
        text: 'text\u0007',
        fields: [{ name: 'name\u0007', value: 'value\u0007' }],
        rows: { columns: ['column\u0007'], cells: [['cell\u0007']] },
        buttons: [{ label: 'label\u0007', command: 'help' }],
        file: { name: 'file\u0007.txt', text: 'content\u0007' },
      }),
    });
    await using world = await open([beep]);
    const shown = JSON.stringify(await world.type('/beep'));
    for (const word of ['title', 'text', 'name', 'value', 'column', 'cell', 'label', 'file', 'content']) {
      expect(shown).toContain(word);
    }
    expect(shown).not.toContain('\\u0007');
  });

  it('shows its rows in pages', async () => {
    await using world = await open([names]);
    const first = await world.type('/names');
    expect(first.rows?.cells).toHaveLength(8);
    expect(first.page).toMatchObject({ number: 1, of: 3, next: { path: ['names'], options: { page: '2' } } });
    expect((await world.type('/names 3')).rows?.cells).toEqual([['n17'], ['n18'], ['n19'], ['n20']]);
    expect((await world.type('/names 4')).text).toContain('There is no page');
  });

  it('completes its options', async () => {
    await using world = await open([poll]);
    const base = { conversation: world.place, audience: 'dm', author: { id: 'a', name: 'A', kind: 'person' } } as const;
    const asked = { ...base, rights: 'member', path: ['poll', 'start'], options: { question: 'milk' } } as const;
    expect(await world.bot.commands.suggest(asked, 'question')).toEqual([{ label: 'Milk', value: 'Who brings milk?' }]);
  });

  it('is listed and explained by help', async () => {
    await using world = await open([poll, close, names]);
    const shown = { name: '/poll', value: expect.stringContaining('\nstart, close') };
    expect((await world.type('/help')).fields).toContainEqual(shown);
    const { fields } = await world.type('/help poll');
    expect(fields.map(({ name }) => name)).toEqual([
      '/poll start <question> <color> [days] [open]',
      '/poll close <id>',
    ]);
    expect(fields[1]?.value).toContain('(moderators; anyone in a direct message)');
  });
});

describe('a command that fails', () => {
  const broken = (run: () => never) => [{ name: 'broken', description: 'Fails', run }];

  it('is answered and logged, without its message', async () => {
    const lines: unknown[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (...line: unknown[]) => void lines.push(line) };
    const run = () => {
      throw new Error('key 4711 refused');
    };
    await using world = await open(broken(run), { log });
    const reply = await world.type('/broken');
    expect(reply).toMatchObject({ tone: 'error', ephemeral: true });
    expect(reply.text).toContain('the cause is in the log');
    expect(reply.text).not.toContain('4711');
    expect(lines).toContainEqual(['A command failed', expect.objectContaining({ cause: 'key 4711 refused' })]);
    expect((await world.type('/status')).tone).toBe('info');
  });

  it.each([
    42,
    { text: 'ok', buttons: [{ label: 'Go', command: 'nowhere' }] },
    { txt: 'ok' },
    { text: 'ok', tone: 'loud' },
  ])('answering %j is an internal error', async (answer: unknown) => {
    const wrong = JSON.parse(JSON.stringify(answer));
    await using world = await open([{ name: 'wrong', description: 'Answers badly', run: () => wrong }], {
      log: silentLog,
    });
    expect((await world.type('/wrong')).tone).toBe('error');
  });

  it('that hangs is answered, and its signal aborts', async () => {
    const clock = createSystemClock();
    let aborted: AbortSignal | null = null;
    const hanging = defineCommand({
      name: 'hang',
      description: 'Hangs',
      run: (_options, { signal }) => {
        aborted = signal;
        return new Promise<never>(() => undefined);
      },
    });
    // A minute passes at once; nothing else in this test waits that long.
    const sleep: typeof clock.sleep = (ms, options) => (ms === 60_000 ? Promise.resolve() : clock.sleep(ms, options));
    await using world = await open([hanging], { log: silentLog, clock: { ...clock, sleep } });
    expect((await world.type('/hang')).text).toBe('The command did not finish within 60 seconds.');
    expect(aborted).toMatchObject({ aborted: true });
  });
});

describe('a definition', () => {
  const run = () => 'ok';
  it.each([
    [{ name: 'Poll', description: 'x', run }, 'lower-case letters'],
    [{ name: 'poll start now', description: 'x', run }, 'one or two words'],
    [{ name: 'poll', description: '', run }, 'description: expected a text'],
    [{ name: 'poll', description: 'x', options: z.object({ 'my-id': z.string() }), run }, 'the option "my-id"'],
    [{ name: 'poll', description: 'x', options: z.object({ at: z.date() }), run }, 'strings, whole numbers, booleans'],
    [{ name: 'poll', description: 'x', options: z.object({ share: z.number() }), run }, 'whole numbers'],
    [{ name: 'poll', description: 'x', form: ['nothing'], run }, 'there is no option "nothing"'],
    [
      { name: 'poll', description: 'x', options: z.object({ a: z.string().optional() }), form: ['a'], run },
      'the form asks for "a", which is not required',
    ],
    [
      { name: 'poll', description: 'x', options: z.object({}), form: ['a', 'b', 'c', 'd', 'e', 'f'], run },
      'form: expected at most 5 options',
    ],
  ])('%j is refused', (definition, problem) => {
    // As a program in JavaScript gives it.
    const wrong: CommandDefinition = Object.assign({ name: '', description: '', run }, definition);
    const use = async () => {
      await using _world = await open([defineCommand(wrong)]);
    };
    return expect(use()).rejects.toMatchObject({ code: 'COMMAND_INVALID', message: expect.stringContaining(problem) });
  });

  it.each([
    ['help', ['help']],
    ['poll', ['poll start', 'poll start']],
    ['poll', ['poll', 'poll start']],
  ])('is refused where "%s" is named twice', (command, names) => {
    const commands = names.map((name) => ({ name, description: 'x', run }));
    const use = async () => {
      await using _world = await open(commands);
    };
    return expect(use()).rejects.toMatchObject({ code: 'COMMAND_DUPLICATE', data: { command } });
  });
});
