import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createTerminalChannel, type TerminalChannel } from '../../../adapters/channels/terminal/index.ts';
import {
  builtInSpecs,
  type ChannelSink,
  type CommandInvocation,
  type CommandReply,
  type InboundMessage,
  makeReply,
  type Notice,
  type Notices,
  parseKey,
} from '../../../src/adapter-kit.ts';
import { keptConversations } from '../../fixtures/channel-kit.ts';

/** A bot that answers by echo, after a while, the way the outbox does: receipt first, post later. */
function echoBot(
  channel: () => TerminalChannel,
  options: { readonly delayMs?: number; readonly silent?: boolean } = {},
) {
  const messages: InboundMessage[] = [];
  const commands: CommandInvocation[] = [];
  const answer = async (message: InboundMessage): Promise<void> => {
    const { conversation } = message;
    channel().show(conversation, { kind: 'working' });
    await delay(options.delayMs ?? 1);
    const whole = `You said ${message.text}`;
    channel().show(conversation, { kind: 'draft', text: whole.slice(0, 5) });
    channel().show(conversation, { kind: 'draft', text: whole.slice(0, 9) });
    const post = { conversation, nonce: message.externalId, body: { kind: 'text', text: whole }, attempt: 1 } as const;
    await channel().post({ ...post, replyTo: message.externalId }, { signal: new AbortController().signal });
    channel().show(conversation, { kind: 'idle' });
  };
  const sink: ChannelSink = {
    async message(message) {
      messages.push(message);
      if (message.text === 'fail') throw new Error('the disk is full');
      const willReply = options.silent !== true && (message.audience === 'dm' || message.addressesBot);
      if (willReply) void answer(message);
      return { stored: true, willReply };
    },
    async command(invocation): Promise<CommandReply> {
      commands.push(invocation);
      await delay(options.delayMs ?? 1);
      const rows = invocation.path.join(' ') === 'memory search' ? ROWS : null;
      return {
        ...bareReply,
        title: `Ran ${invocation.path.join(' ')}`,
        text: JSON.stringify(invocation.options),
        rows,
      };
    },
    suggest: async (_invocation, option) => [
      { label: option, value: '01abc' },
      { label: option, value: '02abc' },
    ],
    edited: async () => undefined,
    removed: async () => undefined,
    audienceChanged: async () => undefined,
    left: async () => undefined,
    commandSpecs: builtInSpecs,
    conversations: keptConversations(() => new Map()),
    dropped: () => undefined,
    catchingUp: () => ({ applied: () => undefined, end: () => undefined }),
  };
  return { sink, messages, commands };
}

const bareReply = makeReply('');
const ROWS = {
  columns: ['ID', 'WHAT'],
  cells: [
    ['01first', 'tea'],
    ['02second', 'milk'],
  ],
};

interface OpenOptions {
  readonly isTTY?: boolean;
  readonly delayMs?: number;
  readonly silent?: boolean;
  readonly columns?: number;
  readonly notices?: Notices;
}

function open(options: OpenOptions = {}) {
  const [input, errors] = [new PassThrough(), new PassThrough()];
  let written = '';
  const output = new PassThrough({
    transform(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done(null, chunk);
    },
  });
  const showing = async (words: string) => {
    while (!visible(written).includes(words)) await delay(5);
  };
  Object.assign(output, { columns: options.columns ?? 80 });
  let id = 0;
  const channel = createTerminalChannel({
    input,
    output,
    errors,
    isTTY: options.isTTY ?? false,
    color: false,
    user: 'Ada',
    ...(options.notices === undefined ? {} : { notices: options.notices }),
    now: () => 1000,
    newId: () => {
      id += 1;
      return `id-${id}`;
    },
  });
  const bot = echoBot(() => channel, options);
  const ended = async () => {
    const end = await channel.ended;
    await channel.stop();
    output.end();
    errors.end();
    return { ...end, output: await text(output), errors: await text(errors) };
  };
  return { channel, input, output, showing, ...bot, ended };
}

