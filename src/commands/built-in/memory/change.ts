import type { Transition } from '../../../memory/statements/lifecycle.ts';
import type { Memory } from '../../../ports/memory-store.ts';
import type { CommandReply } from '../../../ports/reply.ts';
import { type Call, commandTo, requesterOf, requiredOption } from '../../command.ts';
import { makeReply } from '../../reply.ts';
import { findMemory } from './find.ts';

export async function edit(call: Call): Promise<CommandReply> {
  const { id } = await findMemory(call);
  const memory = await call.services.memories.edit(id, { text: requiredOption(call, 'text') }, requesterOf(call));
  return changed('Corrected', memory);
}

export async function pin(call: Call): Promise<CommandReply> {
  const { id } = await findMemory(call);
  return changed('Pinned', await call.services.memories.pin(id, true, requesterOf(call)));
}

export async function unpin(call: Call): Promise<CommandReply> {
  const { id } = await findMemory(call);
  return changed('Unpinned', await call.services.memories.pin(id, false, requesterOf(call)));
}

export function approve(call: Call): Promise<CommandReply> {
  return move(call, 'promote', 'Approved');
}

export function demote(call: Call): Promise<CommandReply> {
  return move(call, 'demote', 'Disabled');
}

export function restore(call: Call): Promise<CommandReply> {
  return move(call, 'restore', 'Restored');
}

export function reject(call: Call): Promise<CommandReply> {
  return move(call, 'reject', 'Rejected');
}

async function move(call: Call, step: Transition, title: string): Promise<CommandReply> {
  const { id } = await findMemory(call);
  return changed(title, await call.services.memories.move(id, step, requesterOf(call)));
}

export async function remember(call: Call): Promise<CommandReply> {
  const result = await call.services.memories.add({ text: requiredOption(call, 'text'), by: requesterOf(call) });
  switch (result.kind) {
    case 'added':
      return changed('Remembered', result.memory);
    case 'known':
      return changed('Already known', result.memory);
    case 'forgotten':
      return makeReply('Not remembered', { text: 'This was forgotten here before, so it is not stored again.' });
    default:
      return result satisfies never;
  }
}

function changed(title: string, memory: Memory): CommandReply {
  return makeReply(title, {
    text: memory.text,
    fields: [
      { name: 'Id', value: memory.id },
      { name: 'State', value: `${memory.state}${memory.pinned ? ', pinned' : ''}` },
    ],
    actions: [{ label: 'Show details', command: commandTo('memory show', { id: memory.id }), style: 'plain' }],
    tone: 'success',
  });
}
