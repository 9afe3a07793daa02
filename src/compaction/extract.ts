import { StrataError } from '../domain/errors.ts';
import { MEMORY_TOOL } from './answer.ts';
import { faultOf, isRefusal } from './audit.ts';
import { type Ask, ask, type Told } from './call.ts';
import { answerTokens, type Desk } from './job-context.ts';

export interface MemoryTask extends Pick<Ask, 'prompt' | 'transcript'> {
  readonly nonce: string;
}

/** Failures in a row, in most of an hour, after which a refusal is the answer: it would be paid for without end. */
const MAX_REFUSALS = 12;

/**
 * Asks for the memories of a range that keeps its place. An answer without any must still be an answer: what failed in
 * any other way is asked again, or the range would count as read and what was said in it would be lost. Throws
 * `SUMMARY_REJECTED` and what the model throws.
 */
export async function askForMemories(desk: Desk, task: MemoryTask): Promise<Told> {
  const { model, services } = desk;
  const first = await attempt(desk, task);
  if (first.fault === null) return first.told;
  services.log.info('memories.rejected', { model: model.id, fault: first.fault });
  const { told, fault } = await attempt(desk, task);
  // Some models say by silence that there is nothing to save: then they say it twice.
  if (fault === null || (isSilent(first.told) && isSilent(told))) return told;
  if (desk.conversation.failures >= MAX_REFUSALS && isRefused(first.told) && isRefused(told)) return told;
  throw new StrataError('SUMMARY_REJECTED', { model: model.id, fault });
}

async function attempt(desk: Desk, { nonce, ...question }: MemoryTask): Promise<{ told: Told; fault: string | null }> {
  const maxOutputTokens = answerTokens(desk.windowTokens);
  const told = await ask(desk, { ...question, purpose: 'extract', tools: [MEMORY_TOOL], maxOutputTokens });
  const { summary: text, candidates, problems } = told.answer;
  if (candidates.length > 0) return { told, fault: null };
  if (text === null) return { told, fault: problems[0] ?? null };
  const size = { tokens: 0, limitTokens: 0 };
  return { told, fault: faultOf({ ...size, text, finish: told.finish, nonce, prompt: told.prompt.text }) };
}

function isSilent({ answer, finish }: Told): boolean {
  return answer.summary?.trim() === '' && answer.problems.length === 0 && finish === 'stop';
}

function isRefused({ answer, finish }: Told): boolean {
  return answer.summary !== null && isRefusal({ text: answer.summary, finish });
}
