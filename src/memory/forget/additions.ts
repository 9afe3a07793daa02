import type { MemoryId } from '../../domain/message.ts';
import type { Addition } from '../../ports/provenance-store.ts';
import type { Services } from '../../services.ts';

/** A statement by where it comes from. */
interface Sourced {
  readonly memory: { readonly id: MemoryId; readonly createdAt: number } | null;
  readonly sources: readonly { readonly conversationId: number; readonly seq: number }[];
}

/** What edits have added to statements, or to the messages from which they come. */
export type ReadAdditions = (statements: readonly Sourced[]) => Promise<(statement: Sourced) => readonly Addition[]>;

/** Keeps what it has read, because the store deletes it with the text. */
export function createReadAdditions({ provenance }: Pick<Services, 'provenance'>): ReadAdditions {
  const known = new Map<string, readonly Addition[]>();
  return async (statements) => {
    const ids = statements.flatMap(({ memory }) => memory?.id ?? []);
    for (const [id, added] of await provenance.memoryAdditions(ids)) known.set(id, added);
    const sources = statements.flatMap((statement) => statement.sources);
    for (const [conversationId, own] of Map.groupBy(sources, (source) => source.conversationId)) {
      const seqs = [...new Set(own.map(({ seq }) => seq))];
      const found = await provenance.messageAdditions(conversationId, seqs);
      for (const [seq, added] of found) known.set(keyOf({ conversationId, seq }), added);
    }
    const addedTo = (keys: readonly string[]) => keys.flatMap((key) => known.get(key) ?? []);
    return ({ memory, sources: of }) => {
      const ofMessages = addedTo(of.map(keyOf));
      if (memory === null) return ofMessages;
      // An edit of a message that confirmed a memory later did not change what the memory says.
      return [...addedTo([memory.id]), ...ofMessages.filter(({ at }) => at <= memory.createdAt)];
    };
  };
}

function keyOf({ conversationId, seq }: Sourced['sources'][number]): string {
  return `${conversationId} ${seq}`;
}
