import { describe, expect, it } from 'vitest';
import type { Storage } from '../../../src/adapter-kit.ts';
import { SIZED, sized, sizedLimitMs, spread } from '../../support/size.ts';
import { variantsOf } from './variants.world.ts';
import { bytesOf, createTalk, type Talk, type TalkOptions } from './why.world.ts';

/** Talks until there are so many replies. Every request is rebuilt right after it was sent. */
async function talkFor(talk: Talk, replies: number): Promise<void> {
  while (talk.sent.size < replies) {
    const seq = await talk.step();
    const sent = seq === null ? undefined : talk.sent.get(seq);
    if (seq === null || sent === undefined) continue;
    const explained = await talk.explain(seq);
    expect(bytesOf(explained.request)).toBe(bytesOf(sent));
    expect(explained).toMatchObject({ exactness: 'exact', seq });
  }
}

/** Bytes of notes and of what people and the bot said. */
async function sizesOf(talk: Talk): Promise<{ readonly notes: number; readonly transcript: number }> {
  const notes = await notesOf(talk);
  const entries = await talk.world.entries();
  return {
    notes: notes.reduce((sum, note) => sum + note.length, 0),
    transcript: entries.reduce((sum, { parts, author }) => sum + JSON.stringify([parts, author]).length, 0),
  };
}

async function notesOf({ world }: Talk): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation();
  const rows = await world.bot.services.store.journal.requests.notes(id, { toSeq: nextSeq, limit: nextSeq });
  return rows.map(({ note }) => note);
}

/** Stores notes as another version would have written them. */
function withNotes(change: (note: string) => string): (storage: Storage) => Storage {
  return (storage) => {
    const { transcript } = storage.store;
    const commitTurn: typeof transcript.commitTurn = ({ record, ...commit }) =>
      transcript.commitTurn(
        record === undefined ? commit : { ...commit, record: { ...record, note: change(record.note) } },
      );
    return { ...storage, store: { ...storage.store, transcript: { ...transcript, commitTurn } } };
  };
}

const WORLDS: readonly TalkOptions[] = [
  { seed: 1, window: 2000 },
  { seed: 2, window: 4000 },
  { seed: 3, window: 8000 },
  { seed: 4, window: 4000, tools: false },
  { seed: 5, window: 4000, agent: { engine: 'sliding' } },
];
/** Of the transcript. */
const MAX_SHARE = 0.06;
/** Of each story: together 10,000 requests at full size. */
const REPLIES = sized({ small: 25, full: 90 });
const VARIANTS = sized({ small: 75, full: 700 });

describe('what the model saw', () => {
  for (const options of spread(WORLDS, 3)) {
    it(`is rebuilt byte for byte, story ${options.seed}`, { ...SIZED, timeout: sizedLimitMs(400_000) }, async () => {
      await using talk = await createTalk(options);
      await talkFor(talk, REPLIES);
      const { notes, transcript } = await sizesOf(talk);
      expect(notes).toBeLessThan(MAX_SHARE * transcript);
      for await (const { sent, rebuilt, text } of variantsOf(talk, { seed: options.seed, count: VARIANTS })) {
        expect(bytesOf({ ...rebuilt, maxOutputTokens: 0 }), text).toBe(bytesOf({ ...sent, maxOutputTokens: 0 }));
      }
    });
  }

  it('is still rebuilt later, unless something changed since', { timeout: 300_000 }, async () => {
    await using talk = await createTalk({ seed: 6, window: 4000 });
    await talkFor(talk, 20);
    await talk.world.bot.sink.removed({ conversation: talk.world.key, externalIds: ['m3'] });
    let exact = 0;
    for (const [seq, sent] of talk.sent) {
      const explained = await talk.explain(seq);
      if (explained.exactness === 'exact') expect(bytesOf(explained.request)).toBe(bytesOf(sent));
      else expect(explained.blocks.some(({ gone }) => gone === 'deleted')).toBe(true);
      exact += Number(explained.exactness === 'exact');
    }
    expect(exact).toBeGreaterThan(0);
    expect(exact).toBeLessThan(talk.sent.size);
  });

  it('goes on with the notes of the process before', { timeout: 300_000 }, async () => {
    await using talk = await createTalk({ seed: 7, restarts: false });
    await talkFor(talk, 3);
    await talk.world.restart();
    await talkFor(talk, 6);
    expect((await notesOf(talk)).filter((note) => note.startsWith('='))).toHaveLength(1);
  });

  for (const [exactness, change] of [
    ['different', (note: string) => note.replace(/^(.)\S{6}/, '$1AAAAAA')],
    ['unchecked', (note: string) => note.replace(/^=\S+/, '!')],
  ] as const) {
    it(`says that a request is ${exactness}`, { timeout: 300_000 }, async () => {
      await using talk = await createTalk({ seed: 8, restarts: false, storage: withNotes(change) });
      const [seq = null] = [await talk.step(), await talk.step()].filter((found) => found !== null);
      expect(await talk.explain(seq ?? 0)).toMatchObject({ exactness, seq });
    });
  }
});
