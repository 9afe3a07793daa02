import type { ConversationKey } from '../../../domain/message.ts';
import type { Claim } from '../../../ports/store.ts';
import type { Services } from '../../../services.ts';
import { holdLease } from '../../../util/async/lease.ts';
import { withinTime } from '../../../util/async/within.ts';
import type { Outbox } from '../../posts/outbox.ts';

/**
 * How many conversations answer one person at once in this process. Nobody reads more answers at a time; a person who
 * asks in a hundred threads must not use up the model's and the platform's limits for everybody.
 */
const MAX_TURNS = 8;

/** A place among the turns that answer one person. Calling it gives the place back, once. */
export type Slot = () => void;

export interface TurnSlots {
  /** For one conversation; its actor keeps it. */
  seat(): Seat;
}

/** Takes a slot for each turn of a conversation. */
export interface Seat {
  /** The next turn answers this person, among others. */
  ask(person: string): void;
  /** A slot of one of the people to be answered, oldest first. Null if all of theirs are taken. */
  take(): Slot | null;
  /** Waits for such a slot, first come, first served. Null if the signal is aborted first. */
  wait(signal: AbortSignal): Promise<Slot | null>;
}

/** The turns in this process that answer one person. */
interface Person {
  running: number;
  readonly waiting: Set<Waiting>;
}

/** A turn that waits for a slot of one of these people. */
interface Waiting {
  readonly people: Set<string>;
  start(slot: Slot): void;
}

export function createTurnSlots(): TurnSlots {
  const people = new Map<string, Person>();
  const of = (name: string): Person => {
    const person = people.get(name) ?? { running: 0, waiting: new Set() };
    people.set(name, person);
    return person;
  };
  const leave = (waiting: Waiting): void => {
    for (const name of waiting.people) of(name).waiting.delete(waiting);
    for (const name of waiting.people) forget(people, name);
  };
  const slotOf = (name: string): Slot => {
    of(name).running += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const person = of(name);
      person.running -= 1;
      const [next] = person.waiting;
      if (next !== undefined) {
        leave(next);
        next.start(slotOf(name));
      }
      forget(people, name);
    };
  };
  const hasFree = (name: string): boolean => (people.get(name)?.running ?? 0) < MAX_TURNS;
  return { seat: () => createSeat({ of, leave, slotOf, hasFree }) };
}

function forget(people: Map<string, Person>, name: string): void {
  const person = people.get(name);
  if (person?.running === 0 && person.waiting.size === 0) people.delete(name);
}

/** What all seats share. */
interface Slots {
  of(name: string): Person;
  leave(waiting: Waiting): void;
  slotOf(name: string): Slot;
  hasFree(name: string): boolean;
}

/** After a restart it is unknown who is to be answered, so the turn needs no slot. */
const NO_SLOT: Slot = () => undefined;

function createSeat({ of, leave, slotOf, hasFree }: Slots): Seat {
  let asking = new Set<string>();
  let waiting: Waiting | null = null;
  const begin = (slot: Slot): Slot => {
    asking = new Set();
    waiting = null;
    return slot;
  };
  const take = (): Slot | null => {
    if (asking.size === 0) return NO_SLOT;
    const free = [...asking].find(hasFree);
    return free === undefined ? null : begin(slotOf(free));
  };
  return {
    ask(person) {
      asking.add(person);
      if (waiting === null) return;
      if (!hasFree(person)) return void of(person).waiting.add(waiting);
      leave(waiting);
      waiting.start(slotOf(person));
    },
    take,
    wait(signal) {
      const { promise, resolve } = Promise.withResolvers<Slot | null>();
      const own: Waiting = {
        people: asking,
        start(slot) {
          signal.removeEventListener('abort', stop);
          resolve(begin(slot));
        },
      };
      const stop = (): void => {
        leave(own);
        waiting = null;
        resolve(null);
      };
      if (signal.aborted) return Promise.resolve(null);
      const slot = take();
      if (slot !== null) return Promise.resolve(slot);
      waiting = own;
      for (const name of asking) of(name).waiting.add(own);
      signal.addEventListener('abort', stop, { once: true });
      return promise;
    },
  };
}

/** What it takes to hold a slot for a turn. */
interface Turning {
  readonly services: Pick<Services, 'store' | 'clock'>;
  readonly outbox: Pick<Outbox, 'settled'>;
  /** Aborted once the bot is stopping. */
  readonly closing: AbortSignal;
}

/** How long the claim of a waiting turn lasts, should its process be killed. */
const WAITING_LEASE_MS = 60_000;

/** Null if the turn may not start any more: the claim was lost, or the bot is stopping. */
export async function slotFor({ services, closing }: Turning, seat: Seat, claim: Claim): Promise<Slot | null> {
  const slot = seat.take();
  if (slot !== null) return slot;
  const { clock, store } = services;
  const { conversations } = store;
  if ((await conversations.renew('reply', claim, clock.now() + WAITING_LEASE_MS)) === null) return null;
  using lease = holdLease({ conversations, clock, work: 'reply', leaseMs: WAITING_LEASE_MS, signal: closing }, claim);
  const free = await seat.wait(lease.signal);
  if (free === null) await conversations.release(claim, { work: 'reply', answeredUpto: null });
  return free;
}

/** A platform that is down for longer must not keep a person from other answers. */
const MAX_POSTING_MS = 60_000;

/** Not before the reply is posted: many replies to one person must not fill the queue of a channel. */
export function leaveSlot({ outbox, services: { clock } }: Turning, conversation: ConversationKey, slot: Slot): void {
  withinTime(outbox.settled(conversation), { clock, ms: MAX_POSTING_MS }).then(slot, slot);
}
