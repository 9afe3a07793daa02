import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RELATIVE_IMPORTS } from '../../support/relative-imports.ts';
import type { Link } from './platform.ts';
import { type Life, type Report, reportSchema, type Trap } from './wire.ts';

/** A place for one process of the bot, with a supervisor that starts it again. */
export interface Node {
  readonly name: string;
  readonly role: Life['role'];
  readonly isUp: boolean;
  readonly isFrozen: boolean;
  /** Number of times it was killed with -9. */
  readonly deaths: number;
  /** kill -9, then a new one. Resolves when the old one is gone. */
  kill(): Promise<void>;
  /** The step at which it stops next; null for none. */
  set(trap: Trap | null): void;
  /** Releases a frozen process. */
  thaw(): void;
}

export interface Fleet extends AsyncDisposable {
  readonly nodes: readonly Node[];
  /** Processes that ended without having been killed, with their last words. */
  readonly surprises: readonly string[];
  /** All are up. */
  ready(limitMs: number): Promise<void>;
  /** Stops all of them cleanly. Returns the problems of those that did not stop. */
  stop(): Promise<readonly string[]>;
}

export interface FleetOptions {
  readonly roles: readonly Life['role'][];
  readonly directory: string;
  readonly config: string;
  readonly ignoresCompareAndSet: boolean;
  /** Waits before the supervisor starts a process again. */
  readonly restartMs: () => number;
  /** While true, a process may refuse to start, or give up. */
  readonly isExcused: () => boolean;
  readonly onReport: (node: Node, link: Link, report: Report) => void;
  readonly onGone: (link: Link) => void;
}

const SCRIPT = fileURLToPath(new URL('./node.process.ts', import.meta.url));
const STOP_LIMIT_MS = 25_000;
const RETRY_MS = 300;
/** Repeated, because a process pauses a moment after it has said so, and may do it after the first one. */
const THAW_AFTER_MS = [0, 500, 2000];
/** More processes than this that exit on their own are not waited for. */
const MAX_SURPRISES = 5;

interface Slot {
  readonly name: string;
  readonly role: Life['role'];
  readonly log: string;
  child: ChildProcess | null;
  isUp: boolean;
  isFrozen: boolean;
  deaths: number;
}

export function startFleet(options: FleetOptions): Fleet {
  const self: Self = { options, surprises: [], isStopping: false };
  const slots = slotsFor(options);
  const nodes = slots.map((slot) => live(self, slot));
  return {
    nodes,
    surprises: self.surprises,
    async ready(limitMs) {
      const deadline = performance.now() + limitMs;
      while (!slots.every(({ isUp }) => isUp)) {
        if (performance.now() > deadline || self.surprises.length > MAX_SURPRISES) {
          const words = await Promise.all(slots.filter(({ isUp }) => !isUp).map(lastWords));
          throw new Error(`Not all processes could be started. ${[...self.surprises, ...words].join(' ')}`);
        }
        await sleep(20);
      }
    },
    async stop() {
      self.isStopping = true;
      return (await Promise.all(slots.map(end))).flat();
    },
    async [Symbol.asyncDispose]() {
      self.isStopping = true;
      const ends = slots.map(({ child }) => (child === null ? null : once(child, 'exit')));
      for (const { child } of slots) child?.kill('SIGKILL');
      await Promise.all(ends);
    },
  };
}

interface Self {
  readonly options: FleetOptions;
  readonly surprises: string[];
  isStopping: boolean;
}

function slotsFor({ roles, directory }: FleetOptions): readonly Slot[] {
  return roles.map((role, index) => {
    const name = `${role}${roles.slice(0, index + 1).filter((other) => other === role).length}`;
    const log = join(directory, `${name}.log`);
    return { name, role, log, child: null, isUp: false, isFrozen: false, deaths: 0 };
  });
}

/** Keeps a process in the slot: each time it ends another one is started. */
function live(self: Self, slot: Slot): Node {
  const { options } = self;
  const node = nodeOf(slot);
  const start = (): void => {
    const child = spawnNode(slot, options);
    slot.child = child;
    const link = linkTo(slot, child);
    child.on('message', (message) => {
      const report = reportSchema.parse(message);
      if (report.kind === 'ready') slot.isUp = true;
      if (report.kind === 'trapped') slot.isFrozen = true;
      options.onReport(node, link, report);
    });
    child.on('exit', (code, signal) => {
      Object.assign(slot, { child: null, isUp: false, isFrozen: false });
      options.onGone(link);
      if (self.isStopping) return;
      const wasKilled = signal === 'SIGKILL';
      if (wasKilled) slot.deaths += 1;
      else note(self, slot, String(signal ?? code));
      setTimeout(() => self.isStopping || start(), wasKilled ? options.restartMs() : RETRY_MS);
    });
  };
  start();
  return node;
}

/** A process that exited without a reason known to the harness. */
function note({ options, surprises }: Self, slot: Slot, how: string): void {
  if (options.isExcused()) return;
  lastWords(slot).then(
    (words) => surprises.push(`${slot.name} ended by itself with ${how}: ${words}`),
    () => undefined,
  );
}

function nodeOf(slot: Slot): Node {
  return {
    name: slot.name,
    role: slot.role,
    get isUp() {
      return slot.isUp;
    },
    get isFrozen() {
      return slot.isFrozen;
    },
    get deaths() {
      return slot.deaths;
    },
    async kill() {
      const { child } = slot;
      if (child === null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    set: (trap) => send(slot.child, trap === null ? { kind: 'disarm' } : { kind: 'trap', ...trap }),
    thaw() {
      const { child } = slot;
      slot.isFrozen = false;
      for (const afterMs of THAW_AFTER_MS) setTimeout(() => child?.kill('SIGCONT'), afterMs).unref();
    },
  };
}

function linkTo({ name }: Slot, child: ChildProcess): Link {
  return { name, send: (command) => send(child, command) };
}

/** Data sent to a dying process is lost, as with a real connection. */
function send(child: ChildProcess | null, message: object): void {
  if (child?.connected === true) child.send(message, () => undefined);
}

function spawnNode({ role, log }: Slot, { config, ignoresCompareAndSet }: FleetOptions): ChildProcess {
  const life: Life = { role, config, ignoresCompareAndSet };
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...RELATIVE_IMPORTS, SCRIPT, JSON.stringify(life)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { PATH, HOME, NODE_COMPILE_CACHE, STRATA_ROLE: '' },
  });
  child.stderr?.pipe(createWriteStream(log, { flags: 'a' }));
  child.on('error', () => undefined);
  return child;
}

async function lastWords({ log }: Slot): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-3).join(' | ').slice(-600);
}

async function end(slot: Slot): Promise<readonly string[]> {
  const { child, name } = slot;
  if (child === null) return [];
  const ended = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  const late = sleep(STOP_LIMIT_MS, null, { ref: false });
  if ((await Promise.race([ended, late])) === null) {
    child.kill('SIGKILL');
    await ended;
    return [`${name} did not end within ${STOP_LIMIT_MS / 1000} s of SIGTERM`];
  }
  const { exitCode, signalCode } = child;
  return exitCode === 0 ? [] : [`${name} ended with ${signalCode ?? exitCode}: ${await lastWords(slot)}`];
}
