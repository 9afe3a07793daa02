import type { Condensation } from '../context/plan.ts';
import { estimateText } from '../context/tokens.ts';
import { shorten } from '../context/truncate.ts';
import type { SummaryId } from '../domain/message.ts';
import type { CommitResult, Summary } from '../ports/summary-store.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import { condensedWords, maxStackedWords } from './answer-size.ts';
import { limitFor } from './audit.ts';
import { isStructured, type JobContext, transcriptTokens } from './job-context.ts';
import { announceKept, condensedLoss } from './ledger.ts';
import { layerLine, layerTokens } from './prompt-context.ts';
import { bySection } from './sections.ts';
import { summarise } from './summarise.ts';
import { nonceFor } from './transcript.ts';

/** Replaces neighbouring summaries with one of the next level; the originals stay stored and can be opened. */
export async function condense(job: JobContext, condensation: Condensation): Promise<CommitResult> {
  const { services, claim, conversation, model } = job;
  const from = promptSourceOf(job.agent);
  const structured = isStructured(job);
  const linesOf = structured ? linesBySection : plainLines;
  const prompt = (strict: string, words: number) =>
    services.prompts.render('condenser', { strict, targetWords: words, structured }, from);
  const room = transcriptTokens(job, prompt('', 1000), []);
  const parts = partsWithin(condensation.parts, room, linesOf);
  const sourceTokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const words = Math.min(maxStackedWords(job.profile), condensedWords(job.windowTokens, sourceTokens));
  const [fromSeq, toSeq] = [parts[0]?.fromSeq ?? 0, parts.at(-1)?.toSeq ?? 0];
  const place = { id: services.random.id() as SummaryId, level: condensation.level, fromSeq, toSeq };
  const lines = linesOf(parts);
  const nonce = nonceFor(lines, services.random);
  const { text, tokens, promptHash } = await summarise(job, {
    purpose: 'condense',
    structured,
    prompt: (_tools, strict) => prompt(strict, words),
    tools: [],
    transcript: services.prompts.render(
      'transcript',
      { nonce, task: 'condense', before: [], known: [], lines: [...lines] },
      from,
    ).text,
    source: lines.join('\n'),
    nonce,
    tokensOf: (summary) => layerTokens(job, { ...place, text: summary }),
    limitTokens: limitFor(sourceTokens),
  });
  const { lost, account } = await condensedLoss(job, { ...place, text }, parts);
  const now = services.clock.now();
  const result = await services.store.summaries.commitCondensation({
    conversationId: claim.conversationId,
    epoch: claim.epoch,
    summary: { ...place, text, tokens, model: model.id, promptHash, createdAt: now, lost },
    childIds: parts.map((part) => part.id),
    ready: job.ready,
    now,
  });
  if (result === 'committed') {
    const { id: summaryId, level } = place;
    if (account !== null) announceKept(job, summaryId, account);
    services.events.emit({
      kind: 'stack.condensed',
      conversation: conversation.key,
      summaryId,
      level,
      parts: parts.length,
    });
  }
  return result;
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
