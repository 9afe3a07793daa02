import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { z } from 'zod';

/** The content of the store, read with plain SQL and no code of the product. */
export interface Rows {
  readonly conversations: readonly z.infer<typeof conversationSchema>[];
  readonly entries: readonly z.infer<typeof entrySchema>[];
  readonly summaries: readonly z.infer<typeof summarySchema>[];
  readonly memories: readonly z.infer<typeof memorySchema>[];
  readonly outbox: readonly z.infer<typeof outboxSchema>[];
}

/** One look, in one snapshot. Rejects while the store cannot be reached. */
export type ReadRows = () => Promise<Rows>;

const number = z.coerce.number();
const conversationSchema = z.object({
  id: number,
  key: z.string(),
  next_seq: number,
  compacted_upto: number,
  context_from: number,
  extracted_upto: number,
  reply_due_seq: number,
  answered_upto: number,
  reply_epoch: number,
  reply_until: number.nullable(),
  maintenance_epoch: number,
  maintenance_until: number.nullable(),
  failures: number,
});
const entrySchema = z.object({
  conversation_id: number,
  seq: number,
  external_id: z.string().nullable(),
  role: z.string(),
  turn: number.nullable(),
  parts: z.string(),
});
const summarySchema = z.object({
  id: z.string(),
  conversation_id: number,
  kind: z.string(),
  level: number,
  from_seq: number,
  to_seq: number,
  text: z.string(),
  superseded_by: z.string().nullable(),
});
const memorySchema = z.object({ id: z.string(), text: z.string(), conversation_id: number, seq: number });
const outboxSchema = z.object({
  conversation_id: number,
  nonce: z.string(),
  state: z.string(),
  turn: number,
  chunk: number,
});

const QUERIES = {
  conversations: `select ${Object.keys(conversationSchema.shape).join(', ')} from conversation order by id`,
  entries: `select ${Object.keys(entrySchema.shape).join(', ')} from entry order by conversation_id, seq`,
  summaries: `select ${Object.keys(summarySchema.shape).join(', ')} from summary order by conversation_id, from_seq, level`,
  memories: `select id, text, conversation_id, seq from memory join memory_source on memory_id = id order by id, seq`,
  outbox: `select ${Object.keys(outboxSchema.shape).join(', ')} from outbox order by id`,
} as const;

type RawRows = { readonly [Table in keyof typeof QUERIES]: readonly unknown[] };

function parse(raw: RawRows): Rows {
  return {
    conversations: z.array(conversationSchema).parse(raw.conversations),
    entries: z.array(entrySchema).parse(raw.entries),
    summaries: z.array(summarySchema).parse(raw.summaries),
    memories: z.array(memorySchema).parse(raw.memories),
    outbox: z.array(outboxSchema).parse(raw.outbox),
  };
}

export function readSqlite(directory: string): ReadRows {
  return async () => {
    const database = new Database(join(directory, 'strata.db'), { readonly: true });
    try {
      const read = (query: string): readonly unknown[] => database.prepare(query).all();
      return parse(database.transaction(() => all(read))());
    } finally {
      database.close();
    }
  };
}

export function readPostgres(url: string): ReadRows {
  return async () => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('start transaction isolation level repeatable read read only');
      const read = async (query: string): Promise<readonly unknown[]> => (await client.query(query)).rows;
      return parse({
        conversations: await read(QUERIES.conversations),
        entries: await read(QUERIES.entries),
        summaries: await read(QUERIES.summaries),
        memories: await read(QUERIES.memories),
        outbox: await read(QUERIES.outbox),
      });
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}

function all(read: (query: string) => readonly unknown[]): RawRows {
  const { conversations, entries, summaries, memories, outbox } = QUERIES;
  return {
    conversations: read(conversations),
    entries: read(entries),
    summaries: read(summaries),
    memories: read(memories),
    outbox: read(outbox),
  };
}
