import { placeOf } from '../../domain/key.ts';
import type { Memory } from '../../ports/memory-store.ts';
import type { MemoryReading } from '../../ports/provenance-store.ts';
import type { Conversation } from '../../ports/store.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { type Statement, statementOfMemory } from './derived.ts';

/** A few milliseconds of reading their words. */
const READ_AT_ONCE = 50;

/** What the memories say, each with the audience of its place. */
export async function statementsOf(
  memories: readonly Memory[],
  {
    conversations,
    readings,
  }: { readonly conversations: readonly Conversation[]; readonly readings: readonly MemoryReading[] },
): Promise<readonly Statement[]> {
  // The oldest conversation of a place is the first one.
  const audiences = new Map(conversations.toReversed().map(({ key, audience }) => [placeOf(key), audience]));
  const readingsOf = Map.groupBy(readings, ({ memoryId }) => memoryId);
  const statements: Statement[] = [];
  for (const [at, memory] of memories.entries()) {
    if (at % READ_AT_ONCE === READ_AT_ONCE - 1) await waitForOwnTurn();
    const audience = audiences.get(memory.place) ?? memory.audience;
    statements.push(statementOfMemory(memory, { audience, readings: readingsOf.get(memory.id) ?? [] }));
  }
  return statements;
}
