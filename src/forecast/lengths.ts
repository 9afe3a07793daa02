import { estimateText } from '../context/measure/tokens.ts';
import type { Summary, SummaryStore } from '../ports/summary-store.ts';
import type { Recording } from './recording.ts';
import { type Lengths, type Summarising, writeCondensed, writeSummary } from './summarising.ts';

/** Enough for a mean; each takes a query or renders a prompt. */
const MAX_SAMPLES = 40;
const AS_TARGETED: Lengths = { messages: 1, summaries: 1 };

/** How long the stored summaries are, compared with their target length: models differ in that. */
export async function lengthsOf(
  store: Pick<SummaryStore, 'live' | 'children'>,
  recording: Recording,
  context: Omit<Summarising, 'lengths'>,
): Promise<Lengths> {
  const targeted = { ...context, lengths: AS_TARGETED };
  const written = { messages: 0, summaries: 0 };
  const wanted = { messages: 0, summaries: 0 };
  const waiting = [...(await store.live(recording.conversation.id))];
  for (let samples = 0; samples < MAX_SAMPLES; samples += 1) {
    const summary = waiting.pop();
    if (summary === undefined) break;
    if (summary.kind === 'gap') continue;
    const children = summary.level === 0 ? [] : await store.children(summary.id);
    waiting.unshift(...children);
    const target =
      summary.level === 0 ? ofMessages(targeted, recording, summary) : ofSummaries(targeted, summary, children);
    const source = summary.level === 0 ? 'messages' : 'summaries';
    if (target === 0) continue;
    written[source] += estimateText(summary.text);
    wanted[source] += target;
  }
  return { messages: ratio(written.messages, wanted.messages), summaries: ratio(written.summaries, wanted.summaries) };
}

function ratio(written: number, wanted: number): number {
  return wanted === 0 ? 1 : written / wanted;
}

function ofMessages(context: Summarising, { entries, firstSeq }: Recording, { fromSeq, toSeq }: Summary): number {
  const range = fromSeq < firstSeq ? [] : entries.slice(fromSeq - firstSeq, toSeq + 1 - firstSeq);
  return range.length === 0 ? 0 : writeSummary(context, range, { kind: 'compact', hasStack: false }).outputTokens;
}

function ofSummaries(context: Summarising, { level, fromSeq, toSeq }: Summary, children: readonly Summary[]): number {
  return children.length < 2 ? 0 : writeCondensed(context, { parts: children, level, fromSeq, toSeq }).outputTokens;
}
