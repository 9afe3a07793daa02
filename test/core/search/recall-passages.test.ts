import { describe, expect, it } from 'vitest';
import type { LossIndex, ModelRequest, PassageSection } from '../../../src/adapter-kit.ts';
import { fitPassages } from '../../../src/context/fit/passages.ts';
import { estimateText } from '../../../src/context/measure/tokens.ts';
import { waitingMessages } from '../../../src/memory/recall/recall.ts';
import { asksOfThePast } from '../../../src/search/passages/asking.ts';
import { passagesFor } from '../../../src/search/passages/recall-passages.ts';
import { ASKING, TELLING } from '../../fixtures/asking.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { general, openWorld, type World } from '../memory/memory.world.ts';

const FILLER = 'The weather report spoke of clouds, a little wind and the usual traffic on the bridge. '.repeat(6);

/** A conversation whose first messages are beyond the view, replaced by a gap. */
async function talk(world: World, lines: readonly string[]): Promise<void> {
  for (const line of lines) await world.say(line);
  const { id, nextSeq } = await world.conversation();
  const gap = { id: world.random.id() as never, conversationId: id, expectedCompactedUpto: 0, toSeq: nextSeq - 1 };
  await world.store.summaries.openGap({ ...gap, now: world.time.now });
}

async function passages(world: World, question: string, lost: LossIndex = {}): Promise<PassageSection | null> {
  const newest = await world.say(question);
  const { id } = await world.conversation();
  const snapshot = await world.store.transcript.context(id, { maxEntries: 100 });
  if (snapshot === null) throw new Error('no conversation');
  return await passagesFor(world.services, {
    agent: world.agent,
    snapshot: { ...snapshot, stack: snapshot.stack.map((summary) => ({ ...summary, lost })) },
    waiting: waitingMessages({ snapshot, newest }),
  });
}

const quoted = (section: PassageSection | null): string => (section?.passages ?? []).map(({ text }) => text).join('\n');

describe('whether a message asks for the past', () => {
  it('knows questions in many languages, with or without a mark', () => {
    expect(ASKING.filter((text) => !asksOfThePast(text))).toEqual([]);
  });

  it('takes no heading, statement or order for a question', () => {
    expect(TELLING.filter((text) => asksOfThePast(text))).toEqual([]);
  });
});

describe('passages', () => {
  it('quote the message that answers, with its number and date', async () => {
    await using world = await openWorld();
    await talk(world, ['My tent is orange\nand it has a green door.', FILLER, 'The landlord is called Novak.', FILLER]);
    const section = await passages(world, 'What colour is my tent?');
    expect(section?.passages[0]?.text).toBe(
      '[#1 | 2026-01-05 Mon 12:00 | Ada] My tent is orange\n  and it has a green door.',
    );
    expect(section).toMatchObject({ key: 'passages', source: 'transcript', memoryIds: [] });
  });

  it.each(['My new tent arrived today.', 'What is the boiling point of tungsten?'])(
    'are not offered for %s',
    async (text) => {
      await using world = await openWorld();
      await talk(world, ['My tent is orange.', FILLER, 'The landlord is called Novak.', FILLER]);
      expect(await passages(world, text)).toBeNull();
    },
  );

  it('cost no query while the view holds everything', async () => {
    await using world = await openWorld();
    await world.say('My tent is orange.');
    const failing = { ...world.services.search, entries: () => Promise.reject(new Error('searched')) };
    const newest = await world.say('What colour is my tent?');
    const snapshot = await world.store.transcript.context((await world.conversation()).id, { maxEntries: 100 });
    if (snapshot === null) throw new Error('no conversation');
    const request = { agent: world.agent, snapshot, waiting: waitingMessages({ snapshot, newest }) };
    expect(await passagesFor({ ...world.services, search: failing }, request)).toBeNull();
  });

  it('quote a lost detail of the requested kind', async () => {
    await using world = await openWorld();
    const said = 'KLM88Z is what the man at the ferry desk wrote down for us.';
    await talk(world, [said, FILLER, 'The landlord is called Novak.', FILLER]);
    const asked = 'Which code do I show for our boat reservation?';
    expect(await passages(world, asked)).toBeNull();
    expect(quoted(await passages(world, asked, { code: [1] }))).toContain('KLM88Z');
  });

  it('answer questions that describe what they ask for', async () => {
    await using world = await openWorld();
    const around = ['My name tag is in the car.', 'A person rang.', 'The woman left.', 'That man again.'];
    const said = 'Mrs Okonkwo from the corner house is at the piano on Fridays.';
    await talk(world, [...around.flatMap((line) => [line, FILLER, FILLER, FILLER]), said, FILLER]);
    const asked = 'What is the name of the person, a woman or a man, who gives piano lessons?';
    expect(quoted(await passages(world, asked))).toContain('Okonkwo');
  });

  it('need no match for words that only ask', async () => {
    await using world = await openWorld();
    await talk(world, ['Котёл 14 марта проверял мастер Громов.', FILLER]);
    expect(quoted(await passages(world, 'кто последний раз смотрел котёл'))).toContain('Громов');
  });

  it('contain nothing deleted or from before a reset', async () => {
    await using world = await openWorld();
    await talk(world, ['The vault code of my tent is 4417.', 'My tent is orange.', FILLER]);
    const { id } = await world.conversation();
    await world.store.transcript.redact(id, { externalIds: ['m1'], now: world.time.now });
    const after = quoted(await passages(world, 'What about my tent, which colour and code?'));
    expect(after).toContain('orange');
    expect(after).not.toContain('4417');
    await world.store.conversations.change(id, { kind: 'reset', now: world.time.now });
    await talk(world, [FILLER]);
    expect(quoted(await passages(world, 'What colour is my tent?'))).not.toContain('orange');
  });

  it('never come from another conversation', async () => {
    await using world = await openWorld();
    await world.say('My tent is purple.', { key: general });
    await talk(world, ['The tent was a present.', FILLER]);
    expect(quoted(await passages(world, 'What colour is my tent?'))).not.toContain('purple');
  });
});

