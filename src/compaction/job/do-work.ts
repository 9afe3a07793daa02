import { correctionFor } from '../../context/measure/calibration.ts';
import { estimateText } from '../../context/measure/tokens.ts';
import { depthOf } from '../../domain/key.ts';
import type { Entry, SummaryId } from '../../domain/message.ts';
import { admitCandidates } from '../../memory/admission/admission.ts';
import type { MemoryCandidate } from '../../memory/admission/candidate.ts';
import type { MemoryWrite } from '../../ports/memory-store.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { CommitResult, NewSummary } from '../../ports/summary-store.ts';
import { type PromptVariables, promptSourceOf } from '../../prompts/variables.ts';
import { lossIndexOf } from '../../search/specifics/losses.ts';
import { accountInSlices, sourceOf } from '../../search/specifics/read-account.ts';
import { MEMORY_TOOL, SUMMARY_TOOL } from '../answer/answer.ts';
import { fillingLimit, limitFor } from '../answer/audit.ts';
import { MAX_WORDS, type MemoryRules, memoryRules, summarySize } from './answer-size.ts';
import { condense, recondense } from './condense.ts';
import { askForMemories } from './extract.ts';
import { nothingLeft, notSummarised } from './fixed-texts.ts';
import { isStructured, type Job, tooSmall } from './job.ts';
import { announceKept } from './ledger.ts';
import { fillUpto, isRequestedRewrite, type Work } from './next-work.ts';
import { layerTokens, promptContextOf } from './prompt-context.ts';
import { readHead } from './read-head.ts';
import { transcriptTokens } from './room.ts';
import { headSpan, narrowed, type Span, sourceTokens } from './span.ts';
import { summarise } from './summarise.ts';
import { nonceFor, saysSomething } from './transcript-line.ts';
import { assertUnchanged, orIfChanged } from './unchanged.ts';

/** What a job stored, or came too late to store: the part of the range that it processed, and its memories. */
export interface JobResult {
  readonly result: CommitResult;
  readonly toSeq: number;
  readonly memories: readonly MemoryWrite[];
}

/**
 * Does the work: reads, calls the model outside any transaction, commits by compare-and-set. If a text is edited or
 * deleted after it was read, no further call repeats it.
 */
export async function doWork(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  const assertCurrent = () => assertUnchanged(job.services, snapshot.conversation, work.toSeq);
  return await orIfChanged(doUnchanged({ ...job, assertCurrent }, work, snapshot), {
    result: 'stale',
    toSeq: work.toSeq,
    memories: [],
  });
}

async function doUnchanged(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  switch (work.kind) {
    case 'condense':
      return { result: await condense(job, work.condensation), toSeq: work.toSeq, memories: [] };
    case 'extract':
      return await extract(job, work, snapshot);
    case 'rewrite':
      if (work.layer.level === 0) return await cover(job, work, snapshot);
      return { result: await recondense(job, work.layer), toSeq: work.toSeq, memories: [] };
    default:
      return await cover(job, work, snapshot);
  }
}

/** Summarises the head of the range and saves the memories of the same answer. */
async function cover(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  const { services, claim } = job;
  const { id: conversationId, extractedUpto, revision } = snapshot.conversation;
  const span = await spanOf(job, work, snapshot);
  const rewrites = isRequestedRewrite(work) && work.kind === 'rewrite' ? work.layer.id : null;
  if (rewrites !== null && span.toSeq < work.toSeq) throw tooSmall(job.model.id);
  const place = { id: services.random.id() as SummaryId, level: 0, fromSeq: span.fromSeq, toSeq: span.toSeq };
  const { candidates, ...texts } = await textsFor(job, { work, span, place, snapshot });
  const { promptHash } = texts;
  const memories = await admit(job, { candidates, promptHash, entries: span.entries, extractedUpto });
  const account = await accountInSlices(texts.text, span.entries.flatMap(sourceOf));
  const now = services.clock.now();
  const result = await services.store.summaries.commitCompaction({
    conversationId,
    epoch: claim.epoch,
    summary: { ...place, ...texts, createdAt: now, lost: lossIndexOf(account.lost) },
    memories,
    extracted: span.toSeq > extractedUpto ? { from: extractedUpto, upto: span.toSeq } : null,
    seenRevision: revision,
    ready: job.ready && work.kind === 'compact',
    rewrites,
    now,
  });
  if (result === 'committed') announceKept(job, place.id, account);
  return { result, toSeq: span.toSeq, memories };
}

async function spanOf(job: Job, work: Work, snapshot: ContextSnapshot): Promise<Span> {
  const { services, claim, windowTokens, instruction } = job;
  const tools = [SUMMARY_TOOL, MEMORY_TOOL];
  const rules = memoryRules(windowTokens, []);
  const prompt = services.prompts.render(
    'compactor',
    { tools: true, strict: '', instruction, targetWords: MAX_WORDS, structured: isStructured(job), ...rules },
    promptSourceOf(job.agent),
  );
  const tokens = transcriptTokens(job, prompt, tools);
  const { fromSeq, toSeq } = work;
  const { timezone: timeZone } = job.agent;
  const read = await readHead(services.store.transcript, { ...claim, fromSeq, toSeq, tokens, timeZone });
  const correction = correctionFor(snapshot.conversation, job.profile.modelId);
  const end = work.kind === 'fill' ? fillUpto(work.gaps, read, { profile: job.profile, correction }) : toSeq;
  const entries = read.filter(({ seq }) => seq <= end);
  return narrowed(headSpan(entries, tokens, timeZone), job.headTokens);
}

