import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Audience, tighter } from '../../src/domain/message.ts';
import { readerFor } from '../../src/memory/rights/policy.ts';
import { ada, bob, dm, general, openWorld, type World } from '../core/memory/memory.world.ts';

const thread = `${general}:t1` as typeof general;
const other = general.replace('general', 'other') as typeof general;
const OPEN = ['private', 'public'] as const;

/** A conversation of the place, where something of it is stored. */
async function knownAt(world: World) {
  return (await world.store.conversations.find(general)) ?? (await world.store.conversations.find(thread));
}

async function changeTo(world: World, audience: Audience) {
  const conversation = await knownAt(world);
  const change = { kind: 'audience', audience, now: world.time.now } as const;
  if (conversation !== null) await world.store.conversations.change(conversation.id, change);
}

/** What a reply at the place would be given, with the stored audience. */
async function textsAt(world: World, key: typeof general, audience?: Audience) {
  const known = audience ?? (await world.conversation(key)).audience;
  const reader = { ...readerFor({ key, audience: known }, world.agent), sharePublic: true };
  const page = { reader, limit: 500, offset: 0 };
  return (await world.store.memories.list(page)).map(({ text }) => text);
}

function remember(world: World, text: string, audience: Audience) {
  const by = { reader: world.reader(general, audience), author: ada, rights: 'member' as const };
  return world.memories.add({ text, by, subject: { id: ada.id, name: ada.name } });
}

describe('a place that changes its audience', () => {
  it('hides public memories elsewhere after it closed', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    await remember(world, 'I keep bees', 'public');
    expect(await textsAt(world, other, 'public')).toEqual(['I keep bees']);
    await changeTo(world, 'private');
    expect(await textsAt(world, other, 'public')).toEqual([]);
    expect(await textsAt(world, general)).toEqual(['I keep bees']);
  });

  it('hides private messages from newcomers', async () => {
    await using world = await openWorld();
    const said = await world.say('I keep bees', { key: general, audience: 'private' });
    await world.learn([{ text: 'Ada keeps bees', about: 'Ada', sources: [said.seq] }], { key: general });
    expect(await textsAt(world, general)).toEqual(['Ada keeps bees']);
    await world.say('welcome everybody', { key: general, audience: 'public' });
    expect(await textsAt(world, general)).toEqual([]);
  });

  it('shares only what is said after it opened', async () => {
    await using world = await openWorld();
    const before = await world.say('I keep bees', { key: general, audience: 'private' });
    const after = await world.say('I play chess', { key: general, audience: 'public' });
    await world.learn([{ text: 'Ada keeps bees', about: 'Ada', sources: [before.seq] }], { key: general });
    await world.learn([{ text: 'Ada plays chess', about: 'Ada', sources: [after.seq] }], { key: general });
    expect(await textsAt(world, general)).toEqual(['Ada plays chess']);
    expect(await textsAt(world, general, 'private')).toHaveLength(2);
  });

  it('does not quote what replaced a memory before everybody came', async () => {
    await using world = await openWorld();
    const before = await world.say('I live in Rome, behind the station', { key: general, audience: 'private' });
    world.time.now += 60_000;
    const after = await world.say('I live in Rome now', { key: general, audience: 'public' });
    const known = await remember(world, 'Ada lives in Paris', 'public');
    world.time.now += 60_000;
    await world.say('I live in Rome', { key: general, audience: 'public' });
    const newest = after.seq + 1;
    const sources = [before.seq, newest];
    const text = 'Ada lives in Rome behind the station';
    await world.learn([{ text, about: 'Ada', sources }], { key: general });
    if (known.kind === 'forgotten') throw new Error('It was never forgotten.');
    const { memory, replacedBy } = await world.memories.why(known.memory.id, world.reader(general, 'public'));
    expect([memory.state, replacedBy]).toEqual(['superseded', null]);
    const told = await world.memories.why(known.memory.id, world.reader(general, 'private'));
    expect(told.replacedBy?.text).toBe(text);
  });

  it('quotes elsewhere nothing that was said before it opened', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    const before = await world.say('I live in Rome, with Eve, who hides from the law', {
      key: general,
      audience: 'private',
    });
    const after = await world.say('I live in Rome', { key: general, audience: 'public' });
    const { ids } = await world.learn([{ text: 'Ada lives in Rome', about: 'Ada', sources: [after.seq] }], {
      key: general,
    });
    await world.learn([{ text: 'Ada lives in Rome', about: 'Ada', sources: [before.seq] }], { key: general });
    const reader = { ...world.reader(other, 'public'), sharePublic: true };
    const { sources } = await world.memories.why(ids[0] ?? '', reader);
    expect(sources.map(({ text }) => text)).toEqual(['I live in Rome']);
  });

  it('shows elsewhere nothing of before when it is forgotten', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    await world.say('Ada keeps bees, behind the old embassy', {
      by: bob,
      mentions: [ada],
      key: general,
      audience: 'private',
    });
    const after = await world.say('I keep bees', { key: general, audience: 'public' });
    const { ids } = await world.learn([{ text: 'Ada keeps bees', about: 'Ada', sources: [after.seq] }], {
      key: general,
    });
    const target = { kind: 'memories', ids: ids.filter((id) => id !== null) } as const;
    const asking = { author: ada, rights: 'member' } as const;
    const here = await world.memories.previewForget(target, { ...asking, reader: world.reader(general) });
    expect(here.sentences).toHaveLength(1);
    const { plan: _, ...shown } = await world.memories.previewForget(target, {
      ...asking,
      reader: world.reader(other, 'public'),
    });
    expect(shown.messages.map(({ entry }) => entry.seq)).toEqual([after.seq]);
    expect(shown.withheld).toEqual({ memories: 0, messages: 0, sentences: 1 });
    expect(JSON.stringify(shown)).not.toContain('embassy');
  });

  it('tells its channel by the first message of a thread', async () => {
    await using world = await openWorld();
    await remember(world, 'I keep bees', 'public');
    await world.say('now among us', { key: thread, audience: 'private' });
    expect(await textsAt(world, other, 'public')).toEqual([]);
  });

  it('never lets a direct message out', async () => {
    await using world = await openWorld();
    const said = await world.say('I keep bees', { key: dm });
    await world.learn([{ text: 'Ada keeps bees', about: 'Ada', sources: [said.seq] }]);
    expect(await textsAt(world, general, 'public')).toEqual([]);
  });
});

