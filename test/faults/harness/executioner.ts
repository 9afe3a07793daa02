import { setTimeout as sleep } from 'node:timers/promises';
import type { Court } from './court.ts';
import type { Node } from './fleet.ts';
import type { Fault, Scheduled } from './plan.ts';
import type { Servers } from './servers.ts';
import type { Report, Trap } from './wire.ts';

/** The faults so far. */
export interface Toll {
  readonly gateway: number;
  readonly worker: number;
  /** Processes that do both. */
  readonly all: number;
  readonly redis: number;
  readonly wiped: number;
  readonly postgres: number;
  /** Processes that were frozen until another one had done their work. */
  readonly frozen: number;
}

export interface Executioner {
  readonly toll: Toll;
  /** Carries out the plan, and has everything checked after each fault. */
  carryOut(plan: readonly Scheduled[], nodes: readonly Node[]): Promise<void>;
  /** How much of the plan is carried out, from 0 to 1. */
  progress(): number;
  /** A process came to the step in which it was to stop. */
  trapped(node: Node, report: Extract<Report, { kind: 'trapped' }>): void;
  /** The store is unreachable, or was a moment ago: a process may then give up. */
  isStoreAway(): boolean;
}

export interface ExecutionerOptions {
  readonly servers: Servers;
  readonly court: Court;
  readonly signal: AbortSignal;
}

type Trapped = Extract<Report, { kind: 'trapped' }>;

interface Self extends ExecutionerOptions {
  readonly toll: { -readonly [Kind in keyof Toll]: Toll[Kind] };
  /** How much of the plan was done at a time, and how long the step that began then lasts. */
  readonly pace: { done: number; step: number; since: number; lasts: number };
  readonly trappedNodes: Map<Node, Trapped>;
  storeAwayUntil: number;
}

const UP_LIMIT_MS = 60_000;
const AIM_LIMIT_MS = 1500;
const FREEZE_AIM_LIMIT_MS = 30_000;
/** Longer than any claim, so another process has taken over by then, unless it was killed too. */
const FROZEN_LIMIT_MS = 45_000;
const STORE_GRACE_MS = 10_000;

export function createExecutioner(options: ExecutionerOptions): Executioner {
  const toll = { gateway: 0, worker: 0, all: 0, redis: 0, wiped: 0, postgres: 0, frozen: 0 };
  const pace = { done: 0, step: 0, since: 0, lasts: 1 };
  const self: Self = { ...options, toll, pace, trappedNodes: new Map(), storeAwayUntil: 0 };
  return {
    toll,
    async carryOut(plan, nodes) {
      const aside: Promise<void>[] = [];
      try {
        await inTurn(self, { plan, nodes, aside });
      } finally {
        await Promise.allSettled(aside);
      }
      await Promise.all(aside);
    },
    progress: () => pace.done + pace.step * Math.min(1, (performance.now() - pace.since) / pace.lasts),
    trapped: (node, report) => void self.trappedNodes.set(node, report),
    isStoreAway: () => performance.now() < self.storeAwayUntil,
  };
}

interface Work {
  readonly plan: readonly Scheduled[];
  readonly nodes: readonly Node[];
  /** Faults that last while others happen. */
  readonly aside: Promise<void>[];
}

/** One fault at a time. Before each, everything is up and working. */
async function inTurn(self: Self, { plan, nodes, aside }: Work): Promise<void> {
  const { signal, pace, court } = self;
  const step = 1 / plan.length;
  for (const [index, { afterMs, fault }] of plan.entries()) {
    await allUp(nodes, signal);
    Object.assign(pace, { done: index * step, step, since: performance.now(), lasts: afterMs });
    await sleep(afterMs, null, { signal });
    if (fault.kind === 'freeze') aside.push(freeze(self, fault, nodes));
    else await strike(self, fault, nodes);
    await court.look(() => []);
  }
  Object.assign(pace, { done: 1, step: 0 });
}

