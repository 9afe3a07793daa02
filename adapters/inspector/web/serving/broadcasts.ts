import type { Clock, Viewer } from '../../../../src/adapter-kit.ts';

/** A part of a page that follows the bot. */
export interface Topic {
  readonly name: string;
  readonly render: () => Promise<string>;
}

/** Receives each new text, and null as a sign of life while there is none. Must not block. */
export type Send = (text: string | null) => void;

export interface Broadcasts {
  /**
   * Sends the text now, and again whenever it has changed. Resolves to a function that ends it, or to null if there are
   * too many followers. Throws what rendering throws.
   */
  follow(topic: Topic, send: Send): Promise<(() => void) | null>;
}

interface Channel {
  readonly render: Topic['render'];
  text: string;
  /** When each follower last received something. */
  readonly followers: Map<Send, number>;
}

const MAX_FOLLOWERS = 200;
/** By one viewer who is not an operator: more than anybody has open and visible. */
const MAX_OWN = 40;
const MIN_PAUSE_MS = 1000;
/** On a machine that is busy with something else, rendering takes long without working. */
const MAX_PAUSE_MS = 5000;
/** Share of the time of the process that rendering may take. */
const SHARE = 0.02;
const HEARTBEAT_MS = 25_000;

/**
 * Renders each followed part once for all, in passes, and only while somebody follows. An event of the bot costs
 * nothing, and the queries of a pass do not depend on the number of followers. Works too if the bot is another process.
 */
export function createBroadcasts(clock: Clock): Broadcasts {
  const channels = new Map<string, Channel>();
  let count = 0;
  let stopped = new AbortController();
  const join = (name: string, send: Send, channel: Channel): (() => void) => {
    channels.set(name, channel);
    channel.followers.set(send, clock.now());
    count += 1;
    if (count === 1) {
      stopped = new AbortController();
      void passes(stopped.signal);
    }
    return () => {
      if (!channel.followers.delete(send)) return;
      count -= 1;
      if (channel.followers.size === 0) channels.delete(name);
      if (count === 0) stopped.abort();
    };
  };
  const passes = async (signal: AbortSignal): Promise<void> => {
    let pauseMs = MIN_PAUSE_MS;
    for (;;) {
      await clock.sleep(pauseMs, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const startedAt = clock.now();
      for (const channel of [...channels.values()]) await refresh(channel, clock);
      pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (clock.now() - startedAt) / SHARE));
    }
  };
  return {
    async follow({ name, render }, send) {
      const text = channels.get(name)?.text ?? (await render());
      // Others may have come while it was rendered.
      if (count >= MAX_FOLLOWERS) return null;
      const channel = channels.get(name) ?? { render, text, followers: new Map() };
      const leave = join(name, send, channel);
      send(channel.text);
      return leave;
    },
  };
}

/** The same for one viewer, who cannot take the places of all others. `taken` counts the places of each by name. */
export function withOwnLimit({ follow }: Broadcasts, { name, role }: Viewer, taken: Map<string, number>): Broadcasts {
  const release = (): void => {
    const left = (taken.get(name) ?? 1) - 1;
    if (left === 0) taken.delete(name);
    else taken.set(name, left);
  };
  return {
    async follow(topic, send) {
      const own = taken.get(name) ?? 0;
      if (role !== 'operator' && own >= MAX_OWN) return null;
      taken.set(name, own + 1);
      const leave = await follow(topic, send).catch((error: unknown) => {
        release();
        throw error;
      });
      if (leave === null) {
        release();
        return null;
      }
      return () => {
        leave();
        release();
      };
    },
  };
}

async function refresh(channel: Channel, { now }: Pick<Clock, 'now'>): Promise<void> {
  // A part that cannot be rendered stays as it is until the next pass.
  const text = await channel.render().catch(() => channel.text);
  const isNew = text !== channel.text;
  channel.text = text;
  for (const [send, sentAt] of channel.followers) {
    if (!isNew && now() - sentAt < HEARTBEAT_MS) continue;
    channel.followers.set(send, now());
    send(isNew ? text : null);
  }
}
