import { depthOf } from '../../domain/key.ts';
import type { Entry } from '../../domain/message.ts';
import { admitCandidates } from '../../memory/admission/admission.ts';
import type { MemoryCandidate } from '../../memory/admission/candidate.ts';
import type { MemoryWrite } from '../../ports/memory-store.ts';
import type { Job } from './job.ts';

/** The memories that a model proposes, and the messages that it read. */
export interface Proposed {
  readonly candidates: readonly MemoryCandidate[];
  readonly promptHash: string | null;
  readonly entries: readonly Entry[];
  readonly extractedUpto: number;
}

/** The proposed memories that may be stored. The others are reported. */
export async function admitProposed(job: Job, proposed: Proposed): Promise<readonly MemoryWrite[]> {
  const { services, conversation, agent } = job;
  // The task of a child comes from a tool, so it is not a person's statement.
  if (proposed.candidates.length === 0 || depthOf(conversation.key) > 0) return [];
  const request = { ...proposed, conversation, agent, model: job.call.model.id, promptHash: proposed.promptHash ?? '' };
  const { writes, refused } = await admitCandidates(services, request);
  for (const { reason } of refused)
    services.events.emit({ kind: 'memory.refused', conversation: conversation.key, reason });
  return writes;
}
