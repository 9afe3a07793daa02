import { z } from 'zod';
import type { InboundMessage } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';

/**
 * Up to which message conversations were erased. The platform still has these messages, and a channel that catches up
 * would store and answer them again: nothing in the store shows that they were known.
 */

const NAMESPACE = 'erased';
/** Messages are not always stored in the order of their times. */
const MAX_LOOKED_AT = 100;
/** A message that arrives this soon is no part of a catch-up, and is not looked up. */
const LIVE_MS = 1_000;

const newestSchema = z.object({ externalId: z.string(), at: z.number() });

/** Called before the conversation is deleted. Messages from a file are unknown to the platform. */
export async function noteErasure(
  { store, state }: Pick<Services, 'store' | 'state'>,
  { id, key, nextSeq }: Conversation,
): Promise<void> {
  const range = { fromSeq: Math.max(1, nextSeq - MAX_LOOKED_AT), toSeq: nextSeq, limit: MAX_LOOKED_AT };
  const [newest] = (await store.transcript.read(id, range))
    .flatMap(({ role, externalId, at }) => (role === 'user' && externalId !== null ? [{ externalId, at }] : []))
    .toSorted((one, other) => other.at - one.at);
  if (newest !== undefined) await state.set(NAMESPACE, key, newest);
}

/** Whether the message is from before its conversation was erased. */
export async function isErased(
  { state, clock }: Pick<Services, 'state' | 'clock'>,
  { conversation, externalId, at }: Pick<InboundMessage, 'conversation' | 'externalId' | 'at'>,
): Promise<boolean> {
  const now = clock.now();
  if (now - at < LIVE_MS) return false;
  const newest = newestSchema.safeParse(await state.get(NAMESPACE, conversation)).data;
  // One from the future is from before the clock was set back.
  if (newest === undefined || newest.at > now) return false;
  return at < newest.at || externalId === newest.externalId;
}

/** The bot has left the workspace (`platform:workspace`). */
export async function dropErasures({ state }: Pick<Services, 'state'>, workspace: string): Promise<void> {
  for (const { key } of await state.list(NAMESPACE)) {
    if (key.startsWith(`${workspace}:`)) await state.delete(NAMESPACE, key);
  }
}
