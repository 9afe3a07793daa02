import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeKey, parseKey } from '../../../src/adapter-kit.ts';
import { findEverywhere } from '../../../src/inspection/find.ts';
import { createGauges } from '../../../src/inspection/history/gauges.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { scriptedModel } from '../../core/compaction/compaction.world.ts';
import { createInspectorWorld, type InspectorWorld } from '../../support/inspector-world.ts';

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
    expect(text).toContain('none paused');
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

it('reads a view again when it or its agent changed', async () => {
  const { world } = inspected;
  const { inspect, agents } = world.bot.commandServices;
  let [agent, reads] = [agents.agentFor(world.key), 0];
  const gauges = createGauges({
    log: silentLog,
    agents: { ...agents, agentFor: () => agent },
    async inspect(conversation) {
      reads += 1;
      return await inspect(conversation);
    },
  });
  const conversation = await world.conversation();
  const changes = [() => undefined, () => (agent = { ...agent }), () => world.say('And a second one.')];
  const counts: number[] = [];
  for (const change of changes) {
    await change();
    await gauges.of(conversation);
    counts.push(reads);
  }
  await world.settled();
  await gauges.of(await world.conversation());
  expect([...counts, reads]).toEqual([1, 2, 2, 3]);
});

it('quotes no unexpected error, which may repeat a message', async () => {
  const { world } = inspected;
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (...said: unknown[]) => void warned.push(said) };
  const inspect = async () => JSON.parse('the key is below the mat');
  const gauges = createGauges({ ...world.bot.commandServices, log, inspect });
  const problem = 'The view could not be read. The log says why.';
  expect(await gauges.of(await world.conversation())).toEqual({ gauge: null, problem });
  expect(JSON.stringify(warned)).toContain('the key');
});

const START = { afterId: null, named: 0 };

describe('the search', () => {
  it('escapes what people wrote', async () => {
    const text = await inspected.page('/find?q=lantern');
    expect(text).toContain('&lt;b&gt;lantern');
    expect(text).not.toContain('<b>lantern');
    expect(await inspected.page('/find?q=%22%3E%3Cscript%3E')).not.toContain('"><script>');
  });

  it('finds only what the role may read', async () => {
    const { commandServices } = inspected.world.bot;
    const found = async (role: 'viewer' | 'moderator' | 'operator') =>
      (
        await findEverywhere(commandServices, { viewer: { name: 'x', role }, text: 'lantern', start: START })
      ).messages.map(({ conversation }) => conversation);
    expect(await found('viewer')).toEqual([]);
    expect(await found('moderator')).toEqual([inspected.world.key]);
    expect((await found('operator')).toSorted()).toEqual([DIRECT, inspected.world.key].toSorted());
  });

  it('goes on with older conversations', async () => {
    const { world } = inspected;
    for (let index = 0; index < 110; index += 1) {
      const key = makeKey({ platform: 'test', workspace: 'here', channel: `room-${index}` });
      await world.clock.advance(1000);
      await world.say('Hello.', { key, asks: false });
    }
    const first = await inspected.page('/find?q=lantern');
    expect(first).toContain('100 conversations');
    expect(first).not.toContain('for you alone');
    const next = /rel="next" href="([^"]+)"/u.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await inspected.page(next);
    expect(second).toContain('for you alone');
    expect(second).toContain('there are no others');
    expect(await inspected.page('/find?q=room-10&after=999999&named=x')).toContain('Search: room-10');
  });

  it('searches the memories of a place once', async () => {
    const { bot, key: channel, ...world } = inspected.world;
    const key = (thread: number) => makeKey({ ...parseKey(channel), thread: `t${thread}` });
    for (let thread = 0; thread < 5; thread += 1) await world.say('Hello.', { key: key(thread), asks: false });
    const searched = vi.spyOn(bot.commandServices.memories, 'search');
    const viewer = { name: 'x', role: 'operator' } as const;
    const { searched: conversations } = await findEverywhere(bot.commandServices, {
      viewer,
      text: 'oak',
      start: START,
    });
    // The other place is the direct message.
    expect([conversations, searched.mock.calls.length]).toEqual([7, 2]);
  });

  it('names each conversation once', async () => {
    const { commandServices } = inspected.world.bot;
    const query = { viewer: { name: 'x', role: 'viewer' } as const, text: 'here' };
    const all = await findEverywhere(commandServices, { ...query, start: START });
    expect(all).toMatchObject({ searched: 0, next: null });
    expect(all.conversations.length).toBe(2);
    expect(
      (await findEverywhere(commandServices, { ...query, start: { afterId: null, named: 2 } })).conversations,
    ).toEqual([]);
  });
});
