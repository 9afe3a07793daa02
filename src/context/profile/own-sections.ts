import { basename } from 'node:path';
import type { AgentSettings } from '../../config/schema.ts';
import type { SystemSection } from '../../ports/sections.ts';
import { type FittedSection, fitSections, uncutTokens } from '../view/sections.ts';

const PRIORITY = 75;
const MAX_TOKENS = 5000;

/** The sections that the configuration adds, each within its maximum and all within theirs. */
export function ownSections({ sections, max_section_tokens }: AgentSettings): readonly SystemSection[] {
  const each = sections.flatMap((own) => {
    const { key, text = '', file, priority = PRIORITY, protected: isProtected = false } = own;
    const section: SystemSection = {
      key,
      text,
      priority,
      protected: isProtected,
      reason: 'section of the configuration',
      source: file === undefined ? 'configuration' : `file ${basename(file)}`,
    };
    return fitSections([section], own.max_tokens ?? MAX_TOKENS).map(asSection);
  });
  return fitSections(each, max_section_tokens).map(asSection);
}

/** A section that was cut remembers its size. */
function asSection({ section, text, truncated }: FittedSection): SystemSection {
  return truncated ? { ...section, text, originalTokens: uncutTokens(section) } : section;
}
