import { z } from 'zod';
import type { StateStore } from '../../ports/journal.ts';

const NAME = 'answered-by';

/** Stores which of an agent's models gave the newest reply, for `/status`. */
export async function keepAnsweredBy(state: StateStore, conversationId: number, modelId: string): Promise<void> {
  await state.of(conversationId).set(NAME, modelId);
}

/** Null before the first reply, and for agents with one model. */
export async function answeredBy(state: StateStore, conversationId: number): Promise<string | null> {
  return z.string().safeParse(await state.of(conversationId).get(NAME)).data ?? null;
}
