import type { ConversationKey } from '../../domain/message.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import type { Cut } from './loop/outcome.ts';

/**
 * The answer as it is posted: with a note below if it was cut. The note is not stored, so that the model does not learn
 * to write it.
 */
export function withCutNote(
  { agents, prompts }: Pick<Services, 'agents' | 'prompts'>,
  { key }: { readonly key: ConversationKey },
  { text, cut }: { readonly text: string; readonly cut: Cut | null },
): string {
  if (cut === null) return text;
  const note = prompts.render('incomplete', { reason: cut }, promptSourceOf(agents.agentFor(key))).text;
  return [text, ...openFence(text), '', note].join('\n');
}

/** The fence that would make the note a part of a block of code. */
function openFence(text: string): readonly string[] {
  let open: string | null = null;
  for (const [, marker = '', info = ''] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    // A line with backticks after its marker is code within a line.
    if (open === null) open = marker.startsWith('`') && info.includes('`') ? null : marker;
    else if (marker.startsWith(open) && info.trim() === '') open = null;
  }
  return open === null ? [] : [open];
}