describe('piped input', () => {
  test('answers each line before the next, until input ends', async () => {
    const terminal = open({ delayMs: 20 });
    await terminal.channel.start(terminal.sink);
    terminal.input.end('one\n/memory list\ntwo\n/context');
    const { output, errors, failures } = await terminal.ended();
    expect(output).toBe('You said one\n\nRan memory list: {}\n\nYou said two\n\nRan context list: {}\n');
    expect(errors).toBe('');
    expect(failures).toBe(0);
  });

  test('a message has author, place, time and id', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('hello\nagain\n');
    await terminal.ended();
    expect(terminal.messages).toMatchObject([
      {
        conversation: 'terminal:local:main',
        externalId: 'id-1',
        author: { id: 'local', name: 'Ada', kind: 'person' },
        audience: 'dm',
        addressesBot: true,
        at: 1000,
      },
      { externalId: 'id-2' },
    ]);
  });

  test('runs typed commands as the operator', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('/memory search black tea\n');
    await terminal.ended();
    expect(terminal.commands).toMatchObject([
      { path: ['memory', 'search'], options: { query: 'black tea' }, rights: 'operator', audience: 'dm' },
    ]);
  });

  test('joins a line from pieces, whatever the line ends', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    const bytes = Buffer.from('grüß 你好 🎉\r\n\n   \nlast');
    for (const byte of bytes) terminal.input.write(Buffer.from([byte]));
    terminal.input.end();
    const { output } = await terminal.ended();
    expect(output).toBe('You said grüß 你好 🎉\n\nYou said last\n');
  });

  test('an unknown command is answered in place', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('/memroy\nhi\n');
    const { output } = await terminal.ended();
    expect(output).toBe(
      'That did not work: There is no command /memroy. Did you mean /memory? /help lists them.\n\nYou said hi\n',
    );
  });

  test('refuses a 10 MB line and invalid UTF-8, serving others', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.write('one\n');
    for (let index = 0; index < 160; index += 1) terminal.input.write('x'.repeat(65_536));
    terminal.input.write('\n');
    terminal.input.write(Buffer.from([0x68, 0xff, 0xfe, 0x0a]));
    terminal.input.end('two\n');
    const { output, errors, failures } = await terminal.ended();
    expect(output).toBe('You said one\n\nYou said two\n');
    expect(errors).toBe(
      'Line 2 was not sent: it is 10.5 MB long, the limit is 1.0 MB. The other lines are processed.\n' +
        'Line 3 was not sent: it is not valid UTF-8. The other lines are processed.\n',
    );
    expect(failures).toBe(2);
    expect(terminal.messages.map((message) => message.text)).toEqual(['one', 'two']);
  });

  test('reports a message that cannot be stored as a failure', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('fail\nhi\n');
    const { output, errors, failures } = await terminal.ended();
    expect(errors).toBe('Not sent: the disk is full\n');
    expect(output).toBe('You said hi\n');
    expect(failures).toBe(1);
  });

  test('/quit leaves the rest unread', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.write('one\n/quit\nnever\n');
    const { output } = await terminal.ended();
    expect(output).toBe('You said one\n');
    expect(terminal.messages).toHaveLength(1);
  });

  test('a stop while a reply is owed does not hang', async () => {
    const terminal = open({ delayMs: 60_000 });
    await terminal.channel.start(terminal.sink);
    terminal.input.write('one\n');
    await delay(20);
    await terminal.channel.stop();
    expect(await terminal.channel.ended).toEqual({ failures: 0 });
  });

  test('a bot that listens is not waited for', async () => {
    const terminal = open({ silent: true });
    await terminal.channel.start(terminal.sink);
    terminal.input.end('one\ntwo\n');
    const { output } = await terminal.ended();
    expect(output).toBe('');
    expect(terminal.messages).toHaveLength(2);
  });

  test('the bot’s text cannot control the terminal', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('\u001b[31mred\u001b[0m \u001b]0;title\u0007bell\u0007 \u009b2Jclear\u202e\n');
    const { output } = await terminal.ended();
    expect(output).toBe('You said red bell clear\n');
  });

  test('/demo plays several people in its own conversation', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('mine\n/demo\n/status\n/main\nback\n');
    const { output, failures } = await terminal.ended();
    expect(failures).toBe(0);
    const demo = terminal.messages.filter((message) => message.conversation === 'terminal:local:demo-19700101-000001');
    expect(demo.length).toBeGreaterThanOrEqual(55);
    expect(new Set(demo.map((message) => message.author.name)).size).toBe(4);
    expect(new Set(demo.map((message) => message.externalId)).size).toBe(demo.length);
    expect(demo.every((message) => message.audience === 'private' && message.text.length < 200)).toBe(true);
    expect(demo.filter((message) => message.addressesBot).length).toBeGreaterThanOrEqual(5);
    expect(output).toContain('Ada: Hello everyone!');
    expect(output).toContain('Strata: You said Strata, what does Ada prefer to drink?');
    expect(terminal.commands).toMatchObject([
      { path: ['status'], conversation: 'terminal:local:demo-19700101-000001' },
    ]);
    expect(terminal.messages.at(-1)).toMatchObject({ text: 'back', conversation: 'terminal:local:main' });
  });

  test('each demo has its conversation and ends with suggestions', async () => {
    const listeners: ((notice: Notice) => void)[] = [];
    const terminal = open({ notices: { listen: (listener) => void listeners.push(listener) } });
    await terminal.channel.start(terminal.sink);
    const tell = (kind: Notice['kind'], conversation: string, text: string) => {
      for (const listener of listeners) listener({ kind, text, conversation: parseKey(conversation).key });
    };
    tell('progress', 'terminal:local:main', '↳ not shown');
    tell('trouble', 'terminal:local:main', 'The reply failed: no key');
    terminal.input.write('/demo\n');
    await vi.waitFor(() => expect(terminal.messages.length).toBeGreaterThan(2), 5000);
    tell('progress', 'terminal:local:demo-19700101-000001', '↳ #1–#19 → summary');
    terminal.input.end('/demo\n');
    const { errors } = await terminal.ended();
    expect([...new Set(terminal.messages.map(({ conversation }) => conversation))]).toEqual([
      'terminal:local:demo-19700101-000001',
      'terminal:local:demo-19700101-000001-2',
    ]);
    expect(errors).toContain('The reply failed: no key\n');
    expect(errors).toContain('↳ #1–#19 → summary\n');
    expect(errors).not.toContain('not shown');
    expect(errors.match(/The demo is over.*\n\/summaries list/g)).toHaveLength(2);
  });

  test('rows of the last list are named by their numbers', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('/memory show #1\n/memory search x\n/memory show #2\n/memory forget #9\n');
    await terminal.ended();
    const ids = terminal.commands.map(({ options }) => options['id']);
    expect(ids).toEqual(['#1', undefined, '02second', '#9']);
  });

  test('/help also names what only the terminal knows', async () => {
    const terminal = open();
    await terminal.channel.start(terminal.sink);
    terminal.input.end('/help\n');
    const { output } = await terminal.ended();
    expect(output).toContain('Ran help');
    expect(output).toContain('/quit');
  });
});

