import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { actionOf, asksConfirmation } from '../../../src/commands/actions.ts';
import { builtInSpecs } from '../../../src/commands/built-in/built-in-commands.ts';
import { formatCommand, isCommandLine, parseCommandLine, readCommandLine } from '../../../src/commands/lines/parse.ts';
import { usageOf } from '../../../src/commands/spec.ts';

const parse = (line: string) => parseCommandLine(line, builtInSpecs);
const refusal = (line: string): string => {
  const read = readCommandLine(line, { specs: builtInSpecs });
  return read.kind === 'refused' ? read.reply.text : `accepted ${JSON.stringify(read.command)}`;
};

describe('the line of a command', () => {
  test.each([
    ['/help', ['help'], {}],
    ['  /HELP  ', ['help'], {}],
    ['/status', ['status'], {}],
    ['/context', ['context', 'list'], {}],
    ['/why 12', ['why', 'show'], { message: '12' }],
    ['/why #12', ['why', 'show'], { message: '#12' }],
    ['/summaries 2', ['summaries', 'list'], { page: '2' }],
    ['/context detail persona', ['context', 'detail'], { key: 'persona' }],
    ['/context detail persona 2', ['context', 'detail'], { key: 'persona', page: '2' }],
    ['/context detail page=2 persona', ['context', 'detail'], { key: 'persona', page: '2' }],
    ['/memory', ['memory', 'list'], {}],
    ['/memory list fact', ['memory', 'list'], { kind: 'fact' }],
    ['/memory list 2', ['memory', 'list'], { page: '2' }],
    ['/memory list Ada fact', ['memory', 'list'], { about: 'Ada', kind: 'fact' }],
    ['/memory list about="Ada Lovelace" page=3', ['memory', 'list'], { about: 'Ada Lovelace', page: '3' }],
    ['/memory search tea and  "black" coffee', ['memory', 'search'], { query: 'tea and  "black" coffee' }],
    ['/memory search page=2 tea time', ['memory', 'search'], { query: 'tea time', page: '2' }],
    ['/memory search "page=2 of the plan"', ['memory', 'search'], { query: 'page=2 of the plan' }],
    ["/memory search I don't know", ['memory', 'search'], { query: "I don't know" }],
    ['/memory search “curly quotes”', ['memory', 'search'], { query: 'curly quotes' }],
    ['/memory edit id=„01 ab“ „Es war Montag“', ['memory', 'edit'], { id: '01 ab', text: 'Es war Montag' }],
    ['/memory list about=„Ada Lovelace” 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=»Ada Lovelace« 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=« Ada Lovelace » 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=”Ada Lovelace” 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=‚Ada Lovelace‘ 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=’s-Hertogenbosch', ['memory', 'list'], { about: '’s-Hertogenbosch' }],
    ['/memory LIST', ['memory', 'list'], {}],
    ['/memory list about=‹ Ada Lovelace › 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=‹Ada Lovelace› 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=「Ada Lovelace」 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=『Ada Lovelace』 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory list about=＂Ada Lovelace＂ 2', ['memory', 'list'], { about: 'Ada Lovelace', page: '2' }],
    ['/memory search „one“ or “two”', ['memory', 'search'], { query: '„one“ or “two”' }],
    ['/memory edit 01ab It was\nMonday', ['memory', 'edit'], { id: '01ab', text: 'It was\nMonday' }],
    ['/memory edit "01 ab" \'said "no"\'', ['memory', 'edit'], { id: '01 ab', text: 'said "no"' }],
    ['/compact', ['compact'], {}],
    ['/compact keep the prices in euros', ['compact'], { instruction: 'keep the prices in euros' }],
    ['/transcript search 你好 🎉', ['transcript', 'search'], { query: '你好 🎉' }],
    ['/privacy pause', ['privacy', 'pause'], {}],
  ])('%s', (line, path, options) => {
    expect(parse(line)).toEqual({ path, options });
  });

  test.each([
    ['/memroy list', 'Did you mean /memory?'],
    ['/stats', 'Did you mean /status?'],
    ['/xyzzyxyzzy', 'There is no command /xyzzyxyzzy. /help lists them.'],
    ['/memory shwo 1', 'did you mean "show"'],
    ['/memory show', 'id is missing'],
    ['/memory show " "', 'id is missing'],
    ['/memory list kind=zzzzzz', 'not "zzzzzz". Usage'],
    ['/memory list kind=preferense', 'Did you mean preference?'],
    ['/memory list page=0', 'page must be a whole number of at least 1, not "0"'],
    ['/memory list page=-1', 'page must be a whole number'],
    ['/memory search "open', 'accepted'],
    ['/memory show "open', 'the quote " is not closed'],
    ['/status now', '"now" is unexpected'],
    ['/transcript', 'query is missing'],
  ])('%s says what is wrong', (line, sentence) => {
    expect(refusal(line)).toContain(sentence);
  });

  test('a refusal repeats little of what is typed', () => {
    const long = 'x9'.repeat(200);
    for (const line of [`/${long}`, `/memory ${long}`, `/memory list page=${long}`, `/memory list kind=${long}`]) {
      expect(refusal(line)).toContain(long.slice(0, 40));
      expect(refusal(line)).not.toContain(long.slice(0, 41));
    }
  });

  test('a refusal shows how the command is used', () => {
    expect(refusal('/memory edit')).toContain('Usage: /memory edit <id> <text>');
  });

  test('what a form can ask for may be missing', () => {
    expect(parse('/memory edit 01ab')).toEqual({ path: ['memory', 'edit'], options: { id: '01ab' } });
  });

  test('only a slash and a word are a command', () => {
    expect(['/help', ' /memory list', '/Status'].every(isCommandLine)).toBe(true);
    expect(['hello', '/', '/ help', '/usr/bin', '//x', '/1', 'say /help', ''].some(isCommandLine)).toBe(false);
  });

  test('a very long line is read in no time', () => {
    const query = 'word '.repeat(200_000).trim();
    const startedAt = performance.now();
    expect(parse(`/memory search ${query}`).options['query']).toBe(query);
    expect(refusal(`/${'x'.repeat(1_000_000)}`)).toContain('There is no command');
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  test('reads back what it formats, whatever the values', () => {
    const actions = builtInSpecs.flatMap((command) => command.actions.map((action) => ({ command, action })));
    const invocation = fc.constantFrom(...actions).chain(({ command, action }) =>
      fc
        .record(
          Object.fromEntries(
            action.options.map((option) => [
              option.name,
              option.kind === 'integer'
                ? fc.integer({ min: 1, max: 99_999 }).map(String)
                : option.kind === 'choice'
                  ? fc.constantFrom(...option.choices)
                  : fc
                      .oneof(
                        fc.string({ unit: 'grapheme' }),
                        fc.string({
                          unit: fc.constantFrom('"', "'", '\\', ' ', '=', 'page', '“', '„', '»', '\n', 'a'),
                        }),
                      )
                      .filter((value) => value.trim() !== ''),
            ]),
          ),
          { requiredKeys: action.options.filter((option) => option.required).map((option) => option.name) },
        )
        .map((options) => ({
          path: action.name === '' ? [command.name] : [command.name, action.name],
          options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
        })),
    );
    fc.assert(
      fc.property(invocation, (command) => {
        expect(parse(formatCommand(command, builtInSpecs))).toEqual(command);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the specs', () => {
  test('give the usual action of a command alone', () => {
    expect(actionOf({ path: ['memory'] }, builtInSpecs)?.name).toBe('list');
    expect(actionOf({ path: ['memory', 'nothing'] }, builtInSpecs)).toBeNull();
    expect(asksConfirmation({ path: ['nothing'], options: {} }, builtInSpecs)).toBe(false);
  });

  test('fit the limits of Discord and Slack', () => {
    for (const command of builtInSpecs) {
      expect(command.name).toMatch(/^[a-z]{1,32}$/);
      expect(command.description.length).toBeLessThanOrEqual(100);
      expect(command.actions.length).toBeLessThanOrEqual(25);
      const isAlone = command.actions.length === 1 && command.actions[0]?.name === '';
      expect(isAlone || command.actions.every((action) => /^[a-z]{1,32}$/.test(action.name))).toBe(true);
      for (const action of command.actions) {
        expect(action.description.length).toBeLessThanOrEqual(100);
        const firstOptional = action.options.findIndex((option) => !option.required);
        expect(firstOptional === -1 || action.options.slice(firstOptional).every((option) => !option.required)).toBe(
          true,
        );
        expect(action.options.filter((option) => option.rest).length).toBeLessThanOrEqual(1);
        for (const option of action.options) {
          expect(option.name).toMatch(/^[a-z]{1,32}$/);
          expect(option.description.length).toBeLessThanOrEqual(100);
          expect(option.choices.length).toBeLessThanOrEqual(25);
          expect(option.kind === 'choice').toBe(option.choices.length > 0);
        }
      }
    }
  });

  test('name every command of the contract', () => {
    const usages = builtInSpecs.flatMap((command) => command.actions.map((action) => `/${usageOf(command, action)}`));
    for (const usage of [
      '/help [command]',
      '/status',
      '/context list [page]',
      '/context detail <key> [page]',
      '/context picture',
      '/why show [message] [page]',
      '/why changes [message] [page]',
      '/why detail <part> [message] [page]',
      '/compact [instruction]',
      '/summaries list [page]',
      '/summaries show <id> [page]',
      '/summaries open <id> [what] [page]',
      '/memory list [kind] [page] [about]',
      '/memory search <query> [page]',
      '/memory show <id>',
      '/memory why <id>',
      '/memory edit <id> <text>',
      '/memory pin <id>',
      '/memory forget <id> [confirm]',
      '/memory export [person]',
      '/transcript search <query> [page]',
      '/reset',
      '/privacy show',
      '/privacy pause',
      '/privacy resume',
    ]) {
      expect(usages).toContain(usage);
    }
  });
});
