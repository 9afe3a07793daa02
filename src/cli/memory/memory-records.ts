import type { App } from '../../app/app.ts';
import { findConversation } from '../../conversation/find-conversation.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ConversationKey, MemoryId } from '../../domain/message.ts';
import { readerIn } from '../../memory/rights/policy.ts';
import { isFaded } from '../../memory/statements/lifecycle.ts';
import { MEMORY_STATES, type Memory, type MemoryKind, type MemoryReader } from '../../ports/memory-store.ts';
import { allAfter } from '../../util/async/pages.ts';
import { formatTable } from '../../util/text/table.ts';
import { cleanText, excerpt } from '../../util/text/text.ts';
import { type Cli, isoOrNull, widthOf } from '../cli.ts';
import { OPERATOR } from '../invoke.ts';

const PAGE = 1000;
const MAX_HITS = 50;

export async function listOf(
  app: App,
  conversation: ConversationKey,
  kind: MemoryKind | null,
): Promise<readonly Memory[]> {
  const reader = await readerOf(app, conversation);
  const { clock, store } = app.services;
  const query = { reader, states: MEMORY_STATES, offset: 0, ...(kind === null ? {} : { kinds: [kind] }) };
  const now = clock.now();
  const all = await allAfter<Memory>(PAGE, (page) => store.memories.list({ ...query, ...page }));
  return all.filter((memory) => !isFaded(memory, now));
}

export async function searchOf(app: App, conversation: ConversationKey, text: string): Promise<readonly Memory[]> {
  return await app.services.memories.search({ reader: await readerOf(app, conversation), text, limit: MAX_HITS });
}

/** Saves a memory exactly as the operator wrote it. Returns its id. */
export async function addMemoryOf(
  app: App,
  conversation: ConversationKey,
  said: { readonly text: string; readonly kind: MemoryKind; readonly global: boolean },
): Promise<MemoryId> {
  const by = { reader: await readerOf(app, conversation), author: OPERATOR, rights: 'operator' } as const;
  const { text, kind, global } = said;
  const result = await app.services.memories.add({ text, kind, scope: global ? 'global' : 'place', by });
  if (result.kind !== 'forgotten') return result.memory.id;
  throw new StrataError('USAGE', { problem: 'This was forgotten here before, so it is not stored again.' });
}

export async function readerOf(app: App, key: ConversationKey): Promise<MemoryReader> {
  return readerIn(await findConversation(app.services, key), app.services);
}

/** The JSON form of a memory. */
export function recordOf(memory: Memory) {
  const { sources, validFrom, validUntil, lastRecalledAt, createdAt, updatedAt, fingerprint: _, ...rest } = memory;
  return {
    ...rest,
    validFrom: isoOrNull(validFrom),
    validUntil: isoOrNull(validUntil),
    lastRecalledAt: isoOrNull(lastRecalledAt),
    createdAt: isoOrNull(createdAt),
    updatedAt: isoOrNull(updatedAt),
    sources: sources.map(({ conversation, seq, externalId }) => ({ conversation, seq, id: externalId })),
  };
}

export function printMemories(cli: Cli, memories: readonly Memory[]): void {
  if (memories.length === 0) {
    cli.stderr.write('No memory here matches.\n');
    return;
  }
  const cells = memories.map((memory) => [
    memory.id,
    memory.kind,
    excerpt(cleanText(memory.text), 100),
    cleanText(memory.subjectName ?? ''),
    `${memory.state}${memory.pinned ? ', pinned' : ''}`,
  ]);
  cli.stdout.write(`${formatTable(['ID', 'KIND', 'WHAT', 'ABOUT', 'STATE'], cells, widthOf(cli))}\n`);
}
