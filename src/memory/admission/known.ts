import type { AgentSettings } from '../../config/schema.ts';
import type { MemoryId } from '../../domain/message.ts';
import { MEMORY_STATES, type Memory, type MemoryReader, type MemoryState } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { readerFor } from '../rights/policy.ts';
import { peopleAmong, type Statement } from './merge.ts';

/** Existing memories to compare with one statement: the most similar ones, and those about the same person. */
const ALIKE = 12;
const OF_SUBJECT = 50;

/** What decides whether a repetition makes a candidate active. */
export async function historyOf({ memories, transcript }: Services['store'], { id, state, sources }: Memory) {
  if (state !== 'candidate') return { events: [], speakers: [] };
  const speakers: string[] = [];
  for (const [conversationId, said] of Map.groupBy(sources, (source) => source.conversationId)) {
    const seqs = said.map(({ seq }) => seq);
    speakers.push(...peopleAmong(await transcript.pick(conversationId, seqs)));
  }
  return { events: await memories.events(id), speakers };
}

interface AskedFrom {
  readonly conversation: Pick<Conversation, 'key' | 'audience'>;
  readonly agent: Pick<AgentSettings, 'id' | 'memory'>;
}

/**
 * Existing memories that may say the same or the opposite. Only of this place, because merging across audiences would
 * leak.
 */
export async function knownLike(
  services: Pick<Services, 'store' | 'search'>,
  { conversation, agent }: AskedFrom,
  statement: Statement,
): Promise<readonly Memory[]> {
  const reader = { ...readerFor(conversation, agent), sharePublic: false };
  const { subjectId } = statement.memory;
  const page = { reader, states: MEMORY_STATES, limit: OF_SUBJECT, offset: 0 };
  const found = [
    ...(await alike(services, { reader, statement, states: MEMORY_STATES })),
    // Many people may have the same remembered, which must not hide that it was rejected.
    ...(await alike(services, { reader, statement, states: ['rejected'] })),
    ...(subjectId === null ? [] : await services.store.memories.list({ ...page, subjectId })),
  ];
  const here = found.filter((memory) => memory.scope === 'place' && memory.place === reader.place);
  return [...new Map(here.map((memory) => [memory.id, memory])).values()];
}

interface Alike {
  readonly reader: MemoryReader;
  readonly statement: Statement;
  readonly states: readonly MemoryState[];
}

/** In the same words, in similar ones, or named by the model. */
async function alike(
  { store, search }: Pick<Services, 'store' | 'search'>,
  { reader, statement, states }: Alike,
): Promise<readonly Memory[]> {
  const { supersedes } = statement;
  const { text, fingerprint } = statement.memory;
  const hits = await search.memories({ reader, text, states, limit: ALIKE });
  const ids = [...hits.map((hit) => hit.id), ...(supersedes ? [supersedes as MemoryId] : [])];
  const page = { reader, states, limit: ALIKE * 2, offset: 0 };
  const same = await store.memories.list({ ...page, fingerprints: [fingerprint] });
  return ids.length === 0 ? same : [...same, ...(await store.memories.list({ ...page, ids }))];
}
