import { describe, expect, it } from 'vitest';
import type { MemoryId } from '../../../src/adapter-kit.ts';
import { instructionsFor, recallFor, waitingMessages } from '../../../src/memory/recall/recall.ts';
import { snapshot, user } from '../../fixtures/context.ts';
import { type ada, bob, DAY, dm, general, openWorld, type World } from './memory.world.ts';

async function recall(
  world: World,
  text: string,
  over: { limit?: number; by?: typeof ada; mentions?: [typeof ada]; key?: typeof dm } = {},
) {
  const { key = dm, limit, ...saying } = over;
  const newest = await world.say(text, { key, ...saying });
  const { id } = await world.conversation(key);
  const snapshot = await world.store.transcript.context(id, { maxEntries: 100 });
  if (snapshot === null) throw new Error('no conversation');
  return recallFor(world.services, { agent: world.agent, snapshot, newest, ...(limit === undefined ? {} : { limit }) });
}

async function texts(world: World, section: { memoryIds: readonly MemoryId[] } | null) {
  const all = [...(await world.all()), ...(await world.all(general))];
  return (section?.memoryIds ?? []).map((id) => all.find((memory) => memory.id === id)?.text);
}

describe('recall', () => {
  // Shows: O15
  it('adds only relevant memories to the message', async () => {
    await using world = await openWorld();
    await world.plant('Ada drinks green tea at breakfast');
    await world.plant('The garage of Ada holds a red car');
    const section = await recall(world, 'What should I drink, what tea do you suggest?');
    expect(await texts(world, section)).toEqual(['Ada drinks green tea at breakfast']);
    expect(section?.text).toContain('Ada drinks green tea at breakfast');
    expect(section).toMatchObject({ key: 'memories', source: 'memory' });
  });

  it('gives null when empty and when recall is off', async () => {
    await using world = await openWorld();
    expect(await recall(world, 'hello there')).toBeNull();
    await world.plant('Ada drinks green tea');
    expect(await recall(world, 'tea?', { limit: 0 })).toBeNull();
  });

  it('recalls only active, valid statements of this place', async () => {
    await using world = await openWorld();
    await world.plant('the zebra one', { state: 'candidate' });
    await world.plant('the zebra two', { state: 'superseded' });
    await world.plant('the zebra three', { state: 'rejected' });
    await world.plant('the zebra four', { validUntil: 1 });
    await world.plant('always greet the zebra five', { kind: 'instruction' });
    await world.plant('the zebra six', { place: general, audience: 'public' });
    await world.plant('the zebra seven');
    expect(await texts(world, await recall(world, 'zebra'))).toEqual(['the zebra seven']);
  });

  it.each([
    ['Thai', 'กุญแจห้องใต้ดินอยู่ในตู้เย็น', 'ขอโทษที่รบกวนนะครับ เมื่อวานผมประชุมทั้งวันเลยไม่ได้อ่านข้อความของทุกคน กุญแจห้องใต้ดินล่ะ'],
    ['Khmer', 'ឈ្មោះឆ្មាគឺពពក', 'សុំទោសដែលរំខាន ម្សិលមិញខ្ញុំប្រជុំពេញមួយថ្ងៃ ដូច្នេះមិនបានអានសាររបស់អ្នកទាំងអស់គ្នាទេ ចុះឆ្មា'],
    [
      'English',
      'The walrus lives in the cellar',
      `${Array.from({ length: 40 }, (_, day) => `chapter${day} was long`).join(', ')}. Where does the walrus live?`,
    ],
  ])('finds what is asked at the end of a long message: %s', async (_, memory, message) => {
    await using world = await openWorld();
    await world.plant(memory);
    expect(await texts(world, await recall(world, message))).toEqual([memory]);
  });

  it('reads the newest of many waiting messages first', async () => {
    await using world = await openWorld();
    await world.plant('The walrus lives in the cellar');
    const story = 'meetings thunder pancakes letters bicycles candles lemons postcards ladders'.split(' ');
    for (const word of story)
      await world.say(`${word} ${story.map((other) => `${other}${word}`).join(' ')}`, { key: dm });
    expect(await texts(world, await recall(world, 'Where does the walrus live?'))).toHaveLength(1);
  });

  it('respects the limit and puts the best first', async () => {
    await using world = await openWorld();
    const animals = 'ant bee cat dog eel fox gnu hen ibis jay'.split(' ');
    for (const animal of animals) await world.plant(`In the zoo lives a ${animal}`);
    const section = await recall(world, 'Which animal lives in the zoo?', {
      limit: 3,
    });
    expect(section?.memoryIds).toHaveLength(3);
    const fox = await texts(world, await recall(world, 'Which fox lives in the zoo?'));
    expect(fox[0]).toBe('In the zoo lives a fox');
  });

  it('prefers what is about the speaker and those mentioned', async () => {
    await using world = await openWorld();
    await world.plant('Cleo plays chess on Mondays', {
      subjectId: 'u-cleo',
      subjectName: 'Cleo',
      place: general,
      audience: 'public',
    });
    await world.plant('Bob plays chess on Sundays', {
      subjectId: bob.id,
      subjectName: 'Bob',
      place: general,
      audience: 'public',
    });
    const section = await recall(world, 'who plays chess', { by: bob, key: general });
    expect((await texts(world, section))[0]).toBe('Bob plays chess on Sundays');
  });

  // Shows: A11
  it.each([
    ['names nothing', 'is the report long?', 'The report is long'],
    ['names a thing', 'is the report of 《红楼梦》 long?', 'The report for 《红楼梦》 is long'],
    ['wants to be reminded', 'remind me: the report?', 'Send the report'],
    ['mentions a person', 'is the report long, you there?', 'The long report annoys Cleo'],
  ])('raises what a message is about that %s', async (what, text, best) => {
    await using world = await openWorld();
    const shared = { place: general, audience: 'public', subjectId: null, subjectName: null } as const;
    await world.plant('The report for 《红楼梦》 is long', { ...shared, importance: 0.4 });
    await world.plant('The report is long', { ...shared, importance: 0.5 });
    await world.plant('Send the report', { ...shared, kind: 'todo', importance: 0.4 });
    await world.plant('The long report annoys Cleo', { ...shared, subjectId: 'u-cleo', importance: 0.4 });
    const cleo = { id: 'u-cleo', name: 'Cleo', kind: 'person' } as const;
    const mentions: { mentions?: [typeof ada] } = what === 'mentions a person' ? { mentions: [cleo] } : {};
    const section = await recall(world, text, { key: general, limit: 1, ...mentions });
    expect(await texts(world, section)).toEqual([best]);
  });

  it('always brings the speaker’s identity and pinned memories', async () => {
    await using world = await openWorld();
    await world.plant('The name of this person is Ada', { kind: 'identity' });
    await world.plant('The wifi is called Kestrel', { pinned: true, subjectId: null, subjectName: null });
    await world.plant('Ada once saw a whale', { kind: 'event' });
    expect((await texts(world, await recall(world, 'good evening'))).toSorted()).toEqual([
      'The name of this person is Ada',
      'The wifi is called Kestrel',
    ]);
  });

  it('says a statement once, however often it is stored', async () => {
    await using world = await openWorld();
    await world.plant('Ada prefers green tea in the morning');
    await world.plant('In the morning Ada prefers green tea!', { subjectId: null, subjectName: null });
    expect((await recall(world, 'green tea in the morning?'))?.memoryIds).toHaveLength(1);
  });

  it('leaves out what the tail already shows', async () => {
    await using world = await openWorld();
    const said = await world.say('I prefer green tea');
    await world.learn([{ text: 'Ada prefers green tea', kind: 'preference', sources: [said.seq] }]);
    expect(await recall(world, 'what tea do I like, green tea?')).toBeNull();
  });

  it('reads the newest eight of the waiting messages', () => {
    const tail = Array.from({ length: 12 }, (_, index) => user(index + 1));
    const waiting = waitingMessages({ snapshot: snapshot(tail, { answeredUpto: 1 }), newest: { seq: 11 } });
    expect(waiting.map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('counts nothing as recalled by itself', async () => {
    await using world = await openWorld();
    await world.plant('Ada drinks green tea');
    await recall(world, 'green tea?');
    expect((await world.all())[0]?.recallCount).toBe(0);
  });
});

describe('the ledger of instructions', () => {
  it('holds the active ones, oldest first, in stable text', async () => {
    await using world = await openWorld();
    await world.plant('Answer in French', { kind: 'instruction' });
    world.time.now += DAY;
    await world.plant('Ask before deleting', { kind: 'instruction', trust: 'operator', pinned: true });
    await world.plant('Be rude', { kind: 'instruction', state: 'candidate' });
    const place = { key: dm, audience: 'dm' } as const;
    const section = await instructionsFor(world.services, place, world.agent);
    expect(section).toMatchObject({ key: 'instructions', protected: true });
    expect(section?.text).toMatch(/Answer in French[\s\S]*Ask before deleting/);
    expect(section?.text).not.toContain('Be rude');
    world.time.now += 400 * DAY;
    expect((await instructionsFor(world.services, place, world.agent))?.text).toBe(section?.text);
  });

  it('is null where there are none; keeps to its place', async () => {
    await using world = await openWorld();
    await world.plant('Answer in French', { kind: 'instruction' });
    expect(await instructionsFor(world.services, { key: general, audience: 'public' }, world.agent)).toBeNull();
  });
});
