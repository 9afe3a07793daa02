import { createHash } from 'node:crypto';
import { StrataError } from '../../domain/errors.ts';
import type { ConversationKey, Entry, MemoryId } from '../../domain/message.ts';
import { type ForgetPlan, MEMORY_STATES, type Memory } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { allAfter } from '../../util/async/pages.ts';
import { mayDelete, type Requester } from '../rights/permissions.ts';
import { assertReadable } from '../rights/policy.ts';
import { isAboutRequester, type WithheldServices, withheldAbout } from '../rights/withheld.ts';
import { type ForgetPreview, type Forgetting, planForget } from './forget.ts';
import { forgettable } from './forget-memories.ts';

export type ForgetTarget =
  | { readonly kind: 'memories'; readonly ids: readonly string[] }
  /** Every readable memory whose words match the text and that the person may forget. */
  | { readonly kind: 'text'; readonly text: string }
  /** Everything about a person within reach; for the person who asks, wherever it is stored. */
  | { readonly kind: 'person'; readonly personId: string }
  /** Messages by number. */
  | { readonly kind: 'messages'; readonly conversation: ConversationKey; readonly seqs: readonly number[] };

/** A preview to refer to: its token changes with what would be deleted. */
export interface TokenedPreview extends ForgetPreview {
  readonly token: string;
  /** The requested memories, which lead to all the others. At most twenty for a text. */
  readonly asked: readonly MemoryId[];
}

export type ForgetServices = Pick<Services, 'store' | 'search' | 'clock' | 'random' | 'provenance' | 'agents'> &
  WithheldServices;

/** A match far below the best is not what a person means by "forget that". */
const FORGET_SHARE = 0.6;
const MAX_MATCHES = 20;
const PAGE = 1000;
const TOKEN_LENGTH = 8;

/** What forgetting would remove. Throws `NOT_FOUND`, `ACCESS_DENIED` or `COMMAND_FORBIDDEN`. */
export async function previewForget(
  services: ForgetServices,
  target: ForgetTarget,
  by: Requester,
): Promise<TokenedPreview> {
  const forgetting = await targeted(services, target, by);
  const preview = await planForget(services, { ...forgetting, by });
  const plan = { ...preview.plan, ...askerOf(services, target, by) };
  return { ...preview, plan, token: tokenOf(preview), asked: forgetting.memories.map(({ id }) => id) };
}

/** Whose name is removed from the record of costs. */
function askerOf(
  { personScope }: ForgetServices,
  target: ForgetTarget,
  { author, reader, rights }: Requester,
): Pick<ForgetPlan, 'asker'> {
  if (target.kind !== 'person' || (target.personId !== author.id && rights !== 'operator')) return {};
  const [platform = ''] = reader.workspace.split(':');
  return { asker: { person: `${platform}:${target.personId}`, within: personScope(reader.workspace) } };
}

/** Short, because people type it. It protects against a change in between, not against an attacker. */
function tokenOf({ plan: { memoryIds, redactions, sentences } }: ForgetPreview): string {
  const texts = sentences.map(({ conversationId, seq, kind, sentences: own }) => [
    conversationId,
    seq,
    kind,
    ...own.map(({ text }) => text),
  ]);
  const facts = JSON.stringify([memoryIds.toSorted(), redactions, texts]);
  return createHash('sha256').update(facts).digest('hex').slice(0, TOKEN_LENGTH);
}

async function targeted(
  services: ForgetServices,
  target: ForgetTarget,
  by: Requester,
): Promise<Omit<Forgetting, 'by'>> {
  switch (target.kind) {
    case 'memories':
      return { memories: await byId(services, target.ids, by), messages: [] };
    case 'person':
      return {
        memories: await allowed(services, await everythingAbout(services, target.personId, by), by),
        messages: [],
      };
    case 'text':
      return { memories: await allowed(services, await matching(services, target.text, by), by), messages: [] };
    case 'messages':
      return { memories: [], messages: await messagesOf(services, target, by) };
    default:
      return target satisfies never;
  }
}

/** The memories that the person may forget. Throws if there were matches but the person may forget none of them. */
async function allowed(services: ForgetServices, found: readonly Memory[], by: Requester): Promise<readonly Memory[]> {
  const own = await forgettable(services, found, by);
  if (found.length > 0 && own.length === 0) throw forbidden();
  return own;
}

function forbidden(): StrataError {
  return new StrataError('COMMAND_FORBIDDEN', {
    command: 'memory forget',
    needs: 'the person a memory is about, the author of a message, moderators and operators',
  });
}

async function byId(services: ForgetServices, ids: readonly string[], by: Requester): Promise<readonly Memory[]> {
  const found: Memory[] = [];
  for (const id of ids) {
    const memory = await services.store.memories.find(id as MemoryId);
    if (memory === null) throw new StrataError('NOT_FOUND', { what: 'memory', id });
    if (!isAboutRequester(memory, by, services.personScope)) assertReadable(memory, by.reader);
    found.push(memory);
  }
  const own = await forgettable(services, found, by);
  if (own.length < found.length) throw forbidden();
  return found;
}

async function messagesOf(
  services: ForgetServices,
  { conversation: key, seqs }: Extract<ForgetTarget, { kind: 'messages' }>,
  by: Requester,
): Promise<Forgetting['messages']> {
  const conversation = await services.store.conversations.find(key);
  if (conversation === null) return [];
  const { entries, refused } = await namedMessages(services, conversation, { seqs, by });
  if (refused > 0) throw forbidden();
  return entries.length === 0 ? [] : [{ conversation, entries }];
}

/** Without a limit, because forgetting must not stop at the end of a page. */
async function everythingAbout(services: ForgetServices, subjectId: string, by: Requester): Promise<readonly Memory[]> {
  const found = await readableAbout(services, subjectId, by);
  if (subjectId !== by.author.id) return found;
  const withheld: Memory[] = [];
  for (const { id } of await withheldAbout(services, subjectId, by.reader)) {
    const memory = await services.store.memories.find(id);
    if (memory !== null) withheld.push(memory);
  }
  return [...found, ...withheld];
}

async function readableAbout(
  { store }: ForgetServices,
  subjectId: string,
  { reader }: Requester,
): Promise<readonly Memory[]> {
  const about = { reader, subjectId, states: MEMORY_STATES, offset: 0 };
  return await allAfter<Memory>(PAGE, (page) => store.memories.list({ ...about, ...page }));
}

/** The memories that say it: the best match, and those about as good. */
async function matching(services: ForgetServices, text: string, { reader }: Requester): Promise<readonly Memory[]> {
  const hits = await services.search.memories({ reader, text, states: MEMORY_STATES, limit: MAX_MATCHES });
  const best = hits[0]?.score ?? 0;
  const ids = hits.filter((hit) => hit.score >= best * FORGET_SHARE).map((hit) => hit.id);
  if (ids.length === 0) return [];
  return services.store.memories.list({ reader, ids, states: MEMORY_STATES, limit: ids.length, offset: 0 });
}

/** The messages with these numbers that exist and that the person may delete. */
async function namedMessages(
  { store }: Pick<Services, 'store'>,
  conversation: Conversation,
  { seqs, by }: { readonly seqs: readonly number[]; readonly by: Requester },
): Promise<{ readonly entries: readonly Entry[]; readonly refused: number }> {
  const found = (await store.transcript.pick(conversation.id, seqs)).filter(({ redactedAt }) => redactedAt === null);
  const entries = found.filter((entry) => mayDelete(entry, conversation, by));
  return { entries, refused: found.length - entries.length };
}
