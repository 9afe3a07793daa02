import type { CommandServices } from '../commands/services.ts';
import { hitRateOf, sumOf } from '../costs/format.ts';
import type { CacheLossTotal, Spending, SpendingKey, Spent } from '../ports/journal.ts';
import { DAY_MS } from '../util/time/time.ts';
import type { Viewer } from './viewer.ts';

export interface CostsQuery {
  readonly viewer: Viewer;
  /** Today and the days before it (UTC); null for all. */
  readonly days: number | null;
}

/** What model calls cost in the chosen days, as a whole and in groups. */
export interface CostsView {
  readonly total: Spent;
  /** Oldest first. */
  readonly days: readonly Spending[];
  /** Without people for viewers, who see no names. */
  readonly groups: readonly { readonly by: SpendingKey; readonly rows: readonly Spending[] }[];
  /** Share of the input of replies that the provider had cached; null if unknown. */
  readonly hitRate: number | null;
  readonly losses: readonly CacheLossTotal[];
  readonly priceSource: string;
}

const MAX_ROWS = 20;
const MAX_DAYS = 60;

export async function costsView(
  { store, clock, prices }: CommandServices,
  { viewer, days }: CostsQuery,
): Promise<CostsView> {
  const since = days === null ? null : clock.now() - (days - 1) * DAY_MS;
  const sums = (by: SpendingKey, limit: number) => store.journal.spending({ by, since, conversationId: null, limit });
  const keys = (['purpose', 'model', 'agent', 'conversation', 'person'] as const).filter(
    (by) => by !== 'person' || viewer.role !== 'viewer',
  );
  const groups = await Promise.all(keys.map(async (by) => ({ by, rows: await sums(by, MAX_ROWS) })));
  const purposes = groups.find(({ by }) => by === 'purpose')?.rows ?? [];
  return {
    total: sumOf(purposes),
    days: (await sums('day', MAX_DAYS)).toReversed(),
    groups,
    hitRate: hitRateOf(sumOf(purposes.filter(({ key }) => key === 'reply'))),
    losses: await store.journal.cache.losses({ since, conversationId: null }),
    priceSource: prices.source,
  };
}
