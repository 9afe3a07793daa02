import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { ConversationPage, ConversationScope } from '../../../../src/adapter-kit.ts';
import { beginsWith } from '../query/conditions.ts';
import type { Transaction } from '../query/engine.ts';
import { isKept } from '../rows/conversation-rows.ts';
import type { ConversationRow, Tables } from '../schema/tables.ts';

/** Keyset pagination: a page costs only its own rows, however many come before it. */
export async function readPage(
  query: Kysely<Tables>,
  transaction: Transaction,
  page: ConversationPage,
): Promise<readonly ConversationRow[]> {
  const { after, limit } = page;
  const all = query.selectFrom('conversation').selectAll().where(isKept);
  const read = (rows: Rows, most = limit) => transaction.rows(rows.limit(most).compile());
  switch (page.order) {
    case 'key': {
      const shown = page.withChildren === true ? all : all.where(isSeen);
      const scoped = inRange(shown, page.scope).orderBy('key');
      return await read(after === null ? scoped : scoped.where('key', '>', after.key));
    }
    case 'heard': {
      const newest = inScope(all.where(isSeen), page.scope).orderBy('heard_at', 'desc').orderBy('id', 'desc');
      if (after?.heard == null) return await read(newest.where('heard_at', 'is not', null));
      const { at } = after.heard;
      // In two steps: otherwise SQLite would seek by the time alone, and read all rows of the same moment again for
      // each page.
      const alike = await read(newest.where('heard_at', '=', at).where('id', '<', after.id));
      if (alike.length === limit) return alike;
      return [...alike, ...(await read(newest.where('heard_at', '<', at), limit - alike.length))];
    }
    case 'active': {
      const newest = all.where(isSeen).orderBy('last_activity_at', 'desc').orderBy('id', 'desc');
      if (after === null) return await read(newest);
      return await read(newest.where(sql<boolean>`(last_activity_at, id) < (${after.lastActivityAt}, ${after.id})`));
    }
    default:
      return page satisfies never;
  }
}

/** Excludes children, whose keys have a fifth part. */
export const isSeen = sql<boolean>`key not like '%:%:%:%:%'`;

type Rows = SelectQueryBuilder<Tables, 'conversation', ConversationRow>;

/** The character after the colon: all keys with a prefix sort before it. */
const AFTER_COLON = ';';

/** A range of keys: the prefix itself, and everything that starts with it and a colon. */
function inRange(rows: Rows, scope: ConversationScope): Rows {
  if ('place' in scope || scope.within === null) return inScope(rows, scope);
  const { within } = scope;
  return inScope(rows, scope).where(sql<boolean>`key >= ${within} and key < ${`${within}${AFTER_COLON}`}`);
}

/** A condition that matches no index, so that the sort order determines the index. */
function inScope(rows: Rows, scope: ConversationScope): Rows {
  if ('place' in scope) return rows.where('place', '=', scope.place);
  const { within } = scope;
  if (within === null) return rows;
  return rows.where(sql<boolean>`(key = ${within} or ${beginsWith('key', `${within}:`)})`);
}
