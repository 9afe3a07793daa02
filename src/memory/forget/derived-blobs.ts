import { readNotes } from '../../context/record/note-chain.ts';
import type { BlobId, Entry } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { MINUTE_MS } from '../../util/time/time.ts';
import { type BotText, isDerived, type Statement, type Surroundings } from './derived.ts';

/** Characters per window, and how many of them the next window repeats. */
const WINDOW = 40_000;
const OVERLAP = 2_000;
const PAGE = 100;
/** Messages have the time of their platform, results that of this machine, which may be behind. */
const CLOCKS_APART_MS = 10 * MINUTE_MS;

interface Looking {
  readonly statements: readonly Statement[];
  readonly around: Surroundings;
}

/** Long tool results, stored as blobs, that repeat what is being forgotten. */
export async function derivedBlobs(
  { store }: Pick<Services, 'store'>,
  { statements, around }: Looking,
): Promise<readonly BlobId[]> {
  if (statements.length === 0) return [];
  const { conversationId } = around;
  const since = Math.min(...statements.map((statement) => statement.since)) - CLOCKS_APART_MS;
  const found: BlobId[] = [];
  let after: BlobId | null = null;
  do {
    const page: readonly StoredBlob[] = await store.blobs.list(conversationId, { since, after, limit: PAGE });
    for (const blob of page) if (await repeats(store, blob, { statements, around })) found.push(blob.id);
    after = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
  } while (after !== null);
  return found;
}

interface StoredBlob {
  readonly id: BlobId;
  readonly createdAt: number;
}

async function repeats(
  store: Services['store'],
  { id, createdAt }: StoredBlob,
  { statements, around }: Looking,
): Promise<boolean> {
  const { conversationId } = around;
  for (let from = 0, end = 1; from < end; from += WINDOW - OVERLAP) {
    const range = await store.blobs.read(id, { conversationId, from, length: WINDOW });
    if (range === null) return false;
    end = range.totalLength;
    const text = asText(range.text, createdAt);
    if (statements.some((statement) => isDerived(text, statement, around))) return true;
    await waitForOwnTurn();
  }
  return false;
}

/** The result may contain anything known up to then. */
function asText(text: string, at: number): BotText {
  const seq = Number.MAX_SAFE_INTEGER;
  return { seq, at, role: 'tool', author: null, parts: [{ kind: 'text', text }] };
}

/** What hooks changed in requests that read a message before it was edited. Its new text may lack what they repeat. */
export async function changesBeforeEdits(
  { store }: Pick<Services, 'store'>,
  { id, nextSeq }: Conversation,
  messages: readonly Entry[],
): Promise<readonly BlobId[]> {
  const edited = messages.filter(({ editedAt }) => editedAt !== null);
  if (edited.length === 0) return [];
  const fromSeq = Math.min(...edited.map(({ seq }) => seq)) + 1;
  const until = Math.max(...edited.map(({ editedAt }) => editedAt ?? 0));
  const found = new Set<BlobId>();
  for (let toSeq = nextSeq - 1; toSeq >= fromSeq; ) {
    const notes = await readNotes(store.journal.requests, id, { fromSeq, toSeq, limit: PAGE });
    for (const { at, request } of notes) if (request.change !== null && at <= until) found.add(request.change);
    toSeq = (notes[0]?.seq ?? fromSeq) - 1;
    await waitForOwnTurn();
  }
  return [...found];
}
