import type { Entry } from './message.ts';

/** Describes tools where requests leave out their descriptions. The tool registry answers it. */
export const TOOL_HELP = 'tool_help';

/** The tool that shows a complete message. Requests name it where they cut one. */
export const MESSAGE_OPEN = 'message_open';

/** Tools that return what is stored already. */
const LOOKUPS: ReadonlySet<string> = new Set([
  ...['memory_recall', 'memory_save', 'transcript_search', 'summary_open', MESSAGE_OPEN, TOOL_HELP],
]);

export function isLookup(tool: string): boolean {
  return LOOKUPS.has(tool);
}

/** Whether everything in it can be found elsewhere: results of a search, and no others. */
export function isRepetition({ parts }: Pick<Entry, 'parts'>): boolean {
  return parts.length > 0 && parts.every((part) => part.kind === 'tool-result' && isLookup(part.tool));
}
