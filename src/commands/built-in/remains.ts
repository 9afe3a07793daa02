import type { Call } from '../command.ts';

/** A sentence about deleted text that is still in the files of the store; empty if it is gone. */
export async function remainsNote({ services: { store, clock }, invocation }: Call): Promise<string> {
  const nothing = { memoryIds: [], tombstones: [], redactions: [], sentences: [] };
  // Only this says whether the files are clean.
  const { remains } = await store.memories.forget({ ...nothing, actor: invocation.author.id, now: clock.now() });
  return remains ?? '';
}