async function strike(self: Self, fault: Exclude<Fault, { kind: 'freeze' }>, nodes: readonly Node[]): Promise<void> {
  const { redis, postgres } = self.servers;
  if (fault.kind === 'kill') return await kill(self, fault, nodes);
  const server = fault.kind === 'redis' ? redis : postgres;
  if (server === null) return;
  if (fault.kind === 'postgres') self.storeAwayUntil = Infinity;
  await server.kill();
  if (fault.kind === 'redis' && fault.isWiped) {
    await redis?.wipe();
    self.toll.wiped += 1;
  }
  self.toll[fault.kind] += 1;
  await sleep(fault.downMs);
  await server.start();
  if (fault.kind === 'postgres') self.storeAwayUntil = performance.now() + STORE_GRACE_MS;
}

async function kill(
  self: Self,
  { role, trap }: Extract<Fault, { kind: 'kill' }>,
  nodes: readonly Node[],
): Promise<void> {
  const node = await target(nodes, role);
  if (node === null) return;
  const { deaths } = node;
  if (trap !== null) {
    node.set(trap);
    await until(() => !node.isUp, AIM_LIMIT_MS);
  }
  // A process that did not reach that step is killed wherever it is.
  if (node.isUp) await node.kill();
  self.toll[role] += node.deaths - deaths;
}

/** Pauses right before a commit until another process has claimed and finished the conversation's work. */
async function freeze(
  self: Self,
  { role, trap }: Extract<Fault, { kind: 'freeze' }>,
  nodes: readonly Node[],
): Promise<void> {
  const caught = await firstInto(
    self,
    trap,
    nodes.filter((node) => node.role === role),
  );
  if (caught === null) return;
  const { node, report } = caught;
  const deadline = performance.now() + FROZEN_LIMIT_MS;
  const { conversationId } = report;
  await self.court.look(() => []);
  const before = doneIn(self, conversationId, role);
  while (node.isUp && performance.now() < deadline && !self.signal.aborted) {
    await self.court.look(() => []);
    if (doneIn(self, conversationId, role) > before) break;
    await sleep(250);
  }
  node.thaw();
  self.toll.frozen += 1;
}

interface Caught {
  readonly node: Node;
  readonly report: Trapped;
}

/** The trap is set for all of them, again and again, because a new process knows of none; the first one springs it. */
async function firstInto(self: Self, trap: Trap, nodes: readonly Node[]): Promise<Caught | null> {
  const deadline = performance.now() + FREEZE_AIM_LIMIT_MS;
  for (const node of nodes) self.trappedNodes.delete(node);
  let caught: Caught | null = null;
  while (caught === null && performance.now() < deadline && !self.signal.aborted) {
    for (const node of nodes) node.set(trap);
    await sleep(100);
    for (const node of nodes) {
      const report = self.trappedNodes.get(node);
      if (report === undefined || !node.isFrozen) continue;
      // A second process that reaches the same step continues at once.
      if (caught === null) caught = { node, report };
      else node.thaw();
    }
  }
  for (const node of nodes) node.set(null);
  return caught;
}

/** Does not wait for paused processes. What does not come up is found elsewhere. */
async function allUp(nodes: readonly Node[], signal: AbortSignal): Promise<void> {
  await until(() => signal.aborted || nodes.every(({ isUp, isFrozen }) => isUp || isFrozen), UP_LIMIT_MS);
}

/** Grows when another process does the work of the paused one. */
function doneIn({ court }: Self, conversationId: number, role: 'gateway' | 'worker'): number {
  const { conversations, summaries } = court.evidence().rows;
  if (role === 'gateway') return conversations.find(({ id }) => id === conversationId)?.answered_upto ?? 0;
  return summaries.filter((row) => row.conversation_id === conversationId && row.kind === 'summary').length;
}

/** Waits for a process of the role that is up and not frozen. */
async function target(nodes: readonly Node[], role: Node['role']): Promise<Node | null> {
  const able = () => nodes.filter((node) => node.role === role && node.isUp && !node.isFrozen);
  await until(() => able().length > 0, UP_LIMIT_MS);
  // The oldest process is most probably at work.
  return able()[0] ?? null;
}

async function until(condition: () => boolean, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!condition() && performance.now() < deadline) await sleep(10);
}
