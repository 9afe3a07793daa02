import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AUDIENCES, type Audience, type ConversationKey, makeKey } from '../../../src/adapter-kit.ts';
import { withQuestion } from '../../../src/context/preview.ts';
import { removeMessages } from '../../../src/memory/forget/removal.ts';
import { passagesFor } from '../../../src/search/passages/recall-passages.ts';
import { general, openWorld, type World } from '../memory/memory.world.ts';

const inChannel = (thread: string, isClosed = false) =>
  makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread, isClosed });
const THREAD = inChannel('t1');
const QUESTION = 'What colour is my tent?';
const SHARED = { recall: { places: true } };

async function quoted(world: World, key: ConversationKey): Promise<string> {
  const view = await world.store.transcript.context((await world.conversation(key)).id, { maxEntries: 100 });
  if (view === null) throw new Error('there is no conversation');
  const { snapshot, newest } = withQuestion(view, QUESTION, { now: world.time.now });
  const section = await passagesFor(world.services, { agent: world.agent, snapshot, waiting: [newest] });
  return (section?.passages ?? []).map(({ text }) => text).join('\n');
}

describe('passages of the place', () => {
  it.each([
    ['a thread sees the channel', general, THREAD],
    ['the channel sees a thread', THREAD, general],
    ['a thread sees another', inChannel('t2'), THREAD],
  ])('%s', async (_, from, to) => {
    await using world = await openWorld(SHARED);
    await world.say('My tent is orange.', { key: from });
    await world.say('Hello.', { key: to });
    expect(await quoted(world, to)).toBe('[elsewhere in this channel | 2026-01-05 Mon 12:00 | Ada] My tent is orange.');
  });

  it.each([
    ['unless places is set', {}, general, THREAD],
    ['from a private thread', SHARED, inChannel('p', true), general],
    ['in a private thread', SHARED, general, inChannel('p', true)],
    ['from another channel', SHARED, makeKey({ platform: 'test', workspace: 'w', channel: 'other' }), THREAD],
  ])('quote nothing %s', async (_, overrides, from, to) => {
    await using world = await openWorld(overrides);
    await world.say('My tent is orange.', { key: from });
    await world.say('Hello.', { key: to });
    expect(await quoted(world, to)).toBe('');
  });

  it('contain nothing deleted or reset', async () => {
    await using world = await openWorld(SHARED);
    await world.say('Hello.', { key: THREAD });
    await world.say('My tent is orange.', { key: general, externalId: 'x1' });
    await world.say('My tent has a door.', { key: general });
    const { id } = await world.conversation(general);
    await world.store.transcript.redact(id, { externalIds: ['x1'], now: world.time.now });
    expect(await quoted(world, THREAD)).toContain('door');
    expect(await quoted(world, THREAD)).not.toContain('orange');
    await world.store.conversations.change(id, { kind: 'reset', now: world.time.now });
    expect(await quoted(world, THREAD)).toBe('');
  });

  it('are deleted together with what the bot repeated', async () => {
    await using world = await openWorld(SHARED);
    await world.say('My tent is vermilion and stands in Kirkenes.', { key: general, externalId: 'x1' });
    await world.say(QUESTION, { key: THREAD });
    await world.answer('Your tent in Kirkenes is vermilion.', { key: THREAD });
    await removeMessages(world.services, await world.conversation(general), ['x1']);
    const { id } = await world.conversation(THREAD);
    const [, answer] = await world.store.transcript.read(id, { fromSeq: 1, toSeq: 2, limit: 2 });
    expect(answer?.redactedAt).not.toBeNull();
  });

  it('are only what the readers could read, whatever audiences change', async () => {
    const step = fc.record({ thread: fc.boolean(), audience: fc.constantFrom<Audience>(...AUDIENCES) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        await using world = await openWorld(SHARED);
        const heard = new Map<string, Audience>();
        for (const [index, { thread, audience }] of steps.entries()) {
          const text = `My tent is of colour c${index}x.`;
          await world.say(text, { key: thread ? THREAD : general, audience });
          heard.set(`c${index}x`, audience);
        }
        for (const key of [general, THREAD]) {
          if (!steps.some(({ thread }) => thread === (key === THREAD))) continue;
          const { audience } = await world.conversation(key);
          const found = [...(await quoted(world, key)).matchAll(/c\d+x/gu)].map(([word]) => word);
          for (const word of found) {
            const then = heard.get(word) ?? 'dm';
            expect(AUDIENCES.indexOf(audience)).toBeLessThanOrEqual(AUDIENCES.indexOf(then));
          }
          const others = steps.filter(({ thread }) => thread !== (key === THREAD));
          if (new Set(steps.map((one) => one.audience)).size === 1) expect(found).toHaveLength(others.length);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('a brief answer', () => {
  it('comes with its question', async () => {
    await using world = await openWorld();
    const bob = { id: 'u-bob', name: 'Bob', kind: 'person' } as const;
    await world.say('Which one should we take, the small or the large one?', { key: general, by: bob });
    await world.say('The orange tent.', { key: general });
    for (let line = 0; line < 30; line += 1)
      await world.say(`Note ${line}: the ferry was late. `.repeat(9), { key: general });
    const { id, nextSeq } = await world.conversation(general);
    const gap = { id: world.random.id() as never, conversationId: id, expectedCompactedUpto: 0, toSeq: nextSeq - 1 };
    await world.store.summaries.openGap({ ...gap, now: world.time.now });
    const found = await quoted(world, general);
    expect(found.indexOf('small or the large')).toBeGreaterThanOrEqual(0);
    expect(found.split('\n').slice(0, 2).join(' ')).toMatch(
      /small or the large[\s\S]*orange|orange[\s\S]*small or the large/u,
    );
  });
});