type Place = Pick<NewSummary, 'id' | 'level' | 'fromSeq' | 'toSeq'>;
type Texts = Pick<NewSummary, 'text' | 'tokens' | 'model' | 'promptHash'>;
type Drafted = Texts & { readonly candidates: readonly MemoryCandidate[] };

interface Drafting {
  readonly work: Work;
  readonly span: Span;
  readonly place: Place;
  readonly snapshot: ContextSnapshot;
}

async function textsFor(job: Job, drafting: Drafting): Promise<Drafted> {
  const { place, span } = drafting;
  if (!span.entries.some(saysSomething)) return withoutModel(job, place, nothingLeft(place));
  if (!job.leavesOut) return await draft(job, drafting);
  return withoutModel(job, place, notSummarised(place));
}

async function draft(job: Job, { work, span, place, snapshot }: Drafting): Promise<Drafted> {
  const { services, model, instruction } = job;
  const from = promptSourceOf(job.agent);
  const transcript = await transcriptOf(job, span, snapshot);
  const isTail = work.kind === 'compact';
  const structured = isStructured(job);
  const size = { structured, ...summarySize(job, span) };
  const drafted = await summarise(job, {
    purpose: 'compact',
    prompt: (tools, strict) => services.prompts.render('compactor', { tools, strict, instruction, ...size }, from),
    structured,
    tools: [SUMMARY_TOOL, MEMORY_TOOL],
    transcript: services.prompts.render('transcript', { ...transcript, task: 'compact' }, from).text,
    source: transcript.lines.join('\n'),
    nonce: transcript.nonce,
    tokensOf: (text) => (isTail ? layerTokens(job, { ...place, text }) : estimateText(text)),
    limitTokens: isTail ? limitFor(sourceTokens(span)) : fillingLimit(sourceTokens(span)),
  });
  const { text, candidates, promptHash } = drafted;
  return { text, tokens: layerTokens(job, { ...place, text }), model: model.id, promptHash, candidates };
}

/** The person's wish is data too: the instructions quote it. */
async function transcriptOf(
  job: Job,
  span: Span,
  { stack }: ContextSnapshot,
): Promise<Omit<PromptVariables<'transcript'>, 'task'>> {
  const { before, known } = await promptContextOf(job, stack, span);
  const lines = span.lines.map((line) => line.text);
  const nonce = nonceFor([...before, ...known, ...lines], job.services.random);
  return { nonce, before: [...before], known: [...known], lines };
}

function withoutModel(job: Job, place: Place, text: string): Drafted {
  const tokens = layerTokens(job, { ...place, text });
  return { text, tokens, model: null, promptHash: null, candidates: [] };
}

interface Proposed {
  readonly candidates: readonly MemoryCandidate[];
  readonly promptHash: string | null;
  readonly entries: readonly Entry[];
  readonly extractedUpto: number;
}

async function admit(job: Job, proposed: Proposed): Promise<readonly MemoryWrite[]> {
  const { services, conversation, agent, model } = job;
  // The task of a child comes from a tool, so it is not a person's statement.
  if (proposed.candidates.length === 0 || depthOf(conversation.key) > 0) return [];
  const request = { ...proposed, conversation, agent, model: model.id, promptHash: proposed.promptHash ?? '' };
  const { writes, refused } = await admitCandidates(services, request);
  for (const { reason } of refused)
    services.events.emit({ kind: 'memory.refused', conversation: conversation.key, reason });
  return writes;
}

/** Extracts the memories of a range that stays in the tail. If no person spoke in it, no model is called. */
async function extract(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  const { services, claim } = job;
  const { id: conversationId, extractedUpto, revision } = snapshot.conversation;
  const from = promptSourceOf(job.agent);
  const prompt = (tools: boolean, rules: MemoryRules) =>
    services.prompts.render('extractor', { tools, ...rules }, from);
  const tokens = transcriptTokens(job, prompt(true, memoryRules(job.windowTokens, [])), [MEMORY_TOOL]);
  const { fromSeq, toSeq } = work;
  const { timezone: timeZone } = job.agent;
  const head = await readHead(services.store.transcript, { ...claim, fromSeq, toSeq, tokens, timeZone });
  const span = narrowed(headSpan(head, tokens, timeZone), job.headTokens);
  const isSpoken = !job.leavesOut && span.entries.some((entry) => entry.role === 'user' && saysSomething(entry));
  let memories: readonly MemoryWrite[] = [];
  if (isSpoken) {
    const shown = await transcriptOf(job, span, snapshot);
    const transcript = services.prompts.render('transcript', { ...shown, task: 'extract' }, from).text;
    const rules = memoryRules(job.windowTokens, span.entries);
    const result = await askForMemories(job, {
      prompt: (tools) => prompt(tools, rules),
      transcript,
      nonce: shown.nonce,
    });
    const { candidates } = result.answer;
    memories = await admit(job, { candidates, promptHash: result.prompt.hash, entries: span.entries, extractedUpto });
  }
  const now = services.clock.now();
  const extracted = { from: extractedUpto, upto: span.toSeq };
  const commit = { conversationId, epoch: claim.epoch, memories, extracted, seenRevision: revision, now };
  return { result: await services.store.summaries.commitExtraction(commit), toSeq: span.toSeq, memories };
}
