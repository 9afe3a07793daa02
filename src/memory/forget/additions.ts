import type { MemoryId } from '../../domain/message.ts';
import type { Addition } from '../../ports/provenance-store.ts';
import { cachedStem } from '../../search/words/stem.ts';
import type { Services } from '../../services.ts';

/** The stems of what was added after a time; null if that is nothing. */
export function addedAfter(additions: readonly Addition[], time: number): ReadonlySet<string> | null {
  const later = additions.filter(({ at }) => at > time);
  return later.length === 0 ? null : new Set(later.flatMap(({ words }) => words.map(cachedStem)));
}

/** A statement by where it comes from. */
interface Sourced {
  readonly memory: { readonly id: MemoryId } | null;
  readonly sources: readonly { readonly conversationId: number; readonly seq: number }[];
}

/** What edits have added to statements, or to the messages from which they come. */
export type ReadAdditions = (statements: readonly Sourced[]) => Promise<(statement: Sourced) => readonly Addition[]>;

/** Reads each text's additions once: the store deletes them with the text. */
export function createReadAdditions({ provenance }: Pick<Services, 'provenance'>): ReadAdditions {
  const known = new Map<string, readonly Addition[]>();
  const unknown = <Id>(ids: readonly Id[], keyOf: (id: Id) => string) =>
    [...new Set(ids)].filter((id) => !known.has(keyOf(id)));
  const note = <Id>(ids: readonly Id[], keyOf: (id: Id) => string, found: ReadonlyMap<Id, readonly Addition[]>) => {
    for (const id of ids) known.set(keyOf(id), found.get(id) ?? []);
  };
  return async (statements) => {
    const ids = unknown(
      statements.flatMap(({ memory }) => memory?.id ?? []),
      String,
    );
    note(ids, String, await provenance.memoryAdditions(ids));
    const sources = statements.flatMap((statement) => statement.sources);
    for (const [conversationId, own] of Map.groupBy(sources, (source) => source.conversationId)) {
      const keyOf = (seq: number) => keyOfMessage({ conversationId, seq });
      const seqs = unknown(
        own.map(({ seq }) => seq),
        keyOf,
      );
      note(seqs, keyOf, await provenance.messageAdditions(conversationId, seqs));
    }
    return ({ memory, sources: of }) =>
      [...(memory === null ? [] : [memory.id]), ...of.map(keyOfMessage)].flatMap((key) => known.get(key) ?? []);
  };
}

function keyOfMessage({ conversationId, seq }: Sourced['sources'][number]): string {
  return `${conversationId} ${seq}`;
}
