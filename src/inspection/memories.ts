import type { CommandServices } from '../commands/services.ts';
import { StrataError } from '../domain/errors.ts';
import { placeOf } from '../domain/key.ts';
import type { Audience, ConversationKey } from '../domain/message.ts';
import type { TokenedPreview } from '../memory/forget-target.ts';
import { mayChange } from '../memory/permissions.ts';
import { readerFor } from '../memory/policy.ts';
import type { Forgotten, Origin } from '../memory/service.ts';
import {
  MEMORY_STATES,
  type Memory,
  type MemoryKind,
  type MemoryReader,
  type MemoryState,
} from '../ports/memory-store.ts';
import type { Conversation } from '../ports/store.ts';
import { audited } from './audit.ts';
import { findConversation } from './conversation.ts';
import { assertMayRead, mayRead, requesterOf, type Viewer } from './viewer.ts';

export interface MemoriesQuery {
  readonly viewer: Viewer;
  /** Null chooses the place with the newest activity that the viewer may read. */
  readonly key: string | null;
  readonly filter: MemoryFilter;
}

/** Null and empty values match everything. */
export interface MemoryFilter {
  readonly text: string;
  readonly kind: MemoryKind | null;
  readonly state: MemoryState | null;
  readonly audience: Audience | null;
  /** Id of the person whom a memory is about. */
  readonly personId: string | null;
  readonly maxAgeDays: number | null;
}

export interface MemoriesView {
  /** Null if there is no conversation that the viewer may read. */
  readonly conversation: Conversation | null;
  /** The readable places with the newest activity, one conversation each. */
  readonly places: readonly ConversationKey[];
  readonly people: readonly { readonly id: string; readonly name: string }[];
  readonly memories: readonly Memory[];
  readonly isMore: boolean;
}

export interface MemoryQuery {
  readonly viewer: Viewer;
  readonly key: string;
  readonly id: string;
}

export interface MemoryView extends Origin {
  readonly conversation: Conversation;
  readonly mayChange: boolean;
}

const MEMORY_ACTIONS = ['edit', 'pin', 'unpin', 'promote', 'demote', 'reject', 'restore'] as const;

const MAX_PLACES = 200;
const MAX_READ = 1000;
const MAX_SHOWN = 200;
const DAY_MS = 86_400_000;

export async function memoriesView(
  parts: CommandServices,
  { viewer, key, filter }: MemoriesQuery,
): Promise<MemoriesView> {
  const recent = await parts.store.conversations.list({ order: 'active', limit: MAX_PLACES, after: null });
  const readable = recent.filter(({ audience }) => mayRead(viewer, audience));
  const places = [...new Map(readable.map((each) => [placeOf(each.key), each.key])).values()];
  const conversation = key === null ? (readable[0] ?? null) : await findConversation(parts, key);
  if (conversation === null) return { conversation, places, people: [], memories: [], isMore: false };
  assertMayRead(viewer, conversation.audience, 'memories');
  const all = await readAll(parts, readerOf(parts, conversation), filter.text);
  const fitting = all.filter((memory) => fits(memory, filter, parts.clock.now()));
  const subjects = all.flatMap(({ subjectId: id, subjectName: name }) =>
    id === null ? [] : [[id, name ?? id] as const],
  );
  return {
    ...{ conversation, places, memories: fitting.slice(0, MAX_SHOWN), isMore: fitting.length > MAX_SHOWN },
    people: [...new Map(subjects)].map(([id, name]) => ({ id, name })),
  };
}

function readerOf({ agents }: CommandServices, conversation: Conversation): MemoryReader {
  return readerFor(conversation, agents.agentFor(conversation.key));
}

async function readAll({ memories }: CommandServices, reader: MemoryReader, text: string): Promise<readonly Memory[]> {
  const states = MEMORY_STATES;
  if (text.trim() !== '') return await memories.search({ reader, text, states, limit: MAX_SHOWN });
  return await memories.list({ reader, states, limit: MAX_READ, offset: 0 });
}

function fits(memory: Memory, filter: MemoryFilter, now: number): boolean {
  const { kind, state, audience, personId, maxAgeDays } = filter;
  const wanted = { kind, state, audience, subjectId: personId };
  const has = { kind: memory.kind, state: memory.state, audience: memory.audience, subjectId: memory.subjectId };
  const isSame = (['kind', 'state', 'audience', 'subjectId'] as const).every(
    (name) => wanted[name] === null || wanted[name] === has[name],
  );
  return isSame && (maxAgeDays === null || memory.createdAt >= now - maxAgeDays * DAY_MS);
}

export async function memoryView(parts: CommandServices, query: MemoryQuery): Promise<MemoryView> {
  const conversation = await readablePlace(parts, query);
  const reader = readerOf(parts, conversation);
  const origin = await parts.memories.why(query.id, reader);
  const may = query.viewer.role !== 'viewer' && mayChange(origin.memory, requesterOf(query.viewer, reader));
  return { ...origin, conversation, mayChange: may };
}

async function readablePlace(parts: CommandServices, { viewer, key }: MemoryQuery): Promise<Conversation> {
  const conversation = await findConversation(parts, key);
  assertMayRead(viewer, conversation.audience, 'memories');
  return conversation;
}

/** Throws `COMMAND_FORBIDDEN`, `USAGE` and the errors of the change. */
export async function changeMemory(
  parts: CommandServices,
  { action: name, text, ...query }: MemoryQuery & { readonly action: string; readonly text: string },
): Promise<Memory> {
  const { viewer, id } = query;
  const action = MEMORY_ACTIONS.find((known) => known === name);
  if (action === undefined) throw new StrataError('USAGE', { problem: `Expected ${MEMORY_ACTIONS.join(', ')}.` });
  return await audited(parts, { viewer, action: `memory ${action}`, target: id }, async () => {
    const by = requesterOf(viewer, readerOf(parts, await readablePlace(parts, query)));
    switch (action) {
      case 'edit':
        return await parts.memories.edit(id, { text }, by);
      case 'pin':
      case 'unpin':
        return await parts.memories.pin(id, action === 'pin', by);
      default:
        return await parts.memories.move(id, action, by);
    }
  });
}

/** What forgetting the memory would delete. */
export async function forgetPreview(parts: CommandServices, query: MemoryQuery): Promise<TokenedPreview> {
  const by = requesterOf(query.viewer, readerOf(parts, await readablePlace(parts, query)));
  return await parts.memories.previewForget({ kind: 'memories', ids: [query.id] }, by);
}

/** Deletes what the preview with this token has shown. Throws `USAGE` if it would now be something else. */
export async function forgetMemory(
  parts: CommandServices,
  { token, ...query }: MemoryQuery & { readonly token: string },
): Promise<Forgotten> {
  return await audited(parts, { viewer: query.viewer, action: 'memory forget', target: query.id }, async () => {
    const preview = await forgetPreview(parts, query);
    if (preview.token === token) return await parts.memories.forget(preview);
    throw new StrataError('USAGE', { problem: 'What would be deleted has changed since. Look at it again.' });
  });
}
