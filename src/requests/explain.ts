import { type NotedReply, readNote } from '../context/record/note-chain.ts';
import { wholePrint } from '../context/record/request-print.ts';
import { StrataError } from '../domain/errors.ts';
import type { ConversationKey, Entry } from '../domain/message.ts';
import type { MemoryReader } from '../ports/memory-store.ts';
import type { ModelRequest } from '../ports/model.ts';
import type { Conversation } from '../ports/store.ts';
import type { Services } from '../services.ts';
import { blocksOf, type RequestBlock } from './blocks.ts';
import { type RebuiltRequest, rebuildRequest } from './rebuild.ts';

/** What the model saw before it wrote one reply. */
export interface ExplainedReply {
  readonly conversation: ConversationKey;
  readonly seq: number;
  /** The newest message that it had read. */
  readonly turn: number;
  readonly at: number;
  readonly agentId: string;
  /** The model that answered. */
  readonly modelId: string;
  readonly windowTokens: number;
  /** Estimated tokens of all blocks. */
  readonly tokens: number;
  readonly blocks: readonly RequestBlock[];
  readonly exactness: Exactness;
  readonly request: RequestText;
  /** Seq of the reply before it that can be explained; null for none. */
  readonly previousSeq: number | null;
}

/** Whether the request is what was sent, byte for byte, and if not, why. */
export type Exactness =
  | 'exact'
  /** Something was deleted, edited or reset since, or may not be read here. */
  | 'gone'
  /** A hook of a plugin had changed the request, or a tool had opened images that are not stored. */
  | 'altered'
  /** Everything is stored, but its hash is not that of what was sent: an older version wrote requests otherwise. */
  | 'different'
  /** The note is of a version that kept no hash. */
  | 'unchecked';

const EXACTNESS: Readonly<Record<Exactness, string>> = {
  exact: 'This is exactly what the model saw.',
  gone: 'This is what the model saw, except for parts that changed or were deleted since.',
  altered: 'Part of this request is not kept: a plugin changed it, or a tool opened images that are not stored.',
  different:
    'This differs from what the model saw: the version of Strata that sent it wrote some parts in another way.',
  unchecked: 'This is what the model saw, if the version of Strata that sent it wrote all parts as this one does.',
};

export function exactnessText({ exactness }: Pick<ExplainedReply, 'exactness'>): string {
  return EXACTNESS[exactness];
}

/** The content of a request and the settings of its call. */
export type RequestText = Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'maxOutputTokens'> & {
  readonly settings: RebuiltRequest['settings']['settings'];
};

export interface ExplainOptions {
  readonly conversation: Conversation;
  /** Of the reply, of a message of the same turn, or of a message that it answers. */
  readonly seq: number;
  /** Only memories that it may read are shown; null for operators. */
  readonly reader: MemoryReader | null;
}

/**
 * Rebuilds the request behind a reply. Throws `NOT_FOUND` if there is no such reply, if it was deleted, or if it is
 * older than these records.
 */
export async function explainReply(
  services: Pick<Services, 'store' | 'prompts'>,
  options: ExplainOptions,
): Promise<ExplainedReply> {
  const { conversation, reader } = options;
  const { requests } = services.store.journal;
  const seq = await findReply(services, options);
  const reply = await readNote(requests, conversation.id, seq);
  if (reply === null) throw notFound(options.seq);
  const rebuilt = await rebuildRequest(services, { conversation, reply, reader });
  if (rebuilt === null) throw notFound(options.seq);
  const previousSeq = await newestReply(services, { conversation, toSeq: seq - 1 });
  return explained(conversation, reply, { rebuilt, previousSeq });
}

/** How many replies to look at. If all of them are deleted, hardly anything of an earlier request can be shown. */
const MAX_DELETED = 20;

/** The newest reply that can be explained. Deleted ones keep their notes, because later notes refer to them. */
export async function newestReply(
  { store }: Pick<Services, 'store'>,
  { conversation: { id }, toSeq }: { readonly conversation: Pick<Conversation, 'id'>; readonly toSeq: number },
): Promise<number | null> {
  const noted = await store.journal.requests.notes(id, { toSeq, limit: MAX_DELETED });
  const replies = await store.transcript.pick(
    id,
    noted.map(({ seq }) => seq),
  );
  return replies.findLast(({ redactedAt }) => redactedAt === null)?.seq ?? null;
}

function explained(
  { key }: Conversation,
  { seq, turn, at }: NotedReply,
  { rebuilt, previousSeq }: { readonly rebuilt: RebuiltRequest; readonly previousSeq: number | null },
): ExplainedReply {
  const { fitted, settings, note } = rebuilt;
  const { system, messages, tools } = fitted.view;
  const blocks = blocksOf(rebuilt);
  const { agentId, windowTokens, reserveTokens: maxOutputTokens } = settings;
  return {
    conversation: key,
    seq,
    turn,
    at,
    agentId,
    windowTokens,
    modelId: note.model ?? settings.modelId,
    tokens: blocks.reduce((sum, { tokens }) => sum + tokens, 0),
    blocks,
    exactness: exactnessOf(rebuilt),
    request: { system, messages, tools, maxOutputTokens, settings: settings.settings },
    previousSeq,
  };
}

function exactnessOf({ fitted: { view }, note, gone, isAltered }: RebuiltRequest): Exactness {
  if (isAltered || note.sections.some(({ kind }) => kind === 'other')) return 'altered';
  if (gone.size > 0) return 'gone';
  if (note.print === '') return 'unchecked';
  return wholePrint(view) === note.print ? 'exact' : 'different';
}

/** How many entries after a message to look for the reply to it. */
const NEARBY = 200;

async function findReply({ store }: Pick<Services, 'store'>, { conversation, seq }: ExplainOptions): Promise<number> {
  const range = { fromSeq: seq, toSeq: seq + NEARBY, limit: NEARBY };
  const entries = await store.transcript.read(conversation.id, range);
  const [named] = entries;
  if (named?.seq !== seq || named.redactedAt !== null) throw notFound(seq);
  const noted = await store.journal.requests.notes(conversation.id, range);
  const seqs = new Set(noted.map((reply) => reply.seq));
  // A message that the bot sent unasked in between has no note.
  const reply = entries.find((entry) => answers(entry, named) && seqs.has(entry.seq));
  if (reply === undefined || reply.redactedAt !== null) throw notFound(seq);
  return reply.seq;
}

/** The last entry of a turn is its reply: it says something and calls no tool. */
function answers({ role, turn, parts }: Entry, named: Entry): boolean {
  if (role !== 'assistant' || turn === null || parts.some(({ kind }) => kind === 'tool-call')) return false;
  return named.role === 'user' ? turn >= named.seq : turn === named.turn;
}

function notFound(seq: number): StrataError {
  return new StrataError('NOT_FOUND', { what: 'record of a reply', id: `#${seq}` });
}
