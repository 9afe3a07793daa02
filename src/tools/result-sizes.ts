import { agentDefaults } from '../config/defaults.ts';
import type { Services } from '../services.ts';
import type { ToolContext } from './define.ts';
import type { OffloadSizes } from './offload.ts';

/** How much of a long result the transcript of an agent keeps. */
export function sizesFor(
  { agents }: Pick<Services, 'agents'>,
  { agentId }: Pick<ToolContext, 'agentId'>,
): OffloadSizes {
  const sizes = agents.agent(agentId)?.tool_results ?? agentDefaults.tool_results;
  return { blobBytes: sizes.blob_bytes, keptBytes: sizes.recent_bytes };
}