describe('the room for passages', () => {
  const passage = (seq: number, text: string) => ({ seq, externalId: `m${seq}`, text });
  const section: PassageSection = {
    key: 'passages',
    text: '[Earlier]',
    source: 'transcript',
    reason: '',
    memoryIds: [],
    passages: [passage(7, 'best '.repeat(40)), passage(3, 'second '.repeat(40)), passage(5, 'third')],
  };
  const room = { profile: { recallTokens: 400 }, others: [], freeTokens: 1000, firstSeq: 100 };

  it('takes the best first and shows them in order', () => {
    const fitted = fitPassages(section, { ...room, freeTokens: 40 + estimateText(section.passages[0]?.text ?? '') });
    expect(fitted?.passages.map(({ seq }) => seq)).toEqual([7, 5]);
    expect(fitted?.text.startsWith('[Earlier]\nthird\nbest')).toBe(true);
  });

  it('is shared with memories and empty for a full view', () => {
    const memories = { ...section, key: 'memories', text: 'word '.repeat(400), memoryIds: ['m' as never] };
    expect(fitPassages(section, { ...room, others: [memories] })).toBeNull();
    expect(fitPassages(section, { ...room, freeTokens: 20 })).toBeNull();
  });

  it('holds nothing that the view shows anyway', () => {
    expect(fitPassages(section, { ...room, firstSeq: 5 })?.passages.map(({ seq }) => seq)).toEqual([3]);
    const passages = section.passages.map((one) => (one.seq === 7 ? { ...one, from: general } : one));
    const fitted = fitPassages({ ...section, passages }, { ...room, firstSeq: 5 });
    expect(fitted?.passages.map(({ seq, from }) => [seq, from])).toEqual([
      [7, general],
      [3, undefined],
    ]);
  });
});

describe('a bot', () => {
  const lastMessage = (requests: readonly ModelRequest[]) =>
    JSON.stringify(requests.findLast(({ purpose }) => purpose === 'reply')?.messages.at(-1));

  it('sees the message that answers, without a tool call', async () => {
    const model = scriptedModel(() => ({ text: 'Noted.' }), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [model] });
    await world.say('My tent is orange.');
    await world.settled();
    for (let turn = 0; turn < 24; turn += 1) {
      await world.say(`${turn} ${FILLER}${FILLER}`);
      await world.settled();
    }
    expect((await world.snapshot()).conversation.compactedUpto).toBeGreaterThan(0);
    await world.say('What colour is my tent?');
    await world.settled();
    expect(lastMessage(model.requests)).toContain('| Ada] My tent is orange.');
    await world.say('I will sleep now.');
    await world.settled();
    expect(lastMessage(model.requests)).not.toContain('orange');
  });
});