/** The final screen: carriage returns, erasures and cursor moves applied line by line. */
function visible(output: string): string {
  const lines = [''];
  let row = 0;
  let column = 0;
  const rest = output.replaceAll(/\p{Cc}\[\?2004[hl]/gu, '').matchAll(/\p{Cc}\[(\d*)([A-Za-z])|\r|\n|[^\p{Cc}]/gu);
  for (const [token, count, command] of rest) {
    const steps = Number(count === '' || count === undefined ? 1 : count);
    if (token === '\r') column = 0;
    else if (token === '\n') {
      row += 1;
      column = 0;
    } else if (command === 'A') row = Math.max(0, row - steps);
    else if (command === 'G') column = steps - 1;
    else if (command === 'C') column += steps;
    else if (command === 'D') column = Math.max(0, column - steps);
    else if (command === 'J') lines.splice(row, lines.length, (lines[row] ?? '').slice(0, column));
    else if (command === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
    else if (command === undefined) {
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + token + line.slice(column + 1);
      column += 1;
    }
    while (lines.length <= row) lines.push('');
  }
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}

describe('at a terminal', () => {
  test('drafts grow, the final text shows once, the prompt returns', async () => {
    const terminal = open({ isTTY: true, delayMs: 5 });
    await terminal.channel.start(terminal.sink);
    terminal.input.write('hello\r');
    await terminal.showing('You said hello\n');
    terminal.input.write('/memory list\r');
    await terminal.showing('Ran memory list: {}');
    terminal.input.write('\u0004');
    const { output } = await terminal.ended();
    const screen = visible(output);
    expect(screen).toContain('> hello\nStrata: You said hello\n');
    expect(screen).toContain('Ran memory list: {}');
    expect(screen.match(/You said hello/g)).toHaveLength(1);
  });

  test('keeps typing apart from a streaming reply', async () => {
    const terminal = open({ isTTY: true, silent: true });
    await terminal.channel.start(terminal.sink);
    const conversation = 'terminal:local:main' as InboundMessage['conversation'];
    terminal.channel.show(conversation, { kind: 'draft', text: 'The answer ' });
    terminal.input.write('next');
    await delay(10);
    terminal.channel.show(conversation, { kind: 'draft', text: 'The answer is 42' });
    const post = { conversation, nonce: 'n', attempt: 1, replyTo: null } as const;
    const signal = new AbortController().signal;
    await terminal.channel.post({ ...post, body: { kind: 'text', text: 'The answer is 42.' } }, { signal });
    await delay(10);
    terminal.input.write(' question\r');
    await delay(10);
    terminal.input.write('\u0004');
    const { output } = await terminal.ended();
    expect(visible(output)).toContain('Strata: The answer is 42.\n> next question');
    expect(terminal.messages.map((message) => message.text)).toEqual(['next question']);
  });

  test('shows tool steps below each other, the last once', async () => {
    const terminal = open({ isTTY: true, silent: true });
    await terminal.channel.start(terminal.sink);
    const conversation = 'terminal:local:main' as InboundMessage['conversation'];
    for (const draft of ['Let me', 'Let me look.', 'It', 'It is noon']) {
      terminal.channel.show(conversation, { kind: 'draft', text: draft });
    }
    const post = { conversation, nonce: 'n', attempt: 1, replyTo: null } as const;
    const signal = new AbortController().signal;
    await terminal.channel.post({ ...post, body: { kind: 'text', text: 'It is noon.' } }, { signal });
    terminal.input.write('\u0004');
    const { output } = await terminal.ended();
    expect(visible(output)).toContain('Strata: Let me look.\nIt is noon.');
    expect(visible(output).match(/It is noon/g)).toHaveLength(1);
  });

  test('prints the whole final text after a contradicting draft', async () => {
    const terminal = open({ isTTY: true, silent: true });
    await terminal.channel.start(terminal.sink);
    const conversation = 'terminal:local:main' as InboundMessage['conversation'];
    terminal.channel.show(conversation, { kind: 'draft', text: 'Half an ans' });
    const post = { conversation, nonce: 'n', attempt: 1, replyTo: null } as const;
    const signal = new AbortController().signal;
    await terminal.channel.post({ ...post, body: { kind: 'text', text: 'The model failed.' } }, { signal });
    terminal.input.write('\u0004');
    const { output } = await terminal.ended();
    expect(visible(output)).toContain('Strata: Half an ans\nThe model failed.');
  });

  test('Ctrl-C and /quit end the session', async () => {
    for (const keys of ['\u0003', '/quit\r']) {
      const terminal = open({ isTTY: true });
      await terminal.channel.start(terminal.sink);
      terminal.input.write(keys);
      expect(await terminal.channel.ended).toEqual({ failures: 0 });
    }
  });

  test('Tab completes a command', async () => {
    const terminal = open({ isTTY: true });
    await terminal.channel.start(terminal.sink);
    terminal.input.write('/memory exp\t');
    await delay(20);
    terminal.input.write('\r');
    await delay(20);
    terminal.input.write('\u0004');
    await terminal.ended();
    expect(terminal.commands.map((command) => command.path)).toEqual([['memory', 'export']]);
  });

  const type = async (terminal: ReturnType<typeof open>, ...keys: readonly string[]) => {
    for (const key of keys) {
      terminal.input.write(key);
      await delay(30);
    }
  };

  test('shows a line sent during a reply below it', async () => {
    const terminal = open({ isTTY: true, silent: true });
    await terminal.channel.start(terminal.sink);
    const conversation = parseKey('terminal:local:main').key;
    terminal.channel.show(conversation, { kind: 'draft', text: 'The answer ' });
    await type(terminal, 'next question\r');
    const post = { conversation, nonce: 'n', attempt: 1, replyTo: null } as const;
    const signal = new AbortController().signal;
    await terminal.channel.post({ ...post, body: { kind: 'text', text: 'The answer is 42.' } }, { signal });
    await type(terminal, '\u0004');
    const { output } = await terminal.ended();
    expect(visible(output)).toContain('Strata: The answer is 42.\n> next question');
    expect(terminal.messages.map((message) => message.text)).toEqual(['next question']);
  });

  test('holds other output until a growing reply ends', async () => {
    const terminal = open({ isTTY: true, silent: true });
    await terminal.channel.start(terminal.sink);
    const conversation = parseKey('terminal:local:main').key;
    terminal.channel.show(conversation, { kind: 'draft', text: 'The answer is' });
    await type(terminal, '/memory list\r');
    terminal.channel.show(conversation, { kind: 'draft', text: 'The answer is 42.' });
    const post = { conversation, nonce: 'n', attempt: 1, replyTo: null } as const;
    const signal = new AbortController().signal;
    await terminal.channel.post({ ...post, body: { kind: 'text', text: 'The answer is 42.' } }, { signal });
    await type(terminal, '\u0004');
    const screen = visible((await terminal.ended()).output);
    expect(screen.match(/The answer is/g)).toHaveLength(1);
    expect(screen.indexOf('Ran memory list')).toBeGreaterThan(screen.indexOf('42.'));
  });

  test('a paste of several lines is one message', async () => {
    const terminal = open({ isTTY: true });
    await terminal.channel.start(terminal.sink);
    const bytes = Buffer.from('say \u001b[200~one\r\ntwo 你\u001b[31m\nthree\n\u001b[201~!\r');
    for (const byte of bytes) terminal.input.write(Buffer.from([byte]));
    await delay(80);
    await type(terminal, '\u0004');
    const { output } = await terminal.ended();
    expect(terminal.messages.map((message) => message.text)).toEqual(['say one\ntwo 你\nthree!']);
    expect(visible(output)).toContain('> say one⏎two 你⏎three');
    expect(output.startsWith('\u001b[?2004h')).toBe(true);
    expect(output).toContain('\u001b[?2004l');
  });

  test('refuses an oversized paste and serves the next line', async () => {
    const terminal = open({ isTTY: true });
    await terminal.channel.start(terminal.sink);
    terminal.input.write(`\u001b[200~${'x'.repeat(600_000)}`);
    terminal.input.write(`${'y'.repeat(600_000)}\u001b[201~`);
    await type(terminal, 'hello\r', '\u0004');
    const { output } = await terminal.ended();
    expect(visible(output)).toContain('Not sent: the pasted text is longer than 1 MB.');
    expect(terminal.messages.map((message) => message.text)).toEqual(['hello']);
  });

  test('Ctrl-C clears the input, and ends on an empty line', async () => {
    const terminal = open({ isTTY: true });
    await terminal.channel.start(terminal.sink);
    await type(terminal, 'a slip', '\u0003', 'meant\r', '\u0003');
    await terminal.ended();
    expect(terminal.messages.map((message) => message.text)).toEqual(['meant']);
  });

  test('Tab completes ids as well as commands', async () => {
    const terminal = open({ isTTY: true });
    await terminal.channel.start(terminal.sink);
    await type(terminal, '/memory fo\t', ' 02\t', '\r', '\u0004');
    await terminal.ended();
    expect(terminal.commands).toMatchObject([{ path: ['memory', 'forget'], options: { id: '02abc' } }]);
  });

  test('a row number typed early waits for its list', async () => {
    const terminal = open({ isTTY: true, delayMs: 200 });
    await terminal.channel.start(terminal.sink);
    await type(terminal, '/memory search x\r', '/memory show #2\r');
    await terminal.showing('02second"}');
    await type(terminal, '\u0004');
    await terminal.ended();
    expect(terminal.commands.map(({ options }) => options['id'])).toEqual([undefined, '02second']);
  });

  test('lists and help keep their columns in any width', async () => {
    for (const width of [20, 40, 80]) {
      const terminal = open({ isTTY: true, columns: width });
      await terminal.channel.start(terminal.sink);
      await type(terminal, '/memory search tea\r');
      await type(terminal, '/help\r');
      await type(terminal, '\u0004');
      const { output } = await terminal.ended();
      const rows = visible(output).split('\n');
      expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(width);
      expect(rows).toContain('#2  02second  milk');
      const [beside, below] = ['/quit  End the program, like Ctrl-D', '/quit\n  End the program,\n  like Ctrl-D'];
      expect(rows.join('\n')).toContain(width === 20 ? below : beside);
    }
  });

  test('replies break between words, streamed or not', async () => {
    for (const width of [20, 33, 80]) {
      const terminal = open({ isTTY: true, silent: true, columns: width });
      await terminal.channel.start(terminal.sink);
      const conversation = parseKey('terminal:local:main').key;
      const words = 'The quick brown fox jumps over the lazy dog and sleeps';
      for (let end = 3; end <= words.length; end += 5) {
        terminal.channel.show(conversation, { kind: 'draft', text: words.slice(0, end) });
      }
      const post = { conversation, nonce: 'n', attempt: 1, replyTo: null } as const;
      const signal = new AbortController().signal;
      await terminal.channel.post({ ...post, body: { kind: 'text', text: words } }, { signal });
      await terminal.channel.post({ ...post, body: { kind: 'text', text: words } }, { signal });
      await type(terminal, '\u0004');
      const rows = visible((await terminal.ended()).output).split('\n');
      expect(rows.every((row) => row.length <= width)).toBe(true);
      const said = rows.filter((row) => !row.startsWith('>')).join(' ');
      expect(said).toBe(`Strata: ${words} Strata: ${words}`);
    }
  });
});
