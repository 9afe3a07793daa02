import { waitForOwnTurn } from './event-loop.ts';

/**
 * The pages of a list whose next page begins after the last item of the one before. Other work may run between them.
 */
export async function* pagesAfter<Item>(
  limit: number,
  read: (page: { readonly limit: number; readonly after: Item | null }) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[], void, undefined> {
  for (let after: Item | null = null; ; ) {
    const page: readonly Item[] = await read({ limit, after });
    yield page;
    after = page.at(-1) ?? null;
    if (page.length < limit || after === null) return;
    await waitForOwnTurn();
  }
}

/** All items of such a list. */
export async function allAfter<Item>(...list: Parameters<typeof pagesAfter<Item>>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const page of pagesAfter(...list)) all.push(...page);
  return all;
}
