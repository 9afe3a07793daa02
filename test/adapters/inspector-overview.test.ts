import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeKey } from '../../src/adapter-kit.ts';
import { findEverywhere } from '../../src/inspection/find.ts';
import { scriptedModel } from '../core/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../support/inspector-world.ts';

let inspected: InspectorWorld;
const DIRECT = makeKey({ platform: 'test', workspace: 'here', channel: 'secret' });

beforeEach(async () => {
  inspected = await createInspectorWorld({ models: [scriptedModel(() => ({ text: 'I see.' }))] });
  await inspected.world.say('The <b>lantern</b> is behind the door.');
  await inspected.world.settled();
  await inspected.world.say('A lantern for you alone.', { key: DIRECT, audience: 'dm' });
  await inspected.world.settled();
});
afterEach(async () => {
  await inspected[Symbol.asyncDispose]();
});

describe('the overview', () => {
  it('lists conversations with gauge, cost and state', async () => {
    const text = await inspected.page('/');
    for (const key of [inspected.world.key, DIRECT]) expect(text).toContain(`/c/${encodeURIComponent(key)}`);
    expect(text).toMatch(/aria-label="(?:about )?\d+ % of 3,000 tokens used"/u);
    expect(text).toContain('Owed replies');
    expect(text).toContain('Spent today');
  });

  it('shows another page of many conversations', async () => {
    for (let index = 0; index < 32; index += 1) {
      const key = makeKey({ platform: 'test', workspace: 'here', channel: `room-${index}` });
      await inspected.world.say('Hello.', { key, asks: false });
    }
    const first = await inspected.page('/');
    const next = /rel="next" href="([^"]+)"/u.exec(first)?.[1] ?? '';
    const second = await inspected.page(next);
    const keysIn = (text: string) => [...text.matchAll(/href="\/c\/([^"]+)"/gu)].map(([, key]) => key);
    const all = [...keysIn(first), ...keysIn(second)];
    expect(new Set(all).size).toBe(34);
  });
});

describe('the search', () => {
  it('escapes what people wrote', async () => {
    const text = await inspected.page('/find?q=lantern');
    expect(text).toContain('&lt;b&gt;lantern');
    expect(text).not.toContain('<b>lantern');
    expect(await inspected.page('/find?q=%22%3E%3Cscript%3E')).not.toContain('"><script>');
  });

  it('finds only what the role may read', async () => {
    const { commandParts } = inspected.world.bot;
    const found = async (role: 'viewer' | 'moderator' | 'operator') =>
      (await findEverywhere(commandParts, { name: 'x', role }, 'lantern')).messages.map(
        ({ conversation }) => conversation,
      );
    expect(await found('viewer')).toEqual([]);
    expect(await found('moderator')).toEqual([inspected.world.key]);
    expect((await found('operator')).toSorted()).toEqual([DIRECT, inspected.world.key].toSorted());
  });
});
