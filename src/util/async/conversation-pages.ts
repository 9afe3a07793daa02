import type { Conversation, ConversationQuery, ConversationStore } from '../../ports/store.ts';
import { yieldToEventLoop } from './event-loop.ts';

const PAGE = 500;

/** Everything that the query matches, read page by page on demand. Other work may run between the pages. */
export async function* pagesOf(
  store: Pick<ConversationStore, 'list'>,
  query: ConversationQuery,
): AsyncGenerator<Conversation, void, undefined> {
  let after: Conversation | null = null;
  do {
    const page: readonly Conversation[] = await store.list({ ...query, limit: PAGE, after });
    yield* page;
    after = page.length < PAGE ? null : (page.at(-1) ?? null);
    await yieldToEventLoop();
  } while (after !== null);
}
