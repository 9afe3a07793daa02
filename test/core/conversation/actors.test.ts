import { describe, expect, it } from 'vitest';
import type { ActorOptions } from '../../../src/conversation/actor.ts';
import { createActors } from '../../../src/conversation/actors.ts';
import { createDiskWatch } from '../../../src/conversation/turn/waiting/disk-watch.ts';
import { createTurnSlots } from '../../../src/conversation/turn/waiting/turn-slots.ts';
import { makeKey } from '../../../src/domain/key.ts';

const keyOf = (channel: number) => makeKey({ platform: 'terminal', workspace: 'local', channel: `c${channel}` });

/** Actors whose store never answers: each one that was given a message is busy from then on. */
function open() {
  const append = () => new Promise<never>(() => {});
  const services = { store: { transcript: { append } }, clock: { now: () => 0 }, events: { emit: () => undefined } };
  const disk = createDiskWatch(services as never);
  const slots = createTurnSlots();
  return createActors({ services, disk, slots, closing: new AbortController().signal } as unknown as ActorOptions);
}

describe('the active conversations', () => {
  it('keep the one being handed out, however many are busy', async () => {
    const actors = open();
    for (let channel = 0; channel < 600; channel += 1) {
      const actor = actors.of(keyOf(channel));
      expect(actors.of(keyOf(channel))).toBe(actor);
      actor.receive({} as never).catch(() => undefined);
    }
    expect(actors.size).toBe(600);
  });

  it('are no more than 200 when they are idle', () => {
    const actors = open();
    for (let channel = 0; channel < 700; channel += 1) actors.of(keyOf(channel));
    expect(actors.size).toBe(200);
    expect(actors.peek(keyOf(699))).not.toBeNull();
    expect(actors.peek(keyOf(0))).toBeNull();
  });
});