type Step =
  | { readonly kind: 'change' | 'say' | 'remember' | 'thread'; readonly audience: (typeof OPEN)[number] }
  | { readonly kind: 'learn'; readonly which: number };

describe('any order of changes, messages and commands', () => {
  const audience = fc.constantFrom(...OPEN);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constantFrom('change', 'say', 'remember', 'thread'), audience }),
    fc.record({ kind: fc.constant('learn'), which: fc.nat(20) }),
  );

  it('shows memories to no wider audience than then and now', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        await using world = await openWorld({ memory: { share_public: true } });
        /** The narrowest audience since each word was said, and since each memory was captured. */
        const said: { readonly word: string; readonly seq: number; since: Audience }[] = [];
        const kept = new Map<string, Audience>();
        let now: Audience = 'public';
        const turn = (audience: Audience) => {
          now = audience;
          for (const one of said) one.since = tighter(one.since, now);
          for (const [text, since] of kept) kept.set(text, tighter(since, now));
        };
        for (const [index, one] of steps.entries()) {
          const word = `w${index}x`;
          if (one.kind === 'learn') {
            const source = said[one.which % Math.max(1, said.length)];
            const text = `Ada keeps ${source?.word}`;
            if (source === undefined || kept.has(text)) continue;
            await world.learn([{ text, about: 'Ada', sources: [source.seq] }], { key: general });
            kept.set(text, source.since);
            continue;
          }
          // Before a place has stored data, changes of its audience cannot be reported.
          const isKnown = (await knownAt(world)) !== null;
          if (one.kind !== 'change' || isKnown) turn(one.audience);
          if (one.kind === 'change') await changeTo(world, one.audience);
          if (one.kind === 'thread') await world.say('hello', { key: thread, audience: one.audience });
          if (one.kind === 'say') {
            const { seq } = await world.say(`I keep ${word}`, { key: general, audience: one.audience });
            said.push({ word, seq, since: one.audience });
          }
          if (one.kind === 'remember') {
            if (isKnown) await changeTo(world, one.audience);
            await remember(world, `I own ${word}`, one.audience);
            kept.set(`I own ${word}`, one.audience);
          }
        }
        const open = [...kept].filter(([, since]) => since === 'public').map(([text]) => text);
        const allowed = now === 'public' ? open : [...kept.keys()];
        expect((await textsAt(world, general, now)).toSorted()).toEqual(allowed.toSorted());
        expect((await textsAt(world, other, 'public')).toSorted()).toEqual(open.toSorted());
        const known = await knownAt(world);
        if (known !== null) expect(known.audience).toBe(now);
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
