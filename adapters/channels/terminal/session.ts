import { setTimeout as delay } from 'node:timers/promises';
import {
  type Audience,
  type Author,
  type ChannelSink,
  type CommandReply,
  type ConversationKey,
  describe,
  type InboundMessage,
  isCommandLine,
  makeKey,
  type Notice,
  readCommandLine,
  renderReply,
} from '../../../src/index.ts';
import { DEMO_PEOPLE, type DemoLine, demoLines } from './demo.ts';
import type { Screen } from './screen.ts';
import { speaker } from './style.ts';
import type { ReplyWaits } from './waits.ts';

export interface SessionOptions {
  readonly sink: ChannelSink;
  readonly screen: Screen;
  readonly waits: ReplyWaits;
  readonly author: Author;
  readonly conversation: ConversationKey;
  readonly color: boolean;
  readonly now: () => number;
  readonly newId: () => string;
  /** Between two messages of the demo, so that it can be watched. */
  readonly demoPauseMs: number;
  /** Aborted when the session is over. */
  readonly signal: AbortSignal;
  /** Ends the session: `/quit`. */
  readonly quit: () => void;
}

/** What typed lines do. Serves one line at a time or several at once; each promise ends when its answer is on the screen. */
export interface Session {
  handle(line: string): Promise<void>;
  /** Shows a failure at once, and in a demo what becomes of its conversation. */
  notice(notice: Notice): void;
  /** Several people talk here: who says what is worth showing. */
  readonly isCrowded: boolean;
  /** Lines that could not be served. */
  readonly failures: number;
}

/** The conversation that a session is in. The demo plays in one of its own, so that nothing of it mixes with the user's. */
interface Place {
  readonly conversation: ConversationKey;
  readonly audience: Audience;
}

const DEMO_PLACE: Place = {
  conversation: makeKey({ platform: 'terminal', workspace: 'local', channel: 'demo' }),
  audience: 'private',
};

const HELP = [
  '/demo     plays a conversation of several people; what you type afterwards is said there',
  '/main     goes back to your own conversation',
  '/quit     ends the program; so does Ctrl-D',
].join('\n');

export function createSession(options: SessionOptions): Session {
  const { sink, screen, author } = options;
  const home: Place = { conversation: options.conversation, audience: 'dm' };
  let place = home;
  let failures = 0;

  const say = async (message: InboundMessage): Promise<void> => {
    const reply = options.waits.expect(message);
    const receipt = await sink.message(message);
    if (receipt.willReply) await reply.posted;
    else reply.cancel();
  };
  const show = (reply: CommandReply) => screen.block(renderReply(reply, { color: options.color }));

  const command = async (line: string): Promise<void> => {
    const read = readCommandLine(line);
    if (read.kind === 'refused') return show(read.reply);
    show(await sink.command({ ...place, author, rights: 'operator', ...read.command }));
    if (read.command.path[0] === 'help') screen.block(`Here in the terminal:\n${HELP}`);
  };

  const demo = async (): Promise<void> => {
    place = DEMO_PLACE;
    screen.notice(
      `Playing a recorded conversation in ${place.conversation}. /status, /summaries and /memory show what becomes of it; /main goes back.`,
    );
    const run = options.newId();
    for (const [index, line] of demoLines.entries()) {
      await delay(options.demoPauseMs, undefined, { signal: options.signal }).catch(() => undefined);
      if (options.signal.aborted) return;
      screen.block(`${speaker(line.author, options)} ${line.text}`);
      await say(demoMessage(line, { run, index, at: options.now() }));
    }
  };

  const leave = (): void => {
    place = home;
    screen.notice(`Back in ${place.conversation}.`);
  };

  const serve = async (line: string): Promise<void> => {
    const word = line.trim().toLowerCase();
    if (word === '') return;
    if (word === '/quit' || word === '/exit') return options.quit();
    if (word === '/demo') return await demo();
    if (word === '/main') return leave();
    if (isCommandLine(line)) return await command(line);
    await say(ownMessage(line, { ...options, place }));
  };

  return {
    async handle(line) {
      try {
        await serve(line);
      } catch (error) {
        failures += 1;
        screen.notice(`Not sent: ${describe(error)}`);
      }
    },
    notice({ kind, conversation, text }) {
      if (kind === 'trouble' || (place !== home && conversation === place.conversation)) screen.notice(text);
    },
    get isCrowded() {
      return place !== home;
    },
    get failures() {
      return failures;
    },
  };
}

function ownMessage(text: string, options: SessionOptions & { readonly place: Place }): InboundMessage {
  return { ...BARE, ...options.place, externalId: options.newId(), author: options.author, text, at: options.now() };
}

function demoMessage(
  line: DemoLine,
  of: { readonly run: string; readonly index: number; readonly at: number },
): InboundMessage {
  return {
    ...BARE,
    ...DEMO_PLACE,
    externalId: `demo-${of.run}-${of.index + 1}`,
    author: { id: DEMO_PEOPLE[line.author], name: line.author, kind: 'person' },
    text: line.text,
    addressesBot: /\bstrata\b/i.test(line.text),
    at: of.at,
  };
}

const BARE = { attachments: [], replyTo: null, mentions: [], addressesBot: true } as const;
