import { Client } from 'pg';
import { createPostgresStorage } from '../adapters/stores/postgres/index.ts';
import { entryShelf } from '../adapters/stores/postgres/search-index.ts';
import { indexText } from '../adapters/stores/postgres/words.ts';
import type { BulkConversation } from './bulk.ts';
import { appendPast } from './past.ts';
import { conversationKey } from './world.ts';

/** The same rows as `fillStore` writes, into a Postgres. */
export async function fillPostgres(url: string, conversations: readonly BulkConversation[]): Promise<void> {
  const storage = await createPostgresStorage({ url });
  for (const { name, text } of conversations) {
    await appendPast({ storage }, { conversation: conversationKey(name), from: 1, count: 1, text });
  }
  await storage.store.close();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('set synchronous_commit = off');
  for (const conversation of conversations) await fillConversation(client, conversation);
  await client.query('vacuum analyze');
  await client.end();
}

const AT_ONCE = 2_000;

async function fillConversation(client: Client, { name, entries, text }: BulkConversation): Promise<void> {
  const found = await client.query<{ id: string }>('select id from conversation where key = $1', [
    conversationKey(name),
  ]);
  const id = Number(found.rows[0]?.id);
  for (let from = 2; from <= entries; from += AT_ONCE) {
    const seqs = Array.from({ length: Math.min(AT_ONCE, entries - from + 1) }, (_, index) => from + index);
    const texts = seqs.map(() => text());
    const parts = texts.map((said) => JSON.stringify([{ kind: 'text', text: said }]));
    const words = seqs.map((seq, index) => indexText(entryShelf(id, seq), texts[index] ?? ''));
    await client.query(ADD_ENTRIES, [id, seqs, parts]);
    await client.query(ADD_WORDS, [id, seqs, words.map((row) => row.length), words.map((row) => row.words)]);
  }
  await client.query('update conversation set next_seq = $2 where id = $1', [id, entries + 1]);
}

const ADD_ENTRIES = `
  insert into entry (conversation_id, seq, external_id, role, author_id, author_name, author_kind, parts, mentions, tokens, at)
  select $1, added.seq, 'past-' || added.seq, role, author_id, author_name, author_kind, added.parts, mentions, tokens, at
  from entry, unnest($2::bigint[], $3::text[]) as added(seq, parts)
  where entry.conversation_id = $1 and entry.seq = 1`;
const ADD_WORDS = `
  insert into entry_index (conversation_id, seq, length, words)
  select $1, seq, length, words::tsvector from unnest($2::bigint[], $3::bigint[], $4::text[]) as added(seq, length, words)`;
