import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { ConversationPage, ConversationScope } from '../../../src/index.ts';
import type { Statement } from './engine.ts';
import type { ConversationRow, Tables } from './tables.ts';

/** A page by keyset: it costs its rows, however many stand before it. */
export function pageOf(query: Kysely<Tables>, page: ConversationPage): Statement<ConversationRow> {
  const { after, limit } = page;
  const all = query.selectFrom('conversation').selectAll().limit(limit);
  switch (page.order) {
    case 'key': {
      const scoped = inRange(all, page.scope).orderBy('key');
      return (after === null ? scoped : scoped.where('key', '>', after.key)).compile();
    }
    case 'heard': {
      const scoped = inScope(all, page.scope).where('heard_at', 'is not', null);
      const newest = scoped.orderBy('heard_at', 'desc').orderBy('id', 'desc');
      if (after?.heard == null) return newest.compile();
      return newest.where(sql<boolean>`(heard_at, id) < (${after.heard.at}, ${after.id})`).compile();
    }
    case 'active': {
      const newest = all.orderBy('last_activity_at', 'desc').orderBy('id', 'desc');
      if (after === null) return newest.compile();
      return newest.where(sql<boolean>`(last_activity_at, id) < (${after.lastActivityAt}, ${after.id})`).compile();
    }
    default:
      return page satisfies never;
  }
}

type Rows = SelectQueryBuilder<Tables, 'conversation', ConversationRow>;

/** Follows the colon in the order of characters: all keys below a head stand before it. */
const AFTER_COLON = ';';

/** A range of the keys: the head itself, and what begins with it and a colon. */
function inRange(rows: Rows, scope: ConversationScope): Rows {
  if ('place' in scope || scope.within === null) return inScope(rows, scope);
  const { within } = scope;
  return inScope(rows, scope).where(sql<boolean>`key >= ${within} and key < ${`${within}${AFTER_COLON}`}`);
}

/** A condition that no index answers: the order is to choose the index. */
function inScope(rows: Rows, scope: ConversationScope): Rows {
  if ('place' in scope) return rows.where('place', '=', scope.place);
  const { within } = scope;
  if (within === null) return rows;
  const head = `${within}:`;
  return rows.where(sql<boolean>`(key = ${within} or substr(key, 1, ${sql.lit(head.length)}) = ${head})`);
}
