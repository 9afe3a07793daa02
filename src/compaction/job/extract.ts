import type { MemoryWrite } from '../../ports/memory-store.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import { MEMORY_TOOL } from '../answer/answer.ts';
import { admitProposed } from './admit.ts';
import { type MemoryRules, memoryRules } from './answer-size.ts';
import { askForMemories } from './ask-for-memories.ts';
import type { Job, JobResult } from './job.ts';
import type { Work } from './next-work.ts';
import { transcriptOf } from './prompt-context.ts';
import { readHead } from './read-head.ts';
import { transcriptTokens } from './room.ts';
import { headSpan, narrowed, type Span } from './span.ts';
import { saysSomething } from './transcript-line.ts';

/** Extracts the memories of a range that stays in the tail. If no person spoke in it, no model is called. */
export async function extract(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  const { services, claim } = job;
  const { id: conversationId, extractedUpto, revision } = snapshot.conversation;
  const span = await headOf(job, work);
  const isSpoken = span.entries.some((entry) => entry.role === 'user' && saysSomething(entry));
  const memories = isSpoken && !job.leavesOut ? await memoriesIn(job, span, snapshot) : [];
  const now = services.clock.now();
  const extracted = { from: extractedUpto, upto: span.toSeq };
  const commit = { conversationId, epoch: claim.epoch, memories, extracted, seenRevision: revision, now };
  return { result: await services.store.summaries.commitExtraction(commit), toSeq: span.toSeq, memories };
}

async function headOf(job: Job, { fromSeq, toSeq }: Work): Promise<Span> {
  const { services, claim, headTokens } = job;
  const prompt = promptFor(job, true, memoryRules(job.call.windowTokens, []));
  const tokens = transcriptTokens(job.call, prompt, [MEMORY_TOOL]);
  const { timezone: timeZone } = job.agent;
  const head = await readHead(services.store.transcript, { ...claim, fromSeq, toSeq, tokens, timeZone });
  return narrowed(headSpan(head, tokens, timeZone), headTokens);
}

function promptFor({ services, agent }: Job, tools: boolean, rules: MemoryRules) {
  return services.prompts.render('extractor', { tools, ...rules }, promptSourceOf(agent));
}

async function memoriesIn(
  job: Job,
  span: Span,
  { stack, conversation: { extractedUpto } }: ContextSnapshot,
): Promise<readonly MemoryWrite[]> {
  const { entries } = span;
  const shown = await transcriptOf(job, span, stack);
  const from = promptSourceOf(job.agent);
  const rules = memoryRules(job.call.windowTokens, entries);
  const { answer, prompt } = await askForMemories(job, {
    prompt: (tools) => promptFor(job, tools, rules),
    transcript: job.services.prompts.render('transcript', { ...shown, task: 'extract' }, from).text,
    nonce: shown.nonce,
  });
  const { candidates } = answer;
  return await admitProposed(job, { candidates, promptHash: prompt.hash, entries, extractedUpto });
}
