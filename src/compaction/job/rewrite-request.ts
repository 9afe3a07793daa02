import { z } from 'zod';
import { StrataError } from '../../domain/errors.ts';
import type { JsonValue, SummaryId } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import type { Services } from '../../services.ts';
import { canRewrite } from './commit.ts';

/** One summary of a conversation that somebody wants in other words. Kept in the store until a worker has done it. */
export interface RewriteRequest {
  readonly summaryId: SummaryId;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** What to emphasise: data for the prompt. Empty for no wish, and once the request has ended. */
  readonly wish: string;
  readonly askedAt: number;
  /** The revision of the conversation when somebody asked. */
  readonly revision: number;
  /** Why it failed; null while it waits. */
  readonly failure: string | null;
}

const requestSchema = z.object({
  summaryId: z.string().transform((id) => id as SummaryId),
  fromSeq: z.int(),
  toSeq: z.int(),
  wish: z.string(),
  askedAt: z.number(),
  // Earlier versions stored none. 0 counts every later change of a message.
  revision: z.int().default(0),
  failure: z.string().nullable(),
});

const NAME = 'summary-rewrite';
/** Maximum length of a wish for a rewritten summary; the rest is ignored. */
export const MAX_WISH_LENGTH = 500;
const CHANGED = 'A message has just been edited or deleted. Look at the summary again.';

type State = Services['state'];

/** The newest request of the conversation, waiting or failed; null if there is none. */
export async function rewriteOf(state: State, conversationId: number): Promise<RewriteRequest | null> {
  return parsed(await state.of(conversationId).get(NAME));
}

function parsed(stored: JsonValue | undefined): RewriteRequest | null {
  return requestSchema.safeParse(stored).data ?? null;
}

/**
 * Asks for other words for exactly this range. A worker writes them; until then the summary stays as it is. Throws
 * `USAGE` if the summary cannot be rewritten or another one of the conversation waits.
 */
export async function askForRewrite(
  { store, state, queue, clock }: Pick<Services, 'store' | 'state' | 'queue' | 'clock'>,
  {
    conversation,
    summary,
    wish,
  }: { readonly conversation: Conversation; readonly summary: Summary; readonly wish: string },
): Promise<void> {
  const own = state.of(conversation.id);
  const before = await own.get(NAME);
  const problem = refusalOf(conversation, summary) ?? waitingProblem(parsed(before));
  if (problem !== null) throw new StrataError('USAGE', { problem });
  const now = clock.now();
  const { id: summaryId, fromSeq, toSeq } = summary;
  const request: RewriteRequest = {
    summaryId,
    fromSeq,
    toSeq,
    askedAt: now,
    revision: conversation.revision,
    failure: null,
    wish: wish.trim().slice(0, MAX_WISH_LENGTH).toWellFormed(),
  };
  const isStored = await own.swap(NAME, { from: before, to: { ...request } }, { quotes: request.revision });
  if (!isStored) throw new StrataError('USAGE', { problem: waitingProblem(parsed(await own.get(NAME))) ?? CHANGED });
  await store.conversations.change(conversation.id, { kind: 'maintain', at: now });
  queue.kick(conversation.id);
}

/** Why the summary cannot be rewritten; null if it can. */
export function refusalOf({ contextFrom }: Pick<Conversation, 'contextFrom'>, summary: Summary): string | null {
  if (summary.kind === 'gap') return 'A gap has no summary yet. A job fills it.';
  if (summary.supersededBy !== null) return 'This summary is no longer in the stack: another one has replaced it.';
  if (summary.fromSeq < contextFrom) return 'This summary is from before the reset, so the model no longer reads it.';
  if (!canRewrite(summary)) return 'A message in this range has changed, so the summary will be rewritten anyway.';
  return null;
}

function waitingProblem(request: RewriteRequest | null): string | null {
  if (request === null || request.failure !== null) return null;
  return `The summary of #${request.fromSeq} to #${request.toSeq} is still to be rewritten. Try again after it.`;
}

/** Removes a request that was done, or keeps the reason of its failure without the wish. Leaves a newer one alone. */
export async function endRewrite(
  state: State,
  { conversationId, request, failure, mayQuote }: EndedRewrite,
): Promise<void> {
  const own = state.of(conversationId);
  const from = await own.get(NAME);
  const stored = parsed(from);
  if (stored !== null && (stored.summaryId !== request.summaryId || stored.askedAt !== request.askedAt)) return;
  const to = failure === null ? undefined : { ...request, wish: '', failure };
  await own.swap(NAME, { from, to }, mayQuote ? { quotes: request.revision } : undefined);
}

interface EndedRewrite {
  readonly conversationId: number;
  readonly request: RewriteRequest;
  readonly failure: string | null;
  /** The failure may contain what a provider said. */
  readonly mayQuote: boolean;
}
