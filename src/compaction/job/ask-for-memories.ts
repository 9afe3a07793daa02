import { StrataError } from '../../domain/errors.ts';
import { MEMORY_TOOL } from '../answer/answer.ts';
import { faultOf, isIncomplete, isRefusal } from '../answer/audit.ts';
import { ask } from '../ask/ask.ts';
import type { Answered, Question } from '../ask/question.ts';
import type { Job } from './job.ts';
import { answerTokens } from './room.ts';

export interface MemoryQuestion extends Pick<Question, 'prompt' | 'transcript'> {
  readonly nonce: string;
}

/** After this many consecutive failures (most of an hour), a refusal is accepted as the answer, to limit the cost. */
const MAX_REFUSALS = 12;

/**
 * Extracts the memories of a range that stays in the tail. An empty result counts only if the model answered properly:
 * any other failure is retried, because the range would otherwise be marked as read and its statements lost. Throws
 * `SUMMARY_REJECTED` and what the model throws.
 */
export async function askForMemories(job: Job, question: MemoryQuestion): Promise<Answered> {
  const { services } = job;
  const { model } = job.call;
  const first = await askAndAudit(job, question);
  if (first.fault === null) return first.result;
  services.log.info('memories.rejected', { model: model.id, fault: first.fault });
  const { result, fault } = await askAndAudit(job, question);
  // Some models answer with nothing, or explain at length that there is nothing to save. Twice, it counts.
  if (fault === null || (isSilent(first.result) && isSilent(result))) return result;
  if (fault === PROSE && first.fault === PROSE) return result;
  if (job.conversation.failures >= MAX_REFUSALS && isRefused(first.result) && isRefused(result)) return result;
  throw new StrataError('SUMMARY_REJECTED', { model: model.id, fault });
}

async function askAndAudit(
  job: Job,
  { nonce, ...question }: MemoryQuestion,
): Promise<{ result: Answered; fault: string | null }> {
  const maxOutputTokens = answerTokens(job.call.windowTokens);
  const result = await ask(job.call, { ...question, purpose: 'extract', tools: [MEMORY_TOOL], maxOutputTokens });
  const { summary: text, candidates, problems } = result.answer;
  if (candidates.length > 0) return { result, fault: null };
  const { finish } = result;
  const missing = isIncomplete(finish) ? null : (problems[0] ?? null);
  if (text === null) return { result, fault: missing };
  const size = { tokens: 0, limitTokens: 0 };
  const fault = faultOf({ ...size, text, finish, nonce, prompt: result.prompt.text });
  return { result, fault: (text === '' ? missing : null) ?? fault ?? proseFault(text) };
}

function proseFault(text: string): string | null {
  if (text.includes(MEMORY_TOOL.name)) return `it named the tool ${MEMORY_TOOL.name} instead of calling it`;
  return text.length > MAX_NOTHING ? PROSE : null;
}

/** Maximum length of a text that only says that there is nothing to save. */
const MAX_NOTHING = 240;
const PROSE = 'it was a text instead of memories';

function isSilent({ answer, finish }: Answered): boolean {
  return answer.summary?.trim() === '' && answer.problems.length === 0 && finish === 'stop';
}

function isRefused({ answer, finish }: Answered): boolean {
  return answer.summary !== null && isRefusal({ text: answer.summary, finish });
}
