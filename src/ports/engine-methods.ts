import type { ContextEngine } from './engine.ts';

/** What every engine has, besides `info`. `defineEngine` fills in all but `assemble`. */
export const ENGINE_METHODS = [
  ...(['bootstrap', 'ingest', 'ingestBatch', 'assemble', 'afterTurn', 'compact', 'maintain'] as const),
  ...(['prepareChild', 'endChild', 'dispose'] as const),
] as const satisfies readonly (keyof ContextEngine)[];
