import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Town } from './town.ts';

const conversationSchema = z.object({
  next_seq: z.number(),
  compacted_upto: z.number(),
  context_from: z.number(),
  extracted_upto: z.number(),
  reply_due_seq: z.number(),
  answered_upto: z.number(),
  failures: z.number(),
});
const entrySchema = z.object({
  seq: z.number(),
  external_id: z.string().nullable(),
  role: z.string(),
  turn: z.number().nullable(),
  parts: z.string(),
});
const summarySchema = z.object({ kind: z.string(), level: z.number(), from_seq: z.number(), to_seq: z.number() });
const memorySchema = z.object({ text: z.string(), seqs: z.string() });
const outboxSchema = z.object({ nonce: z.string(), state: z.string(), turn: z.number() });

/** The file of the store on disk, read without code of the bot. */
export function look(directory: string) {
  const database = new Database(join(directory, 'strata.db'));
  const rows = <Row>(schema: z.ZodType<Row>, sql: string): readonly Row[] =>
    z.array(schema).parse(database.prepare(sql).all());
  const conversation = rows(conversationSchema, 'select * from conversation')[0];
  const entries = rows(entrySchema, 'select seq, external_id, role, turn, parts from entry order by seq');
  const stack = rows(
    summarySchema,
    `select kind, level, from_seq, to_seq from summary where superseded_by is null order by from_seq`,
  );
  const memories = rows(
    memorySchema,
    `select text, (select group_concat(seq) from memory_source where memory_id = memory.id) as seqs from memory`,
  );
  const outbox = rows(outboxSchema, 'select nonce, state, turn from outbox order by id');
  database.close();
  const facts = memories.map(({ text }) => text);

  return {
    conversation,
    stack,
    /** I1, I2, I4 and I8: what holds whenever the process died. */
    expectWhole(town: Town): void {
      if (conversation === undefined) {
        expect(town.messages.filter((message) => message.acceptedAt !== null)).toEqual([]);
        return;
      }
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: conversation.next_seq - 1 }, (_, i) => i + 1));
      const ids = entries.flatMap(({ external_id: id }) => (id === null ? [] : [id]));
      expect(new Set(ids).size).toBe(ids.length);
      const accepted = town.messages.filter(({ acceptedAt }) => acceptedAt !== null);
      expect(accepted.filter(({ id }) => !ids.includes(id))).toEqual([]);
      let next = conversation.context_from;
      for (const item of stack) {
        expect(item.from_seq).toBe(next);
        next = item.to_seq + 1;
        const isTorn = entries[item.to_seq]?.role === 'tool';
        expect(isTorn, `a layer ends inside the tool group at #${item.to_seq}`).toBe(false);
      }
      expect(next).toBe(conversation.compacted_upto + 1);
      expect(new Set(facts).size, 'a memory is stored twice').toBe(facts.length);
      for (const { text, seqs } of memories) {
        expect(seqs.split(',')).toHaveLength(1);
        expect(entries[Number(seqs) - 1]?.parts).toContain(text);
        expect(Number(seqs), 'a memory of a range that was not read').toBeLessThanOrEqual(conversation.extracted_upto);
      }
      expect(new Set(outbox.map(({ nonce }) => nonce)).size).toBe(outbox.length);
    },
    /** No work is left: everything is answered, posted once, covered, and remembered once. */
    expectDone(town: Town): void {
      this.expectWhole(town);
      expect(conversation?.answered_upto).toBeGreaterThanOrEqual(conversation?.reply_due_seq ?? Infinity);
      expect(conversation).toMatchObject({ failures: 0, extracted_upto: (conversation?.next_seq ?? 0) - 1 });
      expect(town.messages.filter(({ answeredAt }) => answeredAt === null)).toEqual([]);
      expect(stack.filter(({ kind }) => kind === 'gap')).toEqual([]);
      expect(stack.some(({ level }) => level > 0)).toBe(true);
      expect(outbox.filter(({ state }) => state !== 'sent')).toEqual([]);
      expect(outbox.map(({ nonce }) => nonce).toSorted()).toEqual([...town.posts.keys()].toSorted());
      for (const { nonce, text } of town.attempts)
        expect(text, 'a nonce was used twice').toBe(town.posts.get(nonce)?.text);
      const turns = entries.flatMap(({ role, turn }) => (role === 'assistant' ? [turn] : []));
      expect(new Set(outbox.map(({ turn }) => turn))).toEqual(new Set(turns));
      const expected = town.messages.map((_, index) => `My parcel ${10_000 + index} is at the post office.`);
      expect(facts.toSorted()).toEqual(expected.toSorted());
    },
  };
}
