import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import {
  type Channel,
  type ChannelAdapter,
  type ChannelSink,
  type ConversationKey,
  type Notice,
  type Notices,
  readLines,
  TERMINAL_HOME,
  type TerminalEnd,
  terminalStreams,
} from '../../../src/adapter-kit.ts';
import { completeLine } from './complete.ts';
import { createPrompt } from './prompt.ts';
import { createLiveScreen, createPlainScreen, type Screen } from './screen.ts';
import { createSession, type Session, type SessionOptions } from './session.ts';
import { createReplyWaits, type ReplyWaits } from './waits.ts';

/** The options of `createTerminalChannel`, which has a default for each. */
export interface TerminalOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** For notices about the session when output is piped. */
  readonly errors: Writable;
  /** In a terminal, lines are edited and replies stream; otherwise each line is answered before the next is read. */
  readonly isTTY: boolean;
  readonly color: boolean;
  /** The user's name in messages. Default `user`. */
  readonly user?: string;
  /** Default `terminal:local:main`. */
  readonly conversation?: ConversationKey;
  /** Notices shown next to the conversation: failures, and the progress of the demo. */
  readonly notices?: Notices;
  readonly now?: () => number;
  readonly newId?: () => string;
}

/** A channel that ends when its user leaves. */
export interface TerminalChannel extends Channel {
  /** Resolves when the user has left, or the input has ended and every line is answered. */
  readonly ended: Promise<TerminalEnd>;
}

const settings = z.strictObject({
  user: z.string().min(1).optional().describe('Your name in the terminal; the default is your login name'),
});

/** Opens the channel for an app, with the settings of `[channels.terminal]`. */
export const terminalAdapter: ChannelAdapter = {
  settings,
  async create(table, { terminal }) {
    const { user = terminal.user } = settings.parse(table);
    const { conversation, onEnd, ...streams } = terminal;
    const channel = createTerminalChannel({ ...streams, user, ...(conversation === null ? {} : { conversation }) });
    channel.ended.then(onEnd).catch(() => undefined);
    return channel;
  },
  check: async () => [],
  tasks: [],
};

const MAX_LINE_BYTES = 1_000_000;
const PLATFORM = 'terminal';

/** A conversation with a person at the keyboard, or with a pipe. Default: the streams of this process. */
export function createTerminalChannel(given: Partial<TerminalOptions> = {}): TerminalChannel {
  const options: TerminalOptions = { ...terminalStreams(), ...given };
  const ended = Promise.withResolvers<TerminalEnd>();
  const waits = createReplyWaits();
  let running: Running | null = null;

  return {
    platform: PLATFORM,
    traits: { idempotentPosts: false, ephemeral: true, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    ended: ended.promise,
    async start(sink) {
      const parts: Parts = { options, sink, waits, end: (failures) => ended.resolve({ failures }) };
      running = options.isTTY ? startLive(parts) : startPiped(parts);
      options.notices?.listen((notice) => running?.notice(notice));
    },
    split: (text) => [{ kind: 'text', text }],
    async post({ conversation, body, nonce, replyTo }) {
      running?.screen.reply(body.kind === 'file' ? `${body.name}\n${body.text}` : body.text);
      waits.answered({ conversation, replyTo });
      return { platformMessageId: `bot-${nonce}` };
    },
    show(conversation, activity) {
      if (activity.kind === 'draft') running?.screen.draft(activity.text);
      else if (activity.kind === 'working') {
        waits.working(conversation);
        running?.screen.working();
      } else {
        waits.idle(conversation);
        running?.screen.idle();
      }
    },
    async stop() {
      waits.release();
      running?.close();
    },
  };
}

interface Parts {
  readonly options: TerminalOptions;
  readonly sink: ChannelSink;
  readonly waits: ReplyWaits;
  readonly end: (failures: number) => void;
}

interface Running {
  readonly screen: Screen;
  notice(notice: Notice): void;
  close(): void;
}

/** Long enough for summaries to keep up on a busy machine. */
const PIPED_PAUSE_MS = 60;
const LIVE_PAUSE_MS = 250;

function startPiped({ options, sink, waits, end }: Parts): Running {
  const { input, output, errors } = options;
  const over = new AbortController();
  let refused = 0;
  const quit = () => {
    over.abort();
    input.destroy();
  };
  const screen = createPlainScreen({ output, errors, named: () => session.isCrowded });
  const own = { sink, screen, waits, quit, signal: over.signal, demoPauseMs: PIPED_PAUSE_MS, numbered: false };
  const session: Session = createSession({ ...sessionOptions(options), ...own });

  const read = async (): Promise<void> => {
    for await (const line of readLines(input, { maxBytes: MAX_LINE_BYTES })) {
      if (line.kind === 'line') await session.handle(line.text);
      else {
        refused += 1;
        screen.notice(`Line ${line.number} was not sent: it ${line.problem}. The other lines are processed.`);
      }
      if (over.signal.aborted) return;
    }
  };
  const finish = () => end(refused + session.failures);
  // Destroying the input ends the reading with an error that only means the end.
  read().then(finish, finish);
  return { screen, notice: session.notice, close: quit };
}

function startLive({ options, sink, waits, end }: Parts): Running {
  const { input, output, color } = options;
  const over = new AbortController();
  const prompt = createPrompt({
    input,
    output,
    maxLength: MAX_LINE_BYTES,
    complete: (line) => completeLine(line, { specs: sink.commandSpecs, suggest: session.suggest }),
    onTooLong: () => screen.notice('Not sent: the pasted text is longer than 1 MB.'),
    onLine(line) {
      if (Buffer.byteLength(line) > MAX_LINE_BYTES) screen.notice('Not sent: the line is longer than 1 MB.');
      else session.handle(line).catch(() => undefined);
    },
    onClose() {
      over.abort();
      output.write('\n');
      end(session.failures);
    },
  });
  const screen = createLiveScreen({ output, prompt, color });
  const own = {
    sink,
    screen,
    waits,
    quit: prompt.close,
    signal: over.signal,
    demoPauseMs: LIVE_PAUSE_MS,
    numbered: true,
  };
  const session = createSession({ ...sessionOptions(options), ...own });
  return { screen, notice: session.notice, close: prompt.close };
}

type OwnOptions = 'sink' | 'screen' | 'waits' | 'quit' | 'signal' | 'demoPauseMs' | 'numbered';

function sessionOptions(options: TerminalOptions): Omit<SessionOptions, OwnOptions> {
  return {
    author: { id: 'local', name: options.user ?? 'user', kind: 'person' },
    conversation: options.conversation ?? TERMINAL_HOME,
    color: options.color,
    now: options.now ?? Date.now,
    newId: options.newId ?? randomUUID,
  };
}
