import { estimateBlock, estimateText } from '../../context/measure/tokens.ts';
import { shorten } from '../../context/measure/truncate.ts';
import { renderSummary } from '../../context/view/layers.ts';
import type { MemoryId } from '../../domain/message.ts';
import { namesakesIn } from '../../memory/people/namesakes.ts';
import { readerFor } from '../../memory/rights/policy.ts';
import type { MemoryReader } from '../../ports/memory-store.ts';
import type { Search } from '../../ports/search.ts';
import type { Summary } from '../../ports/summary-store.ts';
import { type PromptVariables, promptSourceOf } from '../../prompts/variables.ts';
import { oneLine, underLabel } from '../../util/text/foreign-text.ts';
import type { CallContext } from '../ask/call.ts';
import type { Job } from './job.ts';
import { sideTokensFor } from './room.ts';
import { type Span, tokensOf } from './span.ts';
import { nonceFor, type TranscriptLine } from './transcript-line.ts';

/** Context before a transcript, which is neither repeated nor used as a source. */
export interface PromptContext {
  readonly before: readonly string[];
  readonly known: readonly string[];
  readonly namesakes: readonly string[];
}

export interface PromptContextOptions extends Pick<Job, 'services' | 'conversation' | 'agent'> {
  readonly call: Pick<CallContext, 'windowTokens'>;
}

const NEIGHBOURS = 3;
const MAX_KNOWN = 40;
const KNOWN_STATES = ['active', 'candidate'] as const;
const MAX_SEARCHES = 32;
const HITS_PER_SEARCH = 8;

/**
 * The variables of the prompt that shows the range to a model. A person's wish is not among them: the instructions quote
 * it as data.
 */
export async function transcriptOf(
  job: PromptContextOptions,
  span: Span,
  stack: readonly Summary[],
): Promise<Omit<PromptVariables<'transcript'>, 'task'>> {
  const { before, known, namesakes } = await promptContextOf(job, stack, span);
  const lines = span.lines.map((line) => line.text);
  const nonce = nonceFor([...before, ...known, ...namesakes, ...lines], job.services.random);
  return { nonce, before: [...before], known: [...known], namesakes: [...namesakes], lines };
}

/**
 * The summaries right before the range, and the memories that it may repeat together with the names that several of its
 * people have, each within its share of the window.
 */
export async function promptContextOf(
  job: PromptContextOptions,
  stack: readonly Summary[],
  { fromSeq, entries, lines }: Pick<Span, 'fromSeq' | 'entries' | 'lines'>,
): Promise<PromptContext> {
  const room = sideTokensFor(job.call.windowTokens, tokensOf(lines));
  const earlier = stack.filter((item) => item.kind === 'summary' && item.toSeq < fromSeq).slice(-NEIGHBOURS);
  const before = fitting(earlier.map(layerLine).toReversed(), room).toReversed();
  const most = sideTokensFor(job.call.windowTokens, Number.POSITIVE_INFINITY);
  const namesakes = shortest(namesakesIn(entries), most);
  const left = most - estimateText(namesakes.join('\n'));
  const known = fitting(await knownLines(job, lines), Math.max(0, Math.min(room, left)));
  return { before, known, namesakes };
}

/** A summary as one line of a transcript. */
export function layerLine({ fromSeq, toSeq, text }: Summary): string {
  return underLabel(`[#${fromSeq} to #${toSeq}] `, text);
}

/** The tokens of a summary in the view, including its label. */
export function layerTokens(job: Job, layer: Pick<Summary, 'id' | 'fromSeq' | 'toSeq' | 'level' | 'text'>): number {
  return estimateBlock({ text: renderSummary(job.services, layer, promptSourceOf(job.agent)) });
}

/**
 * The memories that are most similar to the transcript, then the most important ones. Only memories of this place: those
 * of other places must not appear in its transcript.
 */
async function knownLines(
  { services, conversation, agent }: PromptContextOptions,
  lines: readonly TranscriptLine[],
): Promise<readonly string[]> {
  const reader = { ...readerFor(conversation, agent), sharePublic: false };
  const known = { reader, states: KNOWN_STATES, limit: MAX_KNOWN, offset: 0 };
  const ids = await similarMemories(services.search, reader, lines);
  const [similar, heaviest] = await Promise.all([
    services.store.memories.list({ ...known, ids }),
    services.store.memories.list(known),
  ]);
  const byId = new Map([...similar, ...heaviest].map((memory) => [memory.id, memory]));
  const ordered = [...new Set([...ids, ...heaviest.map(({ id }) => id)])].flatMap((id) => byId.get(id) ?? []);
  return ordered.slice(0, MAX_KNOWN).map(({ id, text }) => `[${id}] ${oneLine(text)}`);
}

/** A search takes the words of one short text, so the transcript is searched for in parts. */
async function similarMemories(
  search: Pick<Search, 'memories'>,
  reader: MemoryReader,
  lines: readonly TranscriptLine[],
): Promise<readonly MemoryId[]> {
  const size = Math.max(1, Math.ceil(lines.length / MAX_SEARCHES));
  const best = new Map<MemoryId, number>();
  for (let at = 0; at < lines.length; at += size) {
    const part = lines.slice(at, at + size);
    const text = part.map((line) => line.text).join('\n');
    for (const { id, score } of await search.memories({ reader, text, states: KNOWN_STATES, limit: HITS_PER_SEARCH })) {
      best.set(id, Math.max(score, best.get(id) ?? 0));
    }
  }
  return [...best].sort(([, a], [, b]) => b - a).flatMap(([id], index) => (index < MAX_KNOWN ? [id] : []));
}

/** As many whole texts as fit: a long name of two people leaves out no other one. */
function shortest(texts: readonly string[], tokens: number): readonly string[] {
  const byCost = texts.toSorted((one, other) => estimateText(one) - estimateText(other));
  return byCost.filter((_, index) => estimateText(byCost.slice(0, index + 1).join('\n')) <= tokens);
}

/** The first texts that fit. If even the first does not fit, as much of it as does. */
function fitting(texts: readonly string[], tokens: number): readonly string[] {
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
