import type { AgentDirectory } from '../../config/directory.ts';
import type { AgentSettings } from '../../config/schema.ts';
import { StrataError } from '../../domain/errors.ts';
import { placeOf, workspaceOf } from '../../domain/key.ts';
import { isAtLeastAsTight } from '../../domain/message.ts';
import type { Memory, MemoryReader } from '../../ports/memory-store.ts';
import type { Conversation } from '../../ports/store.ts';

type Place = Pick<Conversation, 'key' | 'audience'>;
type Captured = Pick<Memory, 'scope' | 'place' | 'workspace' | 'audience' | 'agentId'>;

/** The reader when this agent works in this conversation. Every read of memories starts here. */
export function readerFor(conversation: Place, agent: Pick<AgentSettings, 'id' | 'memory'>): MemoryReader {
  return {
    agentId: agent.id,
    place: placeOf(conversation.key),
    workspace: workspaceOf(conversation.key),
    audience: conversation.audience,
    sharePublic: agent.memory.share_public,
  };
}

/** The same for the agent that serves the conversation. */
export function readerIn(
  conversation: Place,
  { agents }: { readonly agents: Pick<AgentDirectory, 'agentFor'> },
): MemoryReader {
  return readerFor(conversation, agents.agentFor(conversation.key));
}

/**
 * The one rule about who may read what. Prompt, tools, commands, CLI and export use it, and the stores' queries mirror
 * it. A memory is readable in its own place as long as that place has no wider audience than it had then. Public
 * memories are also readable in the other public places of the workspace if the agent shares them.
 */
export function canRead(memory: Captured, reader: MemoryReader): boolean {
  if (memory.scope === 'global') return true;
  if (memory.place === reader.place) return isAtLeastAsTight(reader.audience, memory.audience);
  return (
    reader.sharePublic &&
    memory.audience === 'public' &&
    reader.audience === 'public' &&
    memory.workspace === reader.workspace &&
    memory.agentId === reader.agentId
  );
}

/**
 * Whether a message may be shown next to the memories of its place: there always, and in other places without what was
 * said before its own place became public.
 */
export function isOpenBeside(
  seq: number,
  { key, tightestAudience, audienceFrom }: Pick<Conversation, 'key' | 'tightestAudience' | 'audienceFrom'>,
  reader: Pick<MemoryReader, 'place'>,
): boolean {
  return placeOf(key) === reader.place || tightestAudience === 'public' || seq >= audienceFrom;
}

/** Throws `ACCESS_DENIED`: if refusals looked like an empty list, the bot would say that it knows nothing. */
export function assertReadable(memory: Captured & Pick<Memory, 'id'>, reader: MemoryReader): void {
  if (canRead(memory, reader)) return;
  throw new StrataError('ACCESS_DENIED', {
    what: `The memory ${memory.id}`,
    reason: 'it was captured in another place',
  });
}
