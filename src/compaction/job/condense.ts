import type { Condensation } from '../../context/cuts/plan.ts';
import { estimateText } from '../../context/measure/tokens.ts';
import { shorten } from '../../context/measure/truncate.ts';
import type { SummaryId } from '../../domain/message.ts';
import type { CommitResult, NewSummary, Summary } from '../../ports/summary-store.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Account } from '../../search/specifics/losses.ts';
import { limitFor } from '../answer/audit.ts';
import { bySection } from '../answer/sections.ts';
import { condensedSize, MAX_WORDS } from './answer-size.ts';
import { isNothingLeft, nothingLeft, shortened } from './fixed-texts.ts';
import { isStructured, type Job, tooSmall } from './job.ts';
import { announceKept, condensedLoss } from './ledger.ts';
import { layerLine, layerTokens } from './prompt-context.ts';
import { transcriptTokens } from './room.ts';
import { type Draft, summarise } from './summarise.ts';
import { nonceFor } from './transcript-line.ts';

/**
 * Replaces neighbouring summaries with one of the next level; the originals stay stored and can be opened. `rewrites` is
 * the condensed summary of the same parts that it replaces; null if they are in the stack.
 */
export async function condense(
  job: Job,
  condensation: Condensation,
  rewrites: SummaryId | null = null,
): Promise<CommitResult> {
  const { services, claim } = job;
  const written = await write(job, condensation, rewrites);
  const { place, parts, text } = written;
  const { lost, account } = await condensedLoss(job, { ...place, text }, parts);
  const now = services.clock.now();
  const result = await services.store.summaries.commitCondensation({
    conversationId: claim.conversationId,
    epoch: claim.epoch,
    summary: {
      ...place,
      text,
      tokens: written.tokens,
      model: written.model,
      promptHash: written.promptHash,
      createdAt: now,
      lost,
    },
    childIds: parts.map((part) => part.id),
    ready: job.ready && rewrites === null,
    rewrites,
    now,
  });
  if (result === 'committed') announce(job, written, { account, rewrites });
  return result;
}

/** Writes a condensed summary again from the summaries that it was made from. */
export async function recondense(job: Job, { id, level, fromSeq, toSeq }: Summary): Promise<CommitResult> {
  const parts = await job.services.store.summaries.children(id);
  // It left the stack since the job looked.
  if (parts.length === 0) return 'stale';
  return await condense(job, { parts, level, fromSeq, toSeq }, id);
}

interface Written extends Pick<Draft, 'text' | 'tokens' | 'promptHash'> {
  /** Null for a summary that no model wrote. */
  readonly model: string | null;
  readonly place: Pick<NewSummary, 'id' | 'level' | 'fromSeq' | 'toSeq'>;
  readonly parts: readonly Summary[];
}

async function write(job: Job, condensation: Condensation, rewrites: SummaryId | null): Promise<Written> {
  const { parts } = condensation;
  if (parts.every(isNothingLeft)) return withoutModel(job, condensation, nothingLeft(condensation));
  return job.leavesOut ? withoutModel(job, condensation, shortened(parts)) : await draft(job, condensation, rewrites);
}

function withoutModel(job: Job, { parts, level, fromSeq, toSeq }: Condensation, text: string): Written {
  const place = { id: job.services.random.id() as SummaryId, level, fromSeq, toSeq };
  return { place, parts, text, tokens: layerTokens(job, { ...place, text }), promptHash: null, model: null };
}

async function draft(job: Job, condensation: Condensation, rewrites: SummaryId | null): Promise<Written> {
  const { services } = job;
  const from = promptSourceOf(job.agent);
  const structured = isStructured(job);
  const linesOf = structured ? linesBySection : plainLines;
  // A wish for a compaction is about the new summary of messages, not about the condensed stack.
  const instruction = rewrites === null ? '' : job.instruction;
  const prompt = (strict: string, words: number) =>
    services.prompts.render('condenser', { strict, instruction, targetWords: words, structured }, from);
  const room = transcriptTokens(job.call, prompt('', MAX_WORDS), []);
  const parts = partsWithin(condensation.parts, room, linesOf);
  if (rewrites !== null && parts.length < condensation.parts.length) throw tooSmall(job.call.model.id);
  const sourceTokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const words = condensedSize({ ...job.call, profile: job.profile }, sourceTokens);
  const [fromSeq, toSeq] = [parts[0]?.fromSeq ?? 0, parts.at(-1)?.toSeq ?? 0];
  const place = { id: services.random.id() as SummaryId, level: condensation.level, fromSeq, toSeq };
  const lines = linesOf(parts);
  const nonce = nonceFor(lines, services.random);
  const drafted = await summarise(job, {
    purpose: 'condense',
    structured,
    prompt: (_tools, strict) => prompt(strict, words),
    tools: [],
    transcript: services.prompts.render(
      'transcript',
      { nonce, task: 'condense', before: [], known: [], namesakes: [], lines: [...lines] },
      from,
    ).text,
    source: lines.join('\n'),
    nonce,
    tokensOf: (summary) => layerTokens(job, { ...place, text: summary }),
    limitTokens: limitFor(sourceTokens),
  });
  return { ...drafted, place, parts, model: job.call.model.id };
}

function announce(
  job: Job,
  { place, parts }: Written,
  { account, rewrites }: { readonly account: Account | null; readonly rewrites: SummaryId | null },
): void {
  const { id: summaryId, level } = place;
  if (account !== null) announceKept(job, summaryId, account);
  if (rewrites !== null) return;
  const conversation = job.conversation.key;
  job.services.events.emit({ kind: 'stack.condensed', conversation, summaryId, level, parts: parts.length });
}

type Lines = (parts: readonly Summary[]) => readonly string[];

const plainLines: Lines = (parts) => parts.map(layerLine);

/** Merged section by section, so that related points are read together. */
const linesBySection: Lines = (parts) =>
  bySection(parts).flatMap(({ title, points }) => [
    `${title}:`,
    ...points.map(({ part, text }) => layerLine({ ...part, text })),
  ]);

/** As many as fit the model's window, but at least two: if those do not fit, each is cut in the middle. */
function partsWithin(parts: readonly Summary[], tokens: number, linesOf: Lines): readonly Summary[] {
  let most = parts.length;
  const cost = (count: number) => linesOf(parts.slice(0, count)).reduce((sum, line) => sum + estimateText(line), 0);
  while (most > 2 && cost(most) > tokens) most -= 1;
  const taken = parts.slice(0, most);
  if (cost(most) <= tokens) return taken;
  return taken.map((part) => ({ ...part, text: shorten(part.text, Math.floor(tokens / most) - 16) }));
}
