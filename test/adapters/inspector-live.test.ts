import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLive } from '../../adapters/inspector/web/live.ts';
import { type ConversationKey, makeKey } from '../../src/adapter-kit.ts';
import { scriptedModel } from '../core/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../support/inspector-world.ts';

const keyOf = (channel: number) => makeKey({ platform: 'test', workspace: 'here', channel: String(channel) });
const { signal } = new AbortController();

function watched() {
  const listeners = new Set<(conversation: ConversationKey) => void>();
  return {
    listeners,
    watch(listener: (conversation: ConversationKey) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change(conversation: ConversationKey) {
      for (const listener of listeners) listener(conversation);
    },
  };
}

describe('viewers', () => {
  it('hear each change once, merged while they are busy', async () => {
    const bot = watched();
    const viewer = createLive(bot.watch).join();
    for (const channel of [1, 2, 1]) bot.change(keyOf(channel));
    expect([...((await viewer?.next(signal)) ?? [])]).toEqual([keyOf(1), keyOf(2)]);
    const waiting = viewer?.next(signal);
    bot.change(keyOf(3));
    expect([...((await waiting) ?? [])]).toEqual([keyOf(3)]);
  });

  it('that sleep are told to load the page again', async () => {
    const bot = watched();
    const viewer = createLive(bot.watch).join();
    for (let channel = 0; channel < 10_000; channel += 1) bot.change(keyOf(channel));
    expect(await viewer?.next(signal)).toBeNull();
  });

  it('get a heartbeat', async () => {
    const viewer = createLive(watched().watch, 1).join();
    expect((await viewer?.next(signal))?.size).toBe(0);
  });

  it('listen to the bot only while they are there', () => {
    const bot = watched();
    const live = createLive(bot.watch);
    const viewers = Array.from({ length: 201 }, () => live.join());
    expect(viewers.at(-1)).toBeNull();
    expect(bot.listeners.size).toBe(1);
    for (const viewer of viewers) viewer?.leave();
    expect(bot.listeners.size).toBe(0);
  });
});

describe('the stream', () => {
  let inspected: InspectorWorld;
  beforeEach(async () => {
    inspected = await createInspectorWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  });
  afterEach(async () => {
    await inspected[Symbol.asyncDispose]();
  });

  it('names the conversations that change', async () => {
    const response = await inspected.fetch('/live');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await inspected.world.say('Hello.');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const chunk = await reader?.read();
    expect(chunk?.value).toContain(`data: ["${inspected.world.key}"]`);
    await reader?.cancel();
  });

  it('is closed to those who are not signed in', async () => {
    const response = await fetch(`${inspected.base}/live`, { redirect: 'manual' });
    expect(response.status).toBe(302);
  });
});
