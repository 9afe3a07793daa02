import type { AgentSettings } from '../config/schema.ts';
import { StrataError } from '../domain/errors.ts';
import { placeOf, workspaceOf } from '../domain/key.ts';
import { AUDIENCES, type Audience } from '../domain/message.ts';
import type { Memory, MemoryReader } from '../ports/memory-store.ts';
import type { Conversation } from '../ports/store.ts';

type Place = Pick<Conversation, 'key' | 'audience'>;
type Captured = Pick<Memory, 'scope' | 'place' | 'workspace' | 'audience' | 'agentId'>;

/** Who reads when this agent works in this conversation. Every read of memories starts here. */
export function readerFor(conversation: Place, agent: Pick<AgentSettings, 'id' | 'memory'>): MemoryReader {
  return {
    agentId: agent.id,
    place: placeOf(conversation.key),
    workspace: workspaceOf(conversation.key),
    audience: conversation.audience,
    sharePublic: agent.memory.share_public,
  };
}

/**
 * The one rule about who may read what: prompt, tools, commands, CLI and export ask it, and the stores' queries mirror
 * it. A memory is readable where it was captured as long as that place is no wider than it was then; public ones also
 * in the other public places of the workspace when the agent shares them.
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

/** Throws `ACCESS_DENIED`: a refusal that looked like an empty list would make the bot say that nothing is known. */
export function assertReadable(memory: Captured & Pick<Memory, 'id'>, reader: MemoryReader): void {
  if (canRead(memory, reader)) return;
  throw new StrataError('ACCESS_DENIED', {
    what: `The memory ${memory.id}`,
    reason: 'it was captured in another place',
  });
}

function isAtLeastAsTight(reader: Audience, captured: Audience): boolean {
  return AUDIENCES.indexOf(reader) <= AUDIENCES.indexOf(captured);
}
