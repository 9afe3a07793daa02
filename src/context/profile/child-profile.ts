import type { AgentSettings } from '../../config/schema.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { ToolSpec } from '../../ports/model.ts';
import type { SystemSection } from '../../ports/sections.ts';
import { promptSourceOf } from '../../prompts/variables.ts';
import type { Services } from '../../services.ts';
import { guidanceText } from './profile.ts';

/** The agent's settings for a child: fewer tools, and a section that says who reads the answer. */
export function childProfile(
  { prompts }: Pick<Services, 'prompts'>,
  profile: ContextProfile,
  { agent, tools }: { readonly agent: AgentSettings; readonly tools: readonly ToolSpec[] },
): ContextProfile {
  const names = tools.map(({ name }) => name);
  const childText = prompts.render('child', {}, promptSourceOf(agent)).text;
  const adapt = (section: SystemSection): SystemSection => {
    if (section.key === 'guidance') return { ...section, text: guidanceText({ prompts }, agent, names) };
    return section.key === 'place' ? { ...section, text: childText, ...CHILD } : section;
  };
  return { ...profile, tools, sections: profile.sections.map(adapt) };
}

const CHILD = { protected: true, source: 'prompt child', reason: 'who reads the answer' };

/** The tools of a child. Throws `NOT_FOUND` for one that the parent does not have. */
export function childTools(
  own: readonly ToolSpec[],
  { wanted, caller }: { readonly wanted: readonly string[] | undefined; readonly caller: string },
): readonly ToolSpec[] {
  if (wanted === undefined) return own.filter(({ name }) => name !== caller);
  const missing = wanted.find((name) => own.every((spec) => spec.name !== name));
  if (missing !== undefined) throw new StrataError('NOT_FOUND', { what: 'tool', id: missing });
  return own.filter(({ name }) => wanted.includes(name));
}
