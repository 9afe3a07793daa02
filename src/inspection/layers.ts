import type { SummaryId } from '../domain/message.ts';
import type { Summary, SummaryStore } from '../ports/summary-store.ts';

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
  /** When a summary of the next level replaced it; null while it is in the view. */
  readonly leftAt: number | null;
}

const MAX_LAYERS = 1000;

/** The stack and everything below it that touches the range, by level and start. Gaps that were filled are not kept. */
export async function layersOf(
  summaries: Pick<SummaryStore, 'live' | 'children'>,
  {
    conversationId,
    fromSeq,
    toSeq,
  }: { readonly conversationId: number; readonly fromSeq: number; readonly toSeq: number },
): Promise<readonly LayerSpan[]> {
  const touches = (layer: Summary) => layer.toSeq >= fromSeq && layer.fromSeq <= toSeq;
  const found: LayerSpan[] = [];
  let open = (await summaries.live(conversationId)).filter(touches).map((layer) => spanOf(layer, null));
  while (open.length > 0 && found.length < MAX_LAYERS) {
    found.push(...open);
    const below = await Promise.all(
      open
        .filter(({ level }) => level > 0)
        .map(async ({ id, createdAt }) =>
          (await summaries.children(id)).filter(touches).map((layer) => spanOf(layer, createdAt)),
        ),
    );
    open = below.flat();
  }
  return found.toSorted((a, b) => b.level - a.level || a.fromSeq - b.fromSeq);
}

function spanOf(
  { id, kind, level, fromSeq, toSeq, tokens, stale, createdAt }: Summary,
  leftAt: number | null,
): LayerSpan {
  return { id, kind, level, fromSeq, toSeq, tokens, stale, createdAt, leftAt };
}
