import { z } from 'zod';
import type { StateStore } from '../ports/journal.ts';

const NAMESPACE = 'answered-by';

/** Stores which of an agent's models gave the newest reply, for `/status`. */
export async function keepAnsweredBy(state: StateStore, conversationId: number, modelId: string): Promise<void> {
  await state.set(NAMESPACE, String(conversationId), modelId);
}

/** Null before the first reply, and for agents with one model. */
export async function answeredBy(state: StateStore, conversationId: number): Promise<string | null> {
  return z.string().safeParse(await state.get(NAMESPACE, String(conversationId))).data ?? null;
}
