import { StrataError } from '../../domain/errors.ts';
import type { MemoryCandidate } from '../../memory/admission/candidate.ts';
import type { ToolSpec } from '../../ports/model.ts';
import type { RenderedPrompt } from '../../prompts/variables.ts';
import { visibleText } from '../../util/text/foreign-text.ts';
import { type Audited, faultOf, identifiersKept, isIncomplete, withoutForeignLinks } from '../answer/audit.ts';
import { contentFault } from '../answer/content-audit.ts';
import { type Structured, structured } from '../answer/sections.ts';
import { ask } from '../ask/ask.ts';
import type { Answered, Question } from '../ask/question.ts';
import type { Job } from './job.ts';
import { answerTokens } from './room.ts';

export interface SummaryQuestion {
  readonly purpose: Question['purpose'];
  /** `strict` is the fault of the first answer; empty on the first attempt. */
  prompt(tools: boolean, strict: string): RenderedPrompt;
  readonly tools: readonly ToolSpec[];
  readonly transcript: string;
  /** The source as text: links it does not contain are removed. */
  readonly source: string;
  readonly nonce: string;
  /** The tokens the summary would take in the view, and their maximum. */
  tokensOf(text: string): number;
  readonly limitTokens: number;
  /** The summary has sections. */
  readonly structured: boolean;
}

export interface Draft {
  readonly text: string;
  readonly tokens: number;
  readonly candidates: readonly MemoryCandidate[];
  /** Null for a summary that no model wrote. */
  readonly promptHash: string | null;
}

/**
 * Returns a summary that passed the audit. A bad answer gets one stricter retry; after that the job fails, so a bad
 * answer never replaces messages. Throws `SUMMARY_REJECTED` and what the model throws.
 */
export async function summarise(job: Job, question: SummaryQuestion): Promise<Draft> {
  const { services } = job;
  if (!services.hooks.has('compaction')) return await write(job, question);
  let written: Draft | null = null;
  const { signal, where: called } = job.call;
  const { model: _, ...where } = called;
  const context = { ...where, purpose: question.purpose, source: question.source };
  const result = await services.hooks.compaction({ context, change: {}, signal }, async () => {
    written = await write(job, question);
    return { kind: 'summary', text: written.text };
  });
  if (result.kind === 'refuse') throw new StrataError('HOOK_REFUSED', { what: 'the summary', reason: result.reason });
  return checked(question, { text: result.text, written });
}

/** A summary that a hook has changed or written passes the same checks as one of a model. */
function checked(
  question: SummaryQuestion,
  { text: given, written }: { readonly text: string; readonly written: Draft | null },
): Draft {
  if (given === written?.text) return written;
  const { text } = readable(given, question);
  const fault = faultIn(text, question, {
    finish: 'stop',
    prompt: question.prompt(false, '').text,
    said: given,
    attempt: 'last',
  });
  if (fault !== null) throw new StrataError('HOOK_FAILED', { hook: 'compaction', owner: 'a plugin', cause: fault });
  const { candidates = [], promptHash = null } = written ?? {};
  return { text, tokens: question.tokensOf(text), candidates, promptHash };
}

async function write(job: Job, question: SummaryQuestion): Promise<Draft> {
  const { services } = job;
  const { model } = job.call;
  const first = await askAndAudit(job, question, '');
  if (first.fault === null) return draftOf(job, question, first);
  services.log.info('summary.rejected', { model: model.id, fault: first.fault });
  const second = await askAndAudit(job, question, first.fault);
  if (second.fault !== null) throw new StrataError('SUMMARY_REJECTED', { model: model.id, fault: second.fault });
  const draft = draftOf(job, question, second);
  // The fault of the first answer was its summary.
  return draft.candidates.length > 0 ? draft : { ...draft, candidates: first.result.answer.candidates };
}

/** Why the model's first answer is not usable. Null if it is. */
export async function faultOfFirst(job: Job, question: SummaryQuestion): Promise<string | null> {
  return (await askAndAudit(job, question, '')).fault;
}

interface AuditedAnswer {
  readonly result: Answered;
  readonly text: string;
  readonly fault: string | null;
}

async function askAndAudit(job: Job, question: SummaryQuestion, strict: string): Promise<AuditedAnswer> {
  const result = await ask(job.call, {
    purpose: question.purpose,
    prompt: (tools) => question.prompt(tools, strict),
    transcript: question.transcript,
    tools: question.tools,
    maxOutputTokens: answerTokens(job.call.windowTokens),
  });
  const { answer, finish } = result;
  const said = answer.summary ?? '';
  const { text, hasForm } = readable(said, question);
  const missing = text === '' && !isIncomplete(finish) ? (answer.problems[0] ?? null) : null;
  const attempt = strict === '' ? 'first' : 'last';
  const fault = missing ?? faultIn(text, question, { finish, prompt: result.prompt.text, said, attempt });
  // Without its sections, a second answer is still a summary: all of it counts as progress.
  return { result, text, fault: fault ?? (hasForm || strict !== '' ? null : NO_SECTIONS) };
}

const NO_SECTIONS = 'it did not begin with one of the named sections';

function readable(given: string, question: Pick<SummaryQuestion, 'source' | 'structured'>): Structured {
  const text = withoutForeignLinks(visibleText(given), question.source);
  return question.structured ? structured(text) : { text, hasForm: true };
}

function faultIn(
  text: string,
  question: SummaryQuestion,
  { attempt, ...result }: Pick<Audited, 'finish' | 'prompt' | 'said'> & { readonly attempt: 'first' | 'last' },
): string | null {
  const { nonce, limitTokens } = question;
  return (
    faultOf({ ...result, text, tokens: question.tokensOf(text), limitTokens, nonce }) ??
    contentFault(text, question.source, attempt)
  );
}

function draftOf(job: Job, question: SummaryQuestion, { text, result }: AuditedAnswer): Draft {
  const kept = identifiersKept(text, question.source);
  job.services.log.debug('summary.accepted', {
    model: job.call.model.id,
    identifiersKept: Math.round(kept * 100) / 100,
  });
  return {
    text,
    tokens: question.tokensOf(text),
    candidates: result.answer.candidates,
    promptHash: result.prompt.hash,
  };
}
