import type { Deployment } from './deployments.ts';
import type { Chance } from './random.ts';
import type { Trap } from './wire.ts';

/** One thing that goes wrong. */
export type Fault =
  | { readonly kind: 'kill'; readonly role: 'gateway' | 'worker' | 'all'; readonly trap: Trap | null }
  | { readonly kind: 'freeze'; readonly role: 'gateway' | 'worker'; readonly trap: Trap }
  | { readonly kind: 'redis'; readonly isWiped: boolean; readonly downMs: number }
  | { readonly kind: 'postgres'; readonly downMs: number };

export interface Scheduled {
  /** The pause after the previous one, counted from when everything is running again. */
  readonly afterMs: number;
  readonly fault: Fault;
}

export interface PlanOptions {
  readonly kills: number;
  /** Processes that pause and continue when another one has done their work. */
  readonly freezes: readonly ('gateway' | 'worker')[];
  readonly everyMs: readonly [number, number];
}

/** Of ten kills, this many hit a server, if there is one. */
const SERVERS_IN_TEN = 2;
const GATEWAY_TRAPS: readonly [Trap['step'], ...Trap['step'][]] = ['append', 'commitTurn', 'sent'];
const WORKER_TRAPS: readonly [Trap['step'], ...Trap['step'][]] = [
  'commitCompaction',
  'commitCompaction',
  'commitCondensation',
  'commitExtraction',
];

/** What happens when: the same for the same seed. Every kind that the deployment knows comes at least once. */
export function planFaults(deployment: Deployment, chance: Chance, options: PlanOptions): readonly Scheduled[] {
  const kills = chance.shuffled(killsOf(deployment, chance, options.kills));
  const freezes = deployment.number === 1 ? [] : options.freezes.map((role) => freezeOf(role));
  // A freeze takes longest, so it begins early enough to end within the run.
  const faults: Fault[] = [];
  const gap = Math.max(1, Math.floor(kills.length / (freezes.length + 1)));
  kills.forEach((kill, index) => {
    if (index % gap === 0 && freezes.length > index / gap) faults.push(freezes[index / gap] ?? kill);
    faults.push(kill);
  });
  return faults.map((fault) => ({ afterMs: chance.between(...options.everyMs), fault }));
}

function killsOf({ store, queue, number }: Deployment, chance: Chance, count: number): readonly Fault[] {
  if (number === 1) return Array.from({ length: count }, () => kill('all', chance));
  const servers = [
    ...(queue === 'redis' ? (['redis'] as const) : []),
    ...(store === 'postgres' ? (['postgres'] as const) : []),
  ];
  const perServer = Math.max(1, Math.round((count * SERVERS_IN_TEN) / 10 / servers.length));
  const hits = servers.flatMap((server) =>
    Array.from({ length: perServer }, (_, index) => serverFault(server, chance, index)),
  );
  const rest = Math.max(2, count - hits.length);
  return [...hits, ...Array.from({ length: rest }, (_, index) => kill(index % 2 === 0 ? 'gateway' : 'worker', chance))];
}

function serverFault(server: 'redis' | 'postgres', chance: Chance, index: number): Fault {
  const downMs = chance.between(500, 3000);
  // The first time it loses all it had.
  return server === 'redis' ? { kind: 'redis', isWiped: index % 2 === 0, downMs } : { kind: 'postgres', downMs };
}

/** Half of the kills come at random moments, half right before or after a step of the store. */
function kill(role: 'gateway' | 'worker' | 'all', chance: Chance): Fault {
  if (chance.happens(0.5)) return { kind: 'kill', role, trap: null };
  const isTalk = role === 'gateway' || (role === 'all' && chance.happens(0.5));
  const when = chance.happens(0.5) ? 'before' : 'after';
  return { kind: 'kill', role, trap: { step: chance.pick(isTalk ? GATEWAY_TRAPS : WORKER_TRAPS), when, act: 'die' } };
}

function freezeOf(role: 'gateway' | 'worker'): Fault {
  const step = role === 'gateway' ? 'commitTurn' : 'commitCompaction';
  return { kind: 'freeze', role, trap: { step, when: 'before', act: 'freeze' } };
}
