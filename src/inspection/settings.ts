import type { CommandServices } from '../commands/services.ts';
import type { ConfigRow } from '../config/rows.ts';
import { StrataError } from '../domain/errors.ts';
import { createPromptLibrary, type PromptFile } from '../prompts/library.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import { readText } from '../util/text-file.ts';
import type { Viewer } from './viewer.ts';

/** The values in use with their origin, and the prompts of each agent. */
export interface SettingsView {
  readonly rows: readonly ConfigRow[];
  readonly prompts: readonly (PromptFile & { readonly agentId: string; readonly template: string })[];
}

/** For operators only. Throws `CONFIG_INVALID` if the file cannot be read now. */
export function settingsView(
  { agents }: Pick<CommandServices, 'agents'>,
  { viewer, rows }: { readonly viewer: Viewer; readonly rows: () => readonly ConfigRow[] },
): SettingsView {
  if (viewer.role !== 'operator')
    throw new StrataError('COMMAND_FORBIDDEN', { command: 'settings', needs: 'operators' });
  const library = createPromptLibrary();
  const prompts = agents
    .list()
    .flatMap((agent) =>
      library
        .list(promptSourceOf(agent))
        .map((prompt) => ({ ...prompt, agentId: agent.id, template: readText(prompt.file) })),
    );
  return { rows: rows(), prompts };
}
