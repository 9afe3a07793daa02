import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RELATIVE_IMPORTS } from '../support/relative-imports.ts';
import { type Command, type Line, lineSchema } from './lines.ts';
import type { ModelServer } from './model-server.ts';

const SCRIPT = fileURLToPath(new URL('bot.process.ts', import.meta.url));

export interface Post {
  readonly nonce: string;
  readonly text: string;
  readonly replyTo: string | null;
}

export interface Message {
  readonly id: string;
  readonly text: string;
  acceptedAt: number | null;
  sentAt: number;
  /** When a reply to it, or to a later message, appeared. */
  answeredAt: number | null;
}

/** The people and their platform: they outlive every process of the bot, and see only what it posts. */
export interface Town {
  readonly messages: readonly Message[];
  /** The visible posts by nonce, and every attempt. */
  readonly posts: ReadonlyMap<string, Post>;
  readonly attempts: readonly Post[];
  readonly troubles: readonly string[];
  /** A message that a program sent through the bot, by its own id, and whether the program knows that it was stored. */
  readonly sends: ReadonlyMap<string, { readonly text: string; readonly isKnown: boolean }>;
  start(life: {
    readonly killAt?: string;
    readonly spare?: number;
    readonly idleMinutes?: number;
  }): Promise<BotProcess>;
  /** Somebody says something. Resolves when it is answered, when the process is gone, or when `patienceMs` is over. */
  say(bot: BotProcess, patienceMs: number): Promise<Message>;
  /** A program has the bot say something, and repeats it in the next process until it knows that it was stored. */
  send(bot: BotProcess, patienceMs: number): Promise<void>;
}

export interface BotProcess {
  readonly readyAt: number;
  readonly isOver: boolean;
  /** The signal or exit code. */
  readonly ended: Promise<string>;
  readonly events: readonly { readonly event: string; readonly at: number }[];
  kill(): void;
  stop(): Promise<void>;
}

export interface TownOptions {
  readonly directory: string;
  readonly server: ModelServer;
  /** When a post arrives, before the platform confirms it; and right after. */
  onPost: (moment: 'a post arrives' | 'a post is taken') => void;
}

export function createTown(options: TownOptions): Town {
  const messages: Message[] = [];
  const posts = new Map<string, Post>();
  const attempts: Post[] = [];
  const troubles: string[] = [];
  const sends = new Map<string, { text: string; isKnown: boolean }>();
  const listeners = new Set<() => void>();
  const told = () => {
    for (const listener of [...listeners]) listener();
  };
  const hear = (line: Line, tell: (command: Command) => void): void => {
    switch (line.kind) {
      case 'accepted': {
        const message = messages.find(({ id }) => id === line.id);
        if (message !== undefined) message.acceptedAt ??= Date.now();
        break;
      }
      case 'post': {
        const post = { nonce: line.nonce, text: line.text, replyTo: line.replyTo };
        attempts.push(post);
        options.onPost('a post arrives');
        if (!posts.has(post.nonce)) posts.set(post.nonce, post);
        tell({ kind: 'taken', nonce: post.nonce });
        options.onPost('a post is taken');
        const upTo = messages.findIndex(({ id }) => id === line.replyTo);
        for (const message of messages.slice(0, upTo + 1)) message.answeredAt ??= Date.now();
        break;
      }
      case 'sent': {
        const sent = sends.get(line.id);
        if (sent !== undefined) sent.isKnown = true;
        break;
      }
      case 'trouble':
        troubles.push(line.message);
        break;
      default:
    }
    told();
  };
  const until = (condition: () => boolean, patienceMs: number): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        listeners.delete(look);
        resolve();
      };
      const look = () => condition() && end();
      const timer = setTimeout(end, patienceMs);
      listeners.add(look);
      look();
    });

  return {
    messages,
    posts,
    attempts,
    troubles,
    sends,
    async start({ killAt = '', spare = 0, idleMinutes = 10 }) {
      const life = { directory: options.directory, url: options.server.url, killAt, spare, idleMinutes };
      const child = spawn(process.execPath, [...RELATIVE_IMPORTS, SCRIPT, JSON.stringify(life)], {
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const bot = watch(child, { hear, told, troubles });
      await until(() => bot.readyAt > 0 || bot.isOver, 60_000);
      if (bot.readyAt === 0 && killAt === '') throw new Error(`The bot did not start: ${troubles.join('\n')}`);
      // A platform redelivers what was not acknowledged.
      for (const message of messages) if (message.acceptedAt === null) send(child, message);
      for (const [id, { text, isKnown }] of sends) if (!isKnown) write(child, { kind: 'send', id, text });
      Object.assign(bot, { child });
      return bot;
    },
    async say(bot, patienceMs) {
      const id = `x${messages.length + 1}`;
      const text = `${id} My parcel ${10_000 + messages.length} is at the post office. ${'So it goes on and on here. '.repeat(9)}`;
      const message: Message = { id, text, acceptedAt: null, sentAt: Date.now(), answeredAt: null };
      messages.push(message);
      const { child } = bot as BotProcess & { readonly child: ChildProcess };
      send(child, message);
      // Now and then the platform delivers twice.
      if (messages.length % 4 === 0) send(child, message);
      await until(() => message.answeredAt !== null || bot.isOver, patienceMs);
      return message;
    },
    async send(bot, patienceMs) {
      const id = `s${sends.size + 1}`;
      const text = `${id} Nobody asked, but the parcel is here.`;
      sends.set(id, { text, isKnown: false });
      const { child } = bot as BotProcess & { readonly child: ChildProcess };
      write(child, { kind: 'send', id, text });
      const isPosted = () => [...posts.values()].some((post) => post.text === text);
      await until(() => bot.isOver || (isPosted() && sends.get(id)?.isKnown === true), patienceMs);
    },
  };
}

function send(child: ChildProcess, { id, text }: Message): void {
  write(child, { kind: 'message', id, text });
}

function write(child: ChildProcess, command: Command): void {
  if (child.stdin?.writable === true) child.stdin.write(`${JSON.stringify(command)}\n`);
}

interface Ears {
  hear(line: Line, tell: (command: Command) => void): void;
  told(): void;
  readonly troubles: string[];
}

function watch(child: ChildProcess, { hear, told, troubles }: Ears): BotProcess {
  const events: { event: string; at: number }[] = [];
  const self = { readyAt: 0, isOver: false, hasStopped: false };
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  child.stdin?.on('error', () => undefined);
  if (child.stdout === null) throw new Error('The process has no output.');
  createInterface({ input: child.stdout }).on('line', (text) => {
    // The last line of a process that is killed may be a piece of one.
    const line = lineSchema.safeParse(tryJson(text)).data;
    if (line === undefined) return;
    if (line.kind === 'ready') self.readyAt = Date.now();
    if (line.kind === 'event') events.push({ event: line.event, at: line.at });
    hear(line, (command) => write(child, command));
  });
  const ended = new Promise<string>((resolve) => {
    child.on('close', (code, signal) => {
      self.isOver = true;
      if (code !== 0 && signal !== 'SIGKILL') troubles.push(errors);
      resolve(signal ?? String(code));
      told();
    });
  });
  return {
    get readyAt() {
      return self.readyAt;
    },
    get isOver() {
      return self.isOver;
    },
    ended,
    events,
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      write(child, { kind: 'stop' });
      await ended;
    },
  };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
