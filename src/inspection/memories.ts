import type { CommandServices } from '../commands/services.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { StrataError } from '../domain/errors.ts';
import type { TokenedPreview } from '../memory/forget/forget-target.ts';
import { mayChange } from '../memory/rights/permissions.ts';
import { readerIn } from '../memory/rights/policy.ts';
import type { Forgotten, Origin } from '../memory/service.ts';
import type { Memory } from '../ports/memory-store.ts';
import type { Conversation } from '../ports/store.ts';
import { audited } from './audit.ts';
import { assertMayRead, requesterOf, type Viewer } from './viewer.ts';

export interface MemoryViewQuery {
  readonly viewer: Viewer;
  readonly key: string;
  readonly id: string;
}

/** A memory with its sources and history, and whether the viewer may change it. */
export interface MemoryView extends Origin {
  readonly conversation: Conversation;
  readonly mayChange: boolean;
}

const MEMORY_ACTIONS = ['edit', 'pin', 'unpin', 'promote', 'demote', 'reject', 'restore'] as const;

export async function memoryView(services: CommandServices, query: MemoryViewQuery): Promise<MemoryView> {
  const conversation = await readablePlace(services, query);
  const reader = readerIn(conversation, services);
  const origin = await services.memories.why(query.id, reader);
  const may = query.viewer.role !== 'viewer' && mayChange(origin.memory, requesterOf(query.viewer, reader));
  return { ...origin, conversation, mayChange: may };
}

async function readablePlace(services: CommandServices, { viewer, key }: MemoryViewQuery): Promise<Conversation> {
  const conversation = await findConversation(services, key);
  assertMayRead(viewer, conversation.audience, 'The text of memories');
  return conversation;
}

/** Throws `COMMAND_FORBIDDEN`, `USAGE` and the errors of the change. */
export async function changeMemory(
  services: CommandServices,
  { action: name, text, ...query }: MemoryViewQuery & { readonly action: string; readonly text: string },
): Promise<Memory> {
  const { viewer, id } = query;
  const action = MEMORY_ACTIONS.find((known) => known === name);
  if (action === undefined) throw new StrataError('USAGE', { problem: `Expected ${MEMORY_ACTIONS.join(', ')}.` });
  return await audited(services, { viewer, action: `memory ${action}`, target: id }, async () => {
    const by = requesterOf(viewer, readerIn(await readablePlace(services, query), services));
    switch (action) {
      case 'edit':
        return await services.memories.edit(id, { text }, by);
      case 'pin':
      case 'unpin':
        return await services.memories.pin(id, action === 'pin', by);
      default:
        return await services.memories.move(id, action, by);
    }
  });
}

/** What forgetting the memory would delete. */
export async function forgetPreview(services: CommandServices, query: MemoryViewQuery): Promise<TokenedPreview> {
  const by = requesterOf(query.viewer, readerIn(await readablePlace(services, query), services));
  return await services.memories.previewForget({ kind: 'memories', ids: [query.id] }, by);
}

/** Deletes what the preview with this token has shown. Throws `USAGE` if it would now be something else. */
export async function forgetMemory(
  services: CommandServices,
  { token, ...query }: MemoryViewQuery & { readonly token: string },
): Promise<Forgotten> {
  return await audited(services, { viewer: query.viewer, action: 'memory forget', target: query.id }, async () => {
    const preview = await forgetPreview(services, query);
    if (preview.token === token) return await services.memories.forget(preview);
    throw new StrataError('USAGE', { problem: 'What would be deleted has changed since. Look at it again.' });
  });
}
