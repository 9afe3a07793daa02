import type { Entry } from './message.ts';

/** Tools that return what is stored already. */
const LOOKUPS: ReadonlySet<string> = new Set([
  ...['memory_recall', 'memory_save', 'transcript_search', 'summary_open', 'message_open', 'tool_help'],
]);

export function isLookup(tool: string): boolean {
  return LOOKUPS.has(tool);
}

/** Whether everything in it can be found elsewhere: results of a search, and no others. */
export function isRepetition({ parts }: Pick<Entry, 'parts'>): boolean {
  return parts.length > 0 && parts.every((part) => part.kind === 'tool-result' && isLookup(part.tool));
}
