import type { MemoryCandidate } from '../../memory/admission/candidate.ts';
import { MEMORY_KINDS } from '../../ports/memory-store.ts';
import type { ToolSpec } from '../../ports/model.ts';

/** The collected answer of a model to a summary or extraction request, in any shape. Nothing is validated yet. */
export interface Answer {
  readonly summary: string | null;
  readonly candidates: readonly MemoryCandidate[];
  /** Calls or list items that could not be read. */
  readonly problems: readonly string[];
}

export const NO_ANSWER: Answer = { summary: null, candidates: [], problems: [] };

export const SUMMARY_TOOL: ToolSpec = {
  name: 'summary_save',
  description: 'Saves the summary that takes the place of the transcript. Call it exactly once.',
  inputSchema: {
    type: 'object',
    properties: { summary: { type: 'string' } },
    required: ['summary'],
  },
};

/** The prompt says what each field holds; the schema does not say it again. */
export const MEMORY_TOOL: ToolSpec = {
  name: 'memory_save',
  description: 'Saves one statement that should be remembered. Call it once for each statement.',
  inputSchema: {
    type: 'object',
    properties: {
      kind: { type: 'string', enum: MEMORY_KINDS },
      text: { type: 'string' },
      about: { type: 'string' },
      importance: { type: 'number' },
      sources: { type: 'array', items: { type: 'integer' } },
      supersedes: { type: 'string' },
    },
    required: ['kind', 'text', 'sources'],
  },
};
