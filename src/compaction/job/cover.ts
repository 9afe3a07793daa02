import { correctionFor } from '../../context/measure/calibration.ts';
import { estimateText } from '../../context/measure/tokens.ts';
import type { SummaryId } from '../../domain/message.ts';
import type { MemoryCandidate } from '../../memory/admission/candidate.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { NewSummary, Summary } from '../../ports/summary-store.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import { lossIndexOf } from '../../search/specifics/losses.ts';
import { accountInSlices, sourceOf } from '../../search/specifics/read-account.ts';
import { MEMORY_TOOL, SUMMARY_TOOL } from '../answer/answer.ts';
import { fillingLimit, limitFor } from '../answer/audit.ts';
import { admitProposed } from './admit.ts';
import { MAX_WORDS, memoryRules, summarySize } from './answer-size.ts';
import { nothingLeft, notSummarised } from './fixed-texts.ts';
import { isStructured, type Job, type JobResult, tooSmall } from './job.ts';
import { announceKept } from './ledger.ts';
import { fillUpto, isRequestedRewrite, type Work } from './next-work.ts';
import { layerTokens, transcriptOf } from './prompt-context.ts';
import { readHead } from './read-head.ts';
import { transcriptTokens } from './room.ts';
import { headSpan, narrowed, type Span, sourceTokens } from './span.ts';
import { summarise } from './summarise.ts';
import { saysSomething } from './transcript-line.ts';

/** Summarises the head of the range and saves the memories of the same answer. */
export async function cover(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  const { services, claim } = job;
  const { id: conversationId, extractedUpto, revision } = snapshot.conversation;
  const isTail = work.kind === 'compact';
  const span = await headOf(job, work, snapshot);
  const rewrites = isRequestedRewrite(work) && work.kind === 'rewrite' ? work.layer.id : null;
  if (rewrites !== null && span.toSeq < work.toSeq) throw tooSmall(job.call.model.id);
  const place = { id: services.random.id() as SummaryId, level: 0, fromSeq: span.fromSeq, toSeq: span.toSeq };
  const { candidates, ...texts } = await textsFor(job, place, { span, stack: snapshot.stack, isTail });
  const { promptHash } = texts;
  const memories = await admitProposed(job, { candidates, promptHash, entries: span.entries, extractedUpto });
  const account = await accountInSlices(texts.text, span.entries.flatMap(sourceOf));
  const now = services.clock.now();
  const result = await services.store.summaries.commitCompaction({
    conversationId,
    epoch: claim.epoch,
    summary: { ...place, ...texts, createdAt: now, lost: lossIndexOf(account.lost) },
    memories,
    extracted: span.toSeq > extractedUpto ? { from: extractedUpto, upto: span.toSeq } : null,
    seenRevision: revision,
    ready: job.ready && isTail,
    rewrites,
    now,
  });
  if (result === 'committed') announceKept(job, place.id, account);
  return { result, toSeq: span.toSeq, memories };
}

async function headOf(job: Job, work: Work, { conversation }: ContextSnapshot): Promise<Span> {
  const { services, claim, instruction, profile, headTokens } = job;
  const rules = memoryRules(job.call.windowTokens, []);
  const prompt = services.prompts.render(
    'compactor',
    { tools: true, strict: '', instruction, targetWords: MAX_WORDS, structured: isStructured(job), ...rules },
    promptSourceOf(job.agent),
  );
  const tokens = transcriptTokens(job.call, prompt, [SUMMARY_TOOL, MEMORY_TOOL]);
  const { fromSeq, toSeq } = work;
  const { timezone: timeZone } = job.agent;
  const read = await readHead(services.store.transcript, { ...claim, fromSeq, toSeq, tokens, timeZone });
  const correction = correctionFor(conversation, profile.modelId);
  const end = work.kind === 'fill' ? fillUpto(work.gaps, read, { profile, correction }) : toSeq;
  const entries = read.filter(({ seq }) => seq <= end);
  return narrowed(headSpan(entries, tokens, timeZone), headTokens);
}

type Place = Pick<NewSummary, 'id' | 'level' | 'fromSeq' | 'toSeq'>;

/** What a summary is written from. */
interface Source {
  readonly span: Span;
  readonly stack: readonly Summary[];
  /** The messages are still in the tail, so their summary must be shorter. */
  readonly isTail: boolean;
}

/** A summary as it will be stored, and the memories that came with it. */
type Written = Pick<NewSummary, 'text' | 'tokens' | 'model' | 'promptHash'> & {
  readonly candidates: readonly MemoryCandidate[];
};

async function textsFor(job: Job, place: Place, source: Source): Promise<Written> {
  if (!source.span.entries.some(saysSomething)) return withoutModel(job, place, nothingLeft(place));
  return job.leavesOut ? withoutModel(job, place, notSummarised(place)) : await write(job, place, source);
}

async function write(job: Job, place: Place, { span, stack, isTail }: Source): Promise<Written> {
  const { services, call, profile, instruction } = job;
  const from = promptSourceOf(job.agent);
  const transcript = await transcriptOf(job, span, stack);
  const structured = isStructured(job);
  const size = { structured, ...summarySize({ ...call, profile }, span) };
  const { text, candidates, promptHash } = await summarise(job, {
    purpose: 'compact',
    prompt: (tools, strict) => services.prompts.render('compactor', { tools, strict, instruction, ...size }, from),
    structured,
    tools: [SUMMARY_TOOL, MEMORY_TOOL],
    transcript: services.prompts.render('transcript', { ...transcript, task: 'compact' }, from).text,
    source: transcript.lines.join('\n'),
    nonce: transcript.nonce,
    tokensOf: (summary) => (isTail ? layerTokens(job, { ...place, text: summary }) : estimateText(summary)),
    limitTokens: isTail ? limitFor(sourceTokens(span)) : fillingLimit(sourceTokens(span)),
  });
  return { text, tokens: layerTokens(job, { ...place, text }), model: call.model.id, promptHash, candidates };
}

function withoutModel(job: Job, place: Place, text: string): Written {
  const tokens = layerTokens(job, { ...place, text });
  return { text, tokens, model: null, promptHash: null, candidates: [] };
}
