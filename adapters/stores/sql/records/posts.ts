import { type Kysely, type SqlBool, sql } from 'kysely';
import type { NewPost, PostRow } from '../../../../src/adapter-kit.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction, together } from '../query/engine.ts';
import { writeJson } from '../query/json.ts';

/** The common values of the posts of one entry. */
export interface PostOrigin {
  readonly conversationId: number;
  readonly turn: number;
  /** The entry that they show; null if the turn stored none. */
  readonly entrySeq: number | null;
  readonly heldUntil: number;
}

export type InsertPosts = (
  transaction: Transaction,
  origin: PostOrigin,
  posts: readonly NewPost[],
) => Promise<readonly PostRow[]>;

/** Inserts posts in order, and returns them as pending rows. */
export function createPostInsert(engine: SqlEngine): InsertPosts {
  const insert = prepareInsert(engine);
  return async (transaction, origin, posts) => {
    const stored = await together(posts.map((post) => transaction.rows(insert({ ...origin, ...columnsOf(post) }))));
    return posts.flatMap((post, index) => (stored[index] ?? []).map(({ id }) => pending(id, origin, post)));
  };
}

interface PostColumns extends Omit<NewPost, 'body' | 'unaskedAt'> {
  readonly body: string;
  readonly unaskedAt: number | null;
}

function columnsOf({ chunk, nonce, body, replyTo, unaskedAt }: NewPost): PostColumns {
  return { chunk, nonce, body: writeJson(body), replyTo, unaskedAt: unaskedAt ?? null };
}

function pending(id: number, { conversationId, turn }: PostOrigin, post: NewPost): PostRow {
  return { ...post, id, conversationId, turn, state: 'pending', attempts: 0, reason: null, platformMessageId: null };
}

function prepareInsert({ query }: SqlEngine) {
  return prepare((p: Parameter<PostOrigin & PostColumns>) =>
    query
      .insertInto('outbox')
      .values({
        conversation_id: p('conversationId'),
        turn: p('turn'),
        entry_seq: p('entrySeq'),
        chunk: p('chunk'),
        nonce: p('nonce'),
        body: p('body'),
        reply_to: p('replyTo'),
        state: 'pending',
        attempts: 0,
        held_until: p('heldUntil'),
        unasked_at: p('unaskedAt'),
      })
      .returning('id'),
  );
}

/** Leaves pending posts out of the index: they have no message yet, and every turn writes one. */
export async function indexPosted(database: Kysely<unknown>): Promise<void> {
  await database.schema.dropIndex('outbox_message').execute();
  await database.schema
    .createIndex('outbox_message')
    .on('outbox')
    .columns(['conversation_id', 'platform_message_id'])
    .where(sql<SqlBool>`platform_message_id is not null`)
    .execute();
}
