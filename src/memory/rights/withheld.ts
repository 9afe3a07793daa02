import type { Memory, MemoryReader } from '../../ports/memory-store.ts';
import type { ProvenanceStore, WithheldMemory } from '../../ports/provenance-store.ts';
import { allAfter } from '../../util/async/pages.ts';
import type { Requester } from './permissions.ts';

/**
 * Maps a workspace (`platform:workspace`) to the scope in which a person's id identifies the same person: the workspace
 * itself, or the whole platform.
 */
export type PersonScope = (workspace: string) => string;

export interface WithheldServices {
  readonly provenance: Pick<ProvenanceStore, 'withheld'>;
  readonly personScope: PersonScope;
}

const PAGE = 500;

/**
 * Memories about the person in places that they cannot read from here. They may know that these exist, and forget them.
 */
export async function withheldAbout(
  { provenance, personScope }: WithheldServices,
  personId: string,
  reader: MemoryReader,
): Promise<readonly WithheldMemory[]> {
  const about = { subjectId: personId, within: personScope(reader.workspace), reader };
  return await allAfter<WithheldMemory>(PAGE, (page) => provenance.withheld({ ...about, ...page }));
}

/** Whether the memory is about the person who asks, wherever it is stored. */
export function isAboutRequester(memory: Memory, by: Requester, personScope: PersonScope): boolean {
  return memory.subjectId === by.author.id && `${memory.place}:`.startsWith(`${personScope(by.reader.workspace)}:`);
}
