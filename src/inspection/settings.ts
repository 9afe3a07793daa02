import type { CommandServices } from '../commands/services.ts';
import type { ConfigRow } from '../config/rows.ts';
import { createPromptLibrary, type PromptFile } from '../prompts/library.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import { type EffectiveLimits, effectiveLimits } from './limits.ts';
import { assertOperator, type Viewer } from './viewer.ts';

export interface SettingsQuery {
  readonly viewer: Viewer;
  readonly filter: SettingsFilter;
}

/** Which settings to list. */
export interface SettingsFilter {
  /** A part of a key; empty for all. */
  readonly text: string;
  /** Only values that are not the built-in ones. */
  readonly isChanged: boolean;
}

/** The values in use with their origin, what they come to, and the prompts of each agent. */
export interface SettingsView {
  readonly rows: readonly ConfigRow[];
  /** Of all rows. */
  readonly total: number;
  readonly limits: readonly EffectiveLimits[];
  readonly prompts: readonly (PromptFile & { readonly agentId: string })[];
}

/** For operators only. Throws `CONFIG_INVALID` if the file cannot be read now. */
export async function settingsView(
  services: CommandServices,
  { viewer, filter, rows }: SettingsQuery & { readonly rows: () => readonly ConfigRow[] },
): Promise<SettingsView> {
  assertOperator(viewer, 'The page of settings');
  const library = createPromptLibrary();
  const all = rows();
  const wanted = filter.text.trim().toLowerCase();
  return {
    rows: all.filter(
      ({ path, origin }) => path.toLowerCase().includes(wanted) && !(filter.isChanged && origin === 'default'),
    ),
    total: all.length,
    limits: await effectiveLimits(services),
    prompts: services.agents
      .list()
      .flatMap((agent) => library.list(promptSourceOf(agent)).map((prompt) => ({ ...prompt, agentId: agent.id }))),
  };
}
