import { setTimeout as delay } from 'node:timers/promises';
import {
  type Author,
  type ChannelSink,
  type ConversationKey,
  describe,
  type InboundMessage,
  isCommandLine,
  makeKey,
  makeReply,
  type Notice,
  renderReply,
} from '../../../src/adapter-kit.ts';
import { createCommandLines } from './command-lines.ts';
import type { Suggest } from './complete.ts';
import { DEMO_PEOPLE, type DemoLine, demoLines } from './demo.ts';
import type { Place } from './place.ts';
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
  /** Pause between two messages of the demo, so that it can be watched. */
  readonly demoPauseMs: number;
  /** Aborted when the session is over. */
  readonly signal: AbortSignal;
  /** Ends the session: `/quit`. */
  readonly quit: () => void;
  /** Number the rows of lists. */
  readonly numbered: boolean;
}

/** Handles typed lines, one at a time or several at once. Each promise resolves when its answer is on the screen. */
export interface Session {
  handle(line: string): Promise<void>;
  /** Values for a command's option while it is typed. */
  suggest: Suggest;
  /** Shows failures at once, and in a demo also the progress of its conversation. */
  notice(notice: Notice): void;
  /** Several people talk here, so names are shown. */
  readonly isCrowded: boolean;
  /** Lines that could not be handled. */
  readonly failures: number;
}

type DemoMessage = Omit<InboundMessage, keyof Place>;

/** `terminal:local:demo-20261122-093105`, with a suffix for several in one second. */
function demoPlace(at: number, played: number): Place {
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const channel = `demo-${time}${played === 1 ? '' : `-${played}`}`;
  return { conversation: makeKey({ platform: 'terminal', workspace: 'local', channel }), audience: 'private' };
}

const AFTER_DEMO = makeReply('The demo is over. Its conversation stays open, and you can try:', {
  fields: [
    { name: '/summaries list', value: 'what became of the older messages' },
    { name: '/memory list', value: 'what the bot remembers about each person' },
    { name: '/context', value: 'what the model sees now, and the tokens of each part' },
    { name: 'What is the plan if it rains?', value: 'any question, in your own words' },
    { name: '/main', value: 'return to your own conversation' },
    { name: '/demo', value: 'play another one' },
  ],
});

export function createSession(options: SessionOptions): Session {
  const { sink, screen, author } = options;
  const home: Place = { conversation: options.conversation, audience: 'dm' };
  let place = home;
  let failures = 0;
  let played = 0;
  const lines = createCommandLines({ ...options, place: () => place });

  const say = async (message: InboundMessage): Promise<void> => {
    const reply = options.waits.expect(message);
    const receipt = await sink.message(message);
    if (receipt.willReply) await reply.posted;
    else reply.cancel();
  };
  const demo = async (): Promise<void> => {
    played += 1;
    const here = demoPlace(options.now(), played);
    place = here;
    await playDemo(options, (message) => say({ ...message, ...here }), here);
  };

  const leave = (): void => {
    place = home;
    screen.notice(`Back in ${place.conversation}.`);
  };

  const serve = async (line: string): Promise<void> => {
    const word = line.trim().toLowerCase();
    if (lines.isAsking && !isCommandLine(line)) return await lines.answer(line);
    lines.cancel();
    if (word === '') return;
    if (word === '/quit' || word === '/exit') return options.quit();
    if (word === '/demo') return await demo();
    if (word === '/main') return leave();
    if (isCommandLine(line)) return await lines.command(line);
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
    suggest: (command, option) => sink.suggest({ ...place, author, rights: 'operator', ...command }, option),
    notice({ kind, conversation, text }) {
      if (kind !== 'progress' || (place !== home && conversation === place.conversation)) screen.notice(text);
    },
    get isCrowded() {
      return place !== home;
    },
    get failures() {
      return failures;
    },
  };
}

async function playDemo(
  options: SessionOptions,
  say: (message: DemoMessage) => Promise<void>,
  { conversation }: Place,
): Promise<void> {
  const { screen, signal } = options;
  screen.notice(`Playing a recorded conversation in ${conversation}. Lines with ↳ show what happens to it.`);
  const run = options.newId();
  for (const [index, line] of demoLines.entries()) {
    await delay(options.demoPauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    screen.block(`${speaker(line.author, options)} ${line.text}`);
    await say(demoMessage(line, { run, index, at: options.now() }));
  }
  screen.notice(renderReply(AFTER_DEMO, { color: false, specs: [], width: screen.width }));
}

function ownMessage(text: string, options: SessionOptions & { readonly place: Place }): InboundMessage {
  return { ...BARE, ...options.place, externalId: options.newId(), author: options.author, text, at: options.now() };
}

function demoMessage(
  line: DemoLine,
  of: { readonly run: string; readonly index: number; readonly at: number },
): DemoMessage {
  return {
    ...BARE,
    externalId: `demo-${of.run}-${of.index + 1}`,
    author: { id: DEMO_PEOPLE[line.author], name: line.author, kind: 'person' },
    text: line.text,
    addressesBot: /\bstrata\b/i.test(line.text),
    at: of.at,
  };
}

const BARE = { attachments: [], replyTo: null, mentions: [], addressesBot: true } as const;
