import { renderSummary } from '../context/fixed-prefix.ts';
import { estimateBlock, estimateText } from '../context/tokens.ts';
import { shorten } from '../context/truncate.ts';
import { readerFor } from '../memory/policy.ts';
import type { Summary } from '../ports/summary-store.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import { oneLine, underLabel } from '../util/foreign-text.ts';
import { type JobContext, sideTokens } from './job-context.ts';

/** Context before a transcript, which is neither repeated nor used as a source. */
export interface Beside {
  readonly before: readonly string[];
  readonly known: readonly string[];
}

const NEIGHBOURS = 3;
const MAX_KNOWN = 40;

/** The summaries right before the range and the memories of the place, each list within its share of the window. */
export async function besideOf(job: JobContext, stack: readonly Summary[], fromSeq: number): Promise<Beside> {
  const room = sideTokens(job.windowTokens);
  const earlier = stack.filter((item) => item.kind === 'summary' && item.toSeq < fromSeq).slice(-NEIGHBOURS);
  const before = within(earlier.map(layerLine).toReversed(), room).toReversed();
  return { before, known: within(await knownLines(job), room) };
}

/** A summary as one line of a transcript. */
export function layerLine({ fromSeq, toSeq, text }: Summary): string {
  return underLabel(`[#${fromSeq} to #${toSeq}] `, text);
}

/** The tokens of a summary in the view, including its label. */
export function layerTokens(
  job: JobContext,
  layer: Pick<Summary, 'id' | 'fromSeq' | 'toSeq' | 'level' | 'text'>,
): number {
  return estimateBlock({ text: renderSummary(job.services, layer, promptSourceOf(job.agent)) });
}

/** Only memories of this place: those of other places must not appear in its transcript. */
async function knownLines({ services, conversation, agent }: JobContext): Promise<readonly string[]> {
  const reader = { ...readerFor(conversation, agent), sharePublic: false };
  const query = { reader, states: ['active', 'candidate'] as const, limit: MAX_KNOWN, offset: 0 };
  const memories = await services.store.memories.list(query);
  return memories.map(({ id, text }) => `[${id}] ${oneLine(text)}`);
}

/** The first texts that fit. If even the first does not fit, as much of it as does. */
function within(texts: readonly string[], tokens: number): readonly string[] {
  const kept: string[] = [];
  let left = tokens;
  for (const text of texts) {
    const cost = estimateText(text);
    if (cost > left) return kept.length > 0 ? kept : [shorten(text, tokens)];
    kept.push(text);
    left -= cost;
  }
  return kept;
}
