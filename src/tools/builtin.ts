import type { Memories } from '../memory/service.ts';
import type { Services } from '../services.ts';
import { createBlobTool } from './blob-tool.ts';
import type { Tool } from './define.ts';
import { createMemoryTools } from './memory-tools.ts';
import { createMessageTool } from './message-tool.ts';
import { createSummaryTool } from './summary-tool.ts';
import { createTranscriptTool } from './transcript-tool.ts';

/** The built-in tools. Each one sees only what the conversation's place may see. */
export function createBuiltinTools(services: Services, memories: Memories): readonly Tool[] {
  return [
    ...createMemoryTools(services, memories),
    createTranscriptTool(services),
    createSummaryTool(services),
    createBlobTool(services),
    createMessageTool(services),
  ];
}
