import type { Chance } from './random.ts';
import { namesIn, sayingOf } from './talk.ts';
import type { Command, Report } from './wire.ts';

/** A message as the platform knows it. Times use the harness's clock; null for what has not happened. */
export interface Message {
  readonly id: string;
  readonly place: number;
  readonly text: string;
  readonly asks: boolean;
  readonly sentAt: number;
  acceptedAt: number | null;
  /** When a reply that names it appeared. */
  answeredAt: number | null;
  deliveredAt: number;
  deliveries: number;
}

/** The visible messages of a channel. */
export interface Visible {
  readonly nonce: string;
  readonly channel: string;
  readonly text: string;
  readonly replyTo: string | null;
  /** The gateway that posted it first, and when. */
  readonly by: string;
  readonly at: number;
}

export interface PlatformRecord {
  readonly messages: ReadonlyMap<string, Message>;
  /** By nonce, in the order of appearance. */
  readonly visible: ReadonlyMap<string, Visible>;
  /** Posts that came again under their nonce with another text. */
  readonly changed: readonly string[];
  /** Posts that came again, and were recognised by their nonce. */
  readonly recognised: number;
  /** Deliveries beyond the first of each message. */
  readonly redelivered: number;
}

/** A gateway, as the platform sees it. */
export interface Link {
  readonly name: string;
  send(command: Command): void;
}

/**
 * The platform with its people. It outlives every process, redelivers what was not acknowledged, and sometimes delivers
 * twice.
 */
export interface Platform {
  readonly record: PlatformRecord;
  /** Somebody sends the next message. False if nobody does, because too many messages wait for an answer. */
  say(): boolean;
  /** A gateway is there, or gone. */
  joined(link: Link): void;
  gone(link: Link): void;
  heard(link: Link, report: Extract<Report, { kind: 'acknowledged' | 'rejected' | 'post' }>): void;
  /** Redelivers events that have waited too long. Call it often. */
  tick(): void;
  /** From now on every post is accepted and acknowledged. */
  recover(): void;
}

export interface PlatformOptions {
  readonly chance: Chance;
  readonly conversations: number;
  readonly now: () => number;
}

const PATIENCE_MS = 3000;
const AFTER_REJECTION_MS = 500;
/** More in one conversation would not fit into the window together: people wait until the bot has said something. */
const MAX_WAITING = 20;
const ASKING = 0.7;
const DOUBLED = 0.08;
/** Posts that are rejected, and posts that are accepted without a response. */
const REFUSED = 0.04;
const UNANSWERED = 0.04;

interface World extends PlatformOptions {
  readonly messages: Map<string, Message>;
  readonly visible: Map<string, Visible>;
  readonly changed: string[];
  /** Messages so far, by place. */
  readonly said: Map<number, number>;
  /** Messages since the last post, by place. */
  readonly waiting: Map<number, number>;
  readonly links: Set<Link>;
  /** Who was given what, by the number of the delivery. */
  readonly deliveries: Map<number, { readonly message: Message; readonly link: Link }>;
  readonly counts: { recognised: number; redelivered: number; deliveries: number };
  isWell: boolean;
}

export function createPlatform(options: PlatformOptions): Platform {
  const counts = { recognised: 0, redelivered: 0, deliveries: 0 };
  const world: World = {
    ...options,
    messages: new Map(),
    visible: new Map(),
    changed: [],
    said: new Map(),
    waiting: new Map(),
    links: new Set(),
    deliveries: new Map(),
    counts,
    isWell: false,
  };
  const { messages, visible, changed, links } = world;
  return {
    record: {
      messages,
      visible,
      changed,
      get recognised() {
        return counts.recognised;
      },
      get redelivered() {
        return counts.redelivered;
      },
    },
    say: () => say(world),
    joined: (link) => void links.add(link),
    gone(link) {
      links.delete(link);
      // Redelivers at once what it had not acknowledged.
      for (const [number, delivery] of world.deliveries) {
        if (delivery.link !== link) continue;
        world.deliveries.delete(number);
        delivery.message.deliveredAt = 0;
      }
    },
    heard: (link, report) => hear(world, link, report),
    tick: () => tick(world),
    recover() {
      world.isWell = true;
    },
  };
}

function say(world: World): boolean {
  const { chance, conversations, now, waiting } = world;
  const places = Array.from({ length: conversations }, (_, index) => index + 1);
  const [first, ...rest] = places.filter((place) => (waiting.get(place) ?? 0) < MAX_WAITING);
  if (first === undefined) return false;
  const place = chance.pick([first, ...rest]);
  waiting.set(place, (waiting.get(place) ?? 0) + 1);
  const number = (world.said.get(place) ?? 0) + 1;
  world.said.set(place, number);
  const said = sayingOf(place, number);
  const message: Message = {
    id: said.name,
    place,
    text: said.text,
    asks: chance.happens(ASKING),
    sentAt: now(),
    acceptedAt: null,
    answeredAt: null,
    deliveredAt: 0,
    deliveries: 0,
  };
  world.messages.set(message.id, message);
  deliver(world, message);
  if (chance.happens(DOUBLED)) deliver(world, message);
  return true;
}

/** To any gateway: no conversation belongs to one. */
function deliver(world: World, message: Message): void {
  const { chance, links, counts } = world;
  const [first, ...rest] = links;
  if (first === undefined) return;
  const link = chance.pick([first, ...rest]);
  counts.deliveries += 1;
  if (message.deliveries > 0) counts.redelivered += 1;
  message.deliveries += 1;
  message.deliveredAt = world.now();
  world.deliveries.set(counts.deliveries, { message, link });
  const { id, text, asks, place, sentAt: at } = message;
  link.send({ kind: 'deliver', delivery: counts.deliveries, channel: `c${place}`, id, text, asks, at });
}

function tick(world: World): void {
  const now = world.now();
  for (const message of world.messages.values()) {
    if (message.acceptedAt === null && now - message.deliveredAt > PATIENCE_MS) deliver(world, message);
  }
}

function hear(world: World, link: Link, report: Extract<Report, { kind: 'acknowledged' | 'rejected' | 'post' }>): void {
  if (report.kind === 'post') {
    take(world, link, report);
    return;
  }
  const delivery = world.deliveries.get(report.delivery);
  if (delivery === undefined) return;
  world.deliveries.delete(report.delivery);
  if (report.kind === 'acknowledged') delivery.message.acceptedAt ??= world.now();
  else delivery.message.deliveredAt = world.now() - PATIENCE_MS + AFTER_REJECTION_MS;
}

function take(world: World, link: Link, post: Extract<Report, { kind: 'post' }>): void {
  const { chance, visible, isWell } = world;
  const { nonce, channel, text, replyTo, call } = post;
  if (chance.happens(REFUSED) && !isWell) {
    link.send({ kind: 'refused', call });
    return;
  }
  const known = visible.get(nonce);
  if (known === undefined) {
    visible.set(nonce, { nonce, channel, text, replyTo, by: link.name, at: world.now() });
    world.waiting.delete(Number(channel.slice(1)));
    for (const { name } of namesIn(text)) {
      const message = world.messages.get(name);
      if (message !== undefined) message.answeredAt ??= world.now();
    }
  } else {
    world.counts.recognised += 1;
    if (known.text !== text || known.channel !== channel) world.changed.push(nonce);
  }
  const isTold = isWell || !chance.happens(UNANSWERED);
  link.send(isTold ? { kind: 'posted', call, id: `p-${nonce}` } : { kind: 'refused', call });
}
