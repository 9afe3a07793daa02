import { describe, expect, it } from 'vitest';
import { SIZED, sized, sizedLimitMs } from '../support/size.ts';
import { bytesOf, createTalk, type Talk, type TalkOptions } from './why.world.ts';

/** Talks until there are so many replies. Every request is rebuilt right after it was sent. */
async function talkFor(talk: Talk, replies: number): Promise<void> {
  while (talk.sent.size < replies) {
    const seq = await talk.step();
    const sent = seq === null ? undefined : talk.sent.get(seq);
    if (seq === null || sent === undefined) continue;
    const explained = await talk.explain(seq);
    expect(bytesOf(explained.request)).toBe(bytesOf(sent));
    expect(explained).toMatchObject({ isExact: true, seq });
  }
}

/** Bytes of notes and of what people and the bot said. */
async function sizesOf({ world }: Talk): Promise<{ readonly notes: number; readonly transcript: number }> {
  const { id, nextSeq } = await world.conversation();
  const range = { toSeq: nextSeq, limit: nextSeq };
  const notes = await world.bot.services.store.journal.requests.notes(id, range);
  const entries = await world.entries();
  return {
    notes: notes.reduce((sum, { note }) => sum + note.length, 0),
    transcript: entries.reduce((sum, { parts, author }) => sum + JSON.stringify([parts, author]).length, 0),
  };
}

const WORLDS: readonly TalkOptions[] = [
  { seed: 1, window: 2000 },
  { seed: 2, window: 4000 },
  { seed: 3, window: 8000 },
  { seed: 4, window: 4000, tools: false },
  { seed: 5, window: 4000, agent: { engine: 'sliding' } },
];
/** Of the transcript. Most stories take half of this; one that recalls eight other memories each time names them all. */
const MAX_SHARE = 0.08;
const REPLIES = sized({ small: 25, full: 200 });

describe('what the model saw', () => {
  for (const options of WORLDS) {
    it(`is rebuilt byte for byte, story ${options.seed}`, { ...SIZED, timeout: sizedLimitMs(120_000) }, async () => {
      await using talk = await createTalk(options);
      await talkFor(talk, REPLIES);
      const { notes, transcript } = await sizesOf(talk);
      expect(notes).toBeLessThan(MAX_SHARE * transcript);
    });
  }

  it('is still rebuilt later, unless something changed since', { timeout: 60_000 }, async () => {
    await using talk = await createTalk({ seed: 6, window: 4000 });
    await talkFor(talk, 20);
    await talk.world.bot.sink.removed({ conversation: talk.world.key, externalIds: ['m3'] });
    const word = [...talk.sent.values()].map(bytesOf).find((sent) => sent.includes('m3'));
    expect(word).toBeUndefined();
    let exact = 0;
    for (const [seq, sent] of talk.sent) {
      const explained = await talk.explain(seq);
      if (explained.isExact) expect(bytesOf(explained.request)).toBe(bytesOf(sent));
      else expect(explained.blocks.some(({ gone }) => gone === 'deleted')).toBe(true);
      exact += Number(explained.isExact);
    }
    expect(exact).toBeGreaterThan(0);
    expect(exact).toBeLessThan(talk.sent.size);
  });
});
