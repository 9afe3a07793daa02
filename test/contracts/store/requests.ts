import { beforeEach, describe, expect, it } from 'vitest';
import type { RequestLog, Store } from '../../../src/adapter-kit.ts';
import { HERE, type Kit, type Lab, NOW, THERE, textParts } from '../store-kit.ts';

const PERSONA = { hash: 'h-persona', text: 'You are helpful.' };
const TOOLS = { hash: 'h-tools', text: '[]' };

export function requestsContract(lab: Lab): void {
  describe('what requests were built from', () => {
    let store: Store;
    let kit: Kit;
    let requests: RequestLog;
    beforeEach(() => {
      ({ store, kit } = lab());
      ({ requests } = store.journal);
    });

    const answer = async (note: string, { key = HERE, parts = [PERSONA, TOOLS] } = {}) => {
      const { claim } = await kit.say('question', { conversation: key, wantsReply: true, claimLeaseMs: 500 });
      if (claim === null) throw new Error('no claim');
      const entries = [{ role: 'assistant', parts: textParts('answer'), tokens: 2, at: NOW + 7 }] as const;
      await kit.commitTurn(claim, { entries, record: { note, parts } });
      return claim.conversationId;
    };

    it('keeps notes with their replies, newest first', async () => {
      const id = await answer('one');
      await answer('two', { parts: [] });
      await kit.say('nothing asked');
      const turns = { turn: expect.any(Number), at: NOW + 7 };
      expect(await requests.notes(id, { toSeq: 9, limit: 9 })).toEqual([
        { ...turns, seq: 4, note: 'two' },
        { ...turns, seq: 2, note: 'one' },
      ]);
      expect(await requests.notes(id, { toSeq: 3, limit: 1 })).toMatchObject([{ seq: 2 }]);
      expect(await requests.notes(id, { fromSeq: 3, toSeq: 9, limit: 9 })).toMatchObject([{ seq: 4 }]);
    });

    it('stores each shared text once', async () => {
      await answer('one');
      await answer('two');
      await answer('three', { key: THERE, parts: [{ ...PERSONA, text: 'not stored again' }] });
      expect(await requests.parts(['h-persona', 'h-tools', 'h-unknown'])).toEqual(
        new Map([
          ['h-persona', PERSONA.text],
          ['h-tools', TOOLS.text],
        ]),
      );
      expect(await requests.parts([])).toEqual(new Map());
    });

    it('deletes shared texts with the last conversation', async () => {
      const here = await answer('one');
      const there = await answer('two', { key: THERE, parts: [PERSONA] });
      await store.conversations.change(here, { kind: 'purge' });
      expect([...(await requests.parts(['h-persona', 'h-tools'])).keys()]).toEqual(['h-persona']);
      await store.conversations.change(there, { kind: 'purge' });
      expect(await requests.parts(['h-persona'])).toEqual(new Map());
    });

    it('knows which entries changed after a revision', async () => {
      const { id } = await kit.fill(2);
      const edited = await kit.say('wrong', {}, { externalId: 'x1' });
      await kit.say('secret', {}, { externalId: 'x2' });
      const { revision } = await kit.get(id);
      const edit = { externalId: 'x1', parts: textParts('right'), tokens: 1, now: NOW };
      await store.transcript.edit(id, edit);
      await store.transcript.redact(id, { externalIds: ['x2'], now: NOW });
      const all = { fromSeq: 1, toSeq: 9 };
      expect(await requests.changedSince(id, { ...all, revision })).toEqual([edited.seq, edited.seq + 1]);
      expect(await requests.changedSince(id, { ...all, revision: revision + 1 })).toEqual([edited.seq + 1]);
      expect(await requests.changedSince(id, { fromSeq: 1, toSeq: edited.seq, revision })).toEqual([edited.seq]);
    });
  });
}
