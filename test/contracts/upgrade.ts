import { expect, it } from 'vitest';
import type { Storage } from '../../src/adapter-kit.ts';
import { createKit, HERE, NOW, THERE } from './store-kit.ts';

export interface StoreUnderUpgrade {
  open(): Promise<Storage>;
  /** Runs statements on the closed store. */
  run(statements: readonly string[]): Promise<void>;
}

/** What 0.1.0 did not have. The words of its index are cleared, so that finding something shows that they were made. */
export const BACK_TO_0_1_0 = [
  'drop table identity',
  'drop table conversation_state',
  `insert into state values ('spend', '1', '{}'), ('spend', '99', '{}'), ('breaker', 'm', '{}')`,
  'drop table memory_reading',
  'drop table held',
  'drop table cache_loss',
  'drop table ready_summary',
  'drop table last_request',
  'drop table request_link',
  'drop table request_part',
  'drop index entry_noted',
  'drop index entry_changed',
  'alter table entry drop column request',
  'alter table entry drop column wants_reply',
  'alter table entry drop column added',
  'alter table memory drop column added',
  'drop index memory_subject',
  'drop index memory_listed',
  'drop index memory_workspace',
  'create index memory_workspace on memory (workspace, audience)',
  'drop index memory_statement',
  'create index memory_statement on memory (place, fingerprint)',
  'drop index outbox_pending',
  "create index outbox_pending on outbox (id) where state = 'pending'",
  'drop index conversation_heard',
  'drop index conversation_maintained',
  'alter table conversation drop column heard_id',
  'alter table conversation drop column heard_at',
  'alter table conversation drop column present_audience',
  'alter table conversation drop column present_from',
  'alter table conversation drop column changed_revision',
  'alter table outbox drop column unasked_at',
  'alter table summary drop column lost',
  'drop table usage',
  `create table usage (conversation_id bigint not null references conversation (id) on delete cascade, purpose text not null,
     model text not null, calls bigint not null, input_tokens bigint not null, output_tokens bigint not null,
     cache_read_tokens bigint not null, cache_write_tokens bigint not null, last_at bigint not null,
     primary key (conversation_id, purpose, model))`,
  `insert into usage values (1, 'reply', 'm', 2, 10, 3, 4, 5, ${NOW})`,
  "delete from kysely_migration where name >= '0003'",
];

/** Names the store's queue on any server. */
export const QUEUE_SAFE = /^[\w-]{1,64}$/;

/** A store of an older version is brought up to date when it is opened. */
export function upgradeContract(clearIndex: readonly string[], use: () => StoreUnderUpgrade): void {
  it('upgrades the tables of 0.1.0 with their content', async () => {
    const { open, run } = use();
    const old = await open();
    const kit = createKit(old);
    const { conversation } = await kit.say("l'hôtel du port", {}, { externalId: 'x1', at: NOW - 9 });
    await kit.say('아들이 첼로를 배워요', { wantsReply: true }, { externalId: 'x2', at: NOW - 5 });
    await kit.say('deleted', {}, { externalId: 'x3', at: NOW });
    await old.store.transcript.redact(conversation.id, { externalIds: ['x3'], now: NOW });
    await kit.say('imported', { conversation: THERE }, { externalId: null });
    await kit.compact(await kit.claim('maintenance', conversation.id), kit.summary(1, 1, { text: "l'hôtel" }), {
      memories: [kit.inserting("Ada aime l'hôtel", [1])],
    });
    await old.store.close();
    await run([...clearIndex, ...BACK_TO_0_1_0]);
    await run(["update entry set reply_to = parts, parts = '{' where seq = 2"]);
    await expect(open()).rejects.toThrow();
    // Nothing of the change that failed is left.
    await run(['update entry set parts = reply_to, reply_to = null where seq = 2']);

    const upgraded = await open();
    const { store, search } = upgraded;
    expect(upgraded.upkeep.id).toMatch(QUEUE_SAFE);
    expect(await upgraded.state.list('spend')).toEqual([]);
    expect(await upgraded.state.of(conversation.id).get('spend')).toEqual({});
    expect(await upgraded.state.list('breaker')).toHaveLength(1);
    expect((await store.conversations.find(HERE))?.heard).toEqual({ externalId: 'x3', at: NOW });
    const entries = await store.transcript.read(conversation.id, { fromSeq: 1, toSeq: 3, limit: 3 });
    expect(entries.map(({ wantsReply }) => wantsReply)).toEqual([false, true, false]);
    expect((await store.conversations.find(THERE))?.heard).toBeNull();
    const { id: conversationId } = conversation;
    const tokens = { inputTokens: 10, outputTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 5, reasoningTokens: 0 };
    const asked = { by: 'day', since: null, conversationId, limit: 9 } as const;
    expect(await store.journal.spending(asked)).toEqual([
      { key: '2023-11-14', calls: 2, ...tokens, costUsd: 0, unpricedCalls: 2 },
    ]);
    const find = async (text: string) =>
      (await search.entries({ conversationId, text, limit: 9 })).map(({ seq }) => seq);
    expect(await find('hôtel')).toEqual([1]);
    expect(await find('아들은')).toEqual([2]);
    expect(await find('deleted')).toEqual([]);
    expect(await search.summaries({ conversationId, text: 'hôtel', limit: 9 })).toHaveLength(1);
    await createKit(upgraded).say("l'hôtel encore");
    expect((await find('hôtel')).toSorted()).toEqual([1, 4]);
    await store.close();
  });
}
