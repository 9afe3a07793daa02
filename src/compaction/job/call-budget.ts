import { z } from 'zod';
import { StrataError } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { HOUR_MS } from '../../util/time/time.ts';

/** The summary calls of a conversation in an hour. */
const countSchema = z.object({
  since: z.number(),
  calls: z.int().min(0),
  /** The next seq when the hour began: later messages earn additional calls. */
  fromSeq: z.int().min(0),
});
type CallCount = z.infer<typeof countSchema>;

const WINDOW_MS = HOUR_MS;
/** Model calls per hour that any conversation may use. */
const CALLS = 60;
/** Additional calls for each new entry, so that busy conversations get their summaries. */
const CALLS_PER_ENTRY = 2;
const NAME = 'spend';

/** How many calls a conversation may use for summaries in this hour, and has used. */
export interface CallBudget {
  readonly calls: number;
  readonly limit: number;
  /** End of the hour. */
  readonly untilAt: number;
}

/** The conversation that pays for the summaries of another one: for a child, the one that people see. */
export async function payerOf({ store }: Pick<Services, 'store'>, conversation: Conversation): Promise<Conversation> {
  const root = rootOf(conversation.key);
  return root === conversation.key ? conversation : ((await store.conversations.find(root)) ?? conversation);
}

type BudgetServices = Pick<Services, 'state' | 'clock'>;
type Payer = Pick<Conversation, 'id' | 'nextSeq'>;

/** The calls of the current hour, for `/status`. */
export async function callBudgetOf(services: BudgetServices, payer: Payer): Promise<CallBudget> {
  const { calls, since, fromSeq } = await read(services, payer);
  const limit = CALLS + CALLS_PER_ENTRY * Math.max(0, payer.nextSeq - fromSeq);
  return { calls, limit, untilAt: since + WINDOW_MS };
}

/** Throws `SPEND_CAPPED` when the hour's calls are used up: this stops any loop and makes it visible. */
export async function assertWithinBudget(services: BudgetServices, payer: Payer): Promise<void> {
  const budget = await callBudgetOf(services, payer);
  if (budget.calls >= budget.limit) throw new StrataError('SPEND_CAPPED', budget);
}

/** Says that the hour's calls are used up; null while some are left. */
export async function budgetProblem(services: BudgetServices, payer: Payer): Promise<string | null> {
  const budget = await callBudgetOf(services, payer);
  return budget.calls >= budget.limit ? new StrataError('SPEND_CAPPED', budget).message : null;
}

/** Records calls that were made. Of two processes that count at the same time, one may be lost: it is a safety net. */
export async function countCalls(services: BudgetServices, payer: Payer, calls: number): Promise<void> {
  if (calls === 0) return;
  const count = await read(services, payer);
  await services.state.of(payer.id).set(NAME, { ...count, calls: count.calls + calls });
}

async function read({ state, clock }: BudgetServices, { id, nextSeq }: Payer): Promise<CallCount> {
  const { data } = countSchema.safeParse(await state.of(id).get(NAME));
  const now = clock.now();
  const isRunning = data !== undefined && now >= data.since && now < data.since + WINDOW_MS;
  return isRunning ? data : { since: now, calls: 0, fromSeq: nextSeq };
}
