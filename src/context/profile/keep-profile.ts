import { hash } from 'node:crypto';
import { z } from 'zod';
import type { AgentSettings } from '../../config/schema.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { RequestPart } from '../../ports/journal.ts';
import type { SystemSection } from '../../ports/sections.ts';
import type { PromptLibrary, PromptName, PromptSource } from '../../prompts/variables.ts';
import { replySettings } from './call-settings.ts';

/** Prompts that a request is rendered with each time; system sections are kept as text. */
export const KEPT_PROMPTS = ['summary', 'memories', 'instructions', 'passages', 'clock'] as const;
export type KeptPrompt = (typeof KEPT_PROMPTS)[number] & PromptName;

const sectionSchema = z.strictObject({
  key: z.string(),
  /** Null for a section of memories, which is rendered from them. */
  text: z.string().nullable(),
  memoryIds: z.array(z.string()),
  /** The importance of each memory's line, for cuts; null for one without a line. */
  importances: z.array(z.number().nullable()),
  originalTokens: z.number().nullable(),
  priority: z.number(),
  protected: z.boolean(),
  source: z.string(),
  reason: z.string(),
});
export type KeptSection = z.infer<typeof sectionSchema>;

const toolsSchema = z.array(
  z.strictObject({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.json()) }),
);

const profileSchema = z.strictObject({
  agentId: z.string(),
  modelId: z.string(),
  windowTokens: z.number(),
  reserveTokens: z.number(),
  thresholds: z.strictObject({ background: z.number(), aggressive: z.number(), emergency: z.number() }),
  tools: z.boolean(),
  images: z.boolean(),
  timeZone: z.string(),
  toolResults: z.strictObject({ recentTurns: z.number(), oldBytes: z.number() }),
  /** What the agent sets for each call. */
  settings: z.record(z.string(), z.json()),
  /** Hashes of other parts. */
  sections: z.array(z.string()),
  catalogue: z.string(),
  prompts: z.record(z.enum(KEPT_PROMPTS), z.string()),
});
export type KeptProfile = z.infer<typeof profileSchema>;

/** An agent's settings as texts, each stored once under its hash; the first one names the others. */
export interface ProfileParts {
  readonly hash: string;
  readonly parts: readonly RequestPart[];
}

export function keepProfile(
  profile: ContextProfile,
  {
    prompts,
    agent,
    from,
  }: { readonly prompts: PromptLibrary; readonly agent: AgentSettings; readonly from: PromptSource },
): ProfileParts {
  const sections = profile.sections.map((section) => partOf(JSON.stringify(keepSection(section))));
  const catalogue = partOf(JSON.stringify(profile.tools));
  const templates = KEPT_PROMPTS.map((name) => [name, partOf(prompts.keep(name, from))] as const);
  const { agentId, modelId, windowTokens, reserveTokens, thresholds, traits, timeZone, toolResults } = profile;
  const root = partOf(
    JSON.stringify({
      agentId,
      modelId,
      windowTokens,
      reserveTokens,
      thresholds,
      tools: traits.tools,
      images: traits.images,
      timeZone,
      toolResults,
      settings: replySettings(agent),
      sections: sections.map(({ hash }) => hash),
      catalogue: catalogue.hash,
      prompts: Object.fromEntries(templates.map(([name, { hash }]) => [name, hash])),
    }),
  );
  const all = [root, ...sections, catalogue, ...templates.map(([, part]) => part)];
  return { hash: root.hash, parts: [...new Map(all.map((part) => [part.hash, part])).values()] };
}

/** A section of memories is kept without their text, so that what is forgotten is gone from here, too. */
function keepSection(section: SystemSection): KeptSection {
  const { key, text, memoryIds = [], lines = [], priority, source, reason, originalTokens = null } = section;
  const importanceOf = (id: string) => lines.find((line) => line.text.includes(id))?.importance ?? null;
  return {
    key,
    text: memoryIds.length === 0 ? text : null,
    memoryIds: [...memoryIds],
    importances: memoryIds.map(importanceOf),
    originalTokens,
    priority,
    protected: section.protected,
    source,
    reason,
  };
}

const HASH_LENGTH = 22;

function partOf(text: string): RequestPart {
  return { hash: hash('sha256', text, 'base64url').slice(0, HASH_LENGTH), text };
}

export function readKeptProfile(text: string): KeptProfile {
  return profileSchema.parse(JSON.parse(text));
}

export function readKeptSection(text: string): KeptSection {
  return sectionSchema.parse(JSON.parse(text));
}

export function readKeptTools(text: string): ContextProfile['tools'] {
  return toolsSchema.parse(JSON.parse(text));
}
