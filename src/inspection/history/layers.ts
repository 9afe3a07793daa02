import type { SummaryId } from '../../domain/message.ts';
import type { MaintenanceRun } from '../../ports/journal.ts';
import type { Summary, SummaryStore } from '../../ports/summary-store.ts';

/** A layer that is or was in the view. */
export interface LayerSpan {
  readonly id: SummaryId;
  readonly kind: Summary['kind'];
  readonly level: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly tokens: number;
  readonly stale: boolean;
  readonly createdAt: number;
  /** Earlier than `createdAt` if it was rewritten: when its range was first summarised, as far as the runs tell. */
  readonly since: number;
  /** When a summary of the next level replaced it; null while it is in the view. */
  readonly leftAt: number | null;
}

interface LayersQuery {
  readonly conversationId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly runs: readonly MaintenanceRun[];
}

const MAX_LAYERS = 1000;

/** The stack and everything below it that touches the range, by level and start. Gaps that were filled are not kept. */
export async function layersOf(
  summaries: Pick<SummaryStore, 'live' | 'children'>,
  { conversationId, fromSeq, toSeq, runs }: LayersQuery,
): Promise<readonly LayerSpan[]> {
  const firstAt = firstRuns(runs);
  const spanOf = (layer: Summary, leftAt: number | null) => spanSince(layer, firstAt, leftAt);
  const touches = (layer: Summary) => layer.toSeq >= fromSeq && layer.fromSeq <= toSeq;
  const found: LayerSpan[] = [];
  let open = (await summaries.live(conversationId)).filter(touches).map((layer) => spanOf(layer, null));
  while (open.length > 0 && found.length < MAX_LAYERS) {
    found.push(...open);
    const below = await Promise.all(
      open
        .filter(({ level }) => level > 0)
        .map(async ({ id, since }) =>
          (await summaries.children(id)).filter(touches).map((layer) => spanOf(layer, since)),
        ),
    );
    open = below.flat();
  }
  return found.toSorted((a, b) => b.level - a.level || a.fromSeq - b.fromSeq);
}

/** When the first run of each range ended with a summary. */
function firstRuns(runs: readonly MaintenanceRun[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { fromSeq, toSeq, outcome, work, startedAt, durationMs } of runs) {
    if (outcome !== 'committed' || work === 'extract') continue;
    const range = `${fromSeq} ${toSeq}`;
    first.set(range, Math.min(first.get(range) ?? Number.POSITIVE_INFINITY, startedAt + durationMs));
  }
  return first;
}

function spanSince(
  { id, kind, level, fromSeq, toSeq, tokens, stale, createdAt }: Summary,
  firstAt: ReadonlyMap<string, number>,
  leftAt: number | null,
): LayerSpan {
  const since = Math.min(createdAt, firstAt.get(`${fromSeq} ${toSeq}`) ?? createdAt);
  return { id, kind, level, fromSeq, toSeq, tokens, stale, createdAt, since, leftAt };
}
