import type { Conversation, ConversationQuery, ConversationStore } from '../ports/store.ts';
import { yieldToEventLoop } from './event-loop.ts';

const PAGE = 500;

/** All that the query names, read page by page while they are asked for. Others have their turn between the pages. */
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
