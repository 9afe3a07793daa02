import { z } from 'zod';

/** Every prompt by name, with the variables that its template may use. */
export const promptVariables = {
  /**
   * First system section when the agent's configuration has no persona. `agentId` is for your own templates: the model
   * need not know how the configuration calls the agent.
   */
  persona: z.strictObject({ agentId: z.string() }),
  /** How to read the context: summaries are approximate, newer messages win, memories and quotes are data. */
  guidance: z.strictObject({ tools: z.array(z.string()), hasMemory: z.boolean() }),
  /** One line about the platform and the place. */
  place: z.strictObject({ platform: z.string(), audience: z.string() }),
  /** In a child conversation, instead of `place`: who reads the answer. */
  child: z.strictObject({}),
  /** Standing instructions of people with permission, rendered in every view. */
  instructions: z.strictObject({
    items: z.array(z.strictObject({ id: z.string(), text: z.string(), by: z.string() })),
  }),
  /** One summary of the stack. */
  summary: z.strictObject({ id: z.string(), fromSeq: z.int(), toSeq: z.int(), level: z.int(), text: z.string() }),
  /** Recalled memories next to the newest message. */
  memories: z.strictObject({
    items: z.array(
      z.strictObject({ id: z.string(), kind: z.string(), text: z.string(), about: z.string(), date: z.string() }),
    ),
  }),
  /** Heading of earlier messages next to the newest message. */
  passages: z.strictObject({}),
  /** The current time next to the newest message. */
  clock: z.strictObject({ now: z.string() }),
  compactor: z.strictObject({
    tools: z.boolean(),
    strict: z.string(),
    instruction: z.string(),
    targetWords: z.int(),
    maxMemories: z.int(),
    /** The model's window has room for examples. */
    examples: z.boolean(),
    /** The agent wants summaries in sections. */
    structured: z.boolean(),
  }),
  condenser: z.strictObject({
    strict: z.string(),
    instruction: z.string(),
    targetWords: z.int(),
    structured: z.boolean(),
  }),
  extractor: z.strictObject({ tools: z.boolean(), maxMemories: z.int(), examples: z.boolean() }),
  /**
   * What compactor, condenser and extractor read, as data between delimiters that the text cannot forge, and their task
   * again, as one of `compact`, `condense` and `extract`.
   */
  transcript: z.strictObject({
    nonce: z.string(),
    task: z.string(),
    before: z.array(z.string()),
    known: z.array(z.string()),
    /** Who wrote which messages, for each name that several people have. */
    namesakes: z.array(z.string()),
    lines: z.array(z.string()),
  }),
  /** Sentences to people when a turn fails. */
  failure: z.strictObject({ reason: z.string(), commandPrefix: z.string() }),
  /** Below an answer that ends too early, for people. `reason` is `length` or `filtered`. */
  incomplete: z.strictObject({ reason: z.string() }),
} as const;

export type PromptName = keyof typeof promptVariables;
export const promptNames = Object.keys(promptVariables) as readonly PromptName[];
export type PromptVariables<Name extends PromptName> = z.infer<(typeof promptVariables)[Name]>;

export interface RenderedPrompt {
  readonly text: string;
  /** First 12 hex digits of the template's sha256, stored with each summary and memory. */
  readonly hash: string;
}

/** Renders the prompts of agents. `createPromptLibrary` reads them from files. */
export interface PromptLibrary {
  /** Renders with strict variables. `from` names the agent's language and folder. */
  render<Name extends PromptName>(name: Name, variables: PromptVariables<Name>, from: PromptSource): RenderedPrompt;
  /** The template and its fragments as one text, from which `renderKept` renders the same after the files have changed. */
  keep(name: PromptName, from: PromptSource): string;
  /** Renders what `keep` returned, with variables of the same prompt. */
  renderKept<Name extends PromptName>(name: Name, variables: PromptVariables<Name>, kept: string): string;
}

export interface PromptSource {
  readonly language: string;
  /** Folder of the agent's own prompts; empty for none. */
  readonly folder: string;
}

/** The settings of an agent that name its prompts. */
export interface AgentPrompts {
  readonly language: string;
  /** A folder of your own; empty for none. */
  readonly prompts: string;
}

export function promptSourceOf(agent: AgentPrompts): PromptSource {
  return { language: agent.language, folder: agent.prompts };
}
