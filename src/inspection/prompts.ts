import type { CommandServices } from '../commands/services.ts';
import { estimateText } from '../context/measure/tokens.ts';
import { findConversation } from '../conversation/find-conversation.ts';
import { StrataError } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Conversation } from '../ports/store.ts';
import { createPromptLibrary, type PromptFile } from '../prompts/library.ts';
import { samplesOf } from '../prompts/samples.ts';
import { type PromptName, promptNames, promptSourceOf, promptVariables } from '../prompts/variables.ts';
import { readText } from '../util/files/text-file.ts';
import { turnVariables } from './prompt-variables.ts';
import { assertOperator, type Viewer } from './viewer.ts';

export interface PromptQuery {
  readonly viewer: Viewer;
  readonly agentId: string;
  readonly name: string;
  /** Null for the agent's conversation with the newest activity. */
  readonly key: string | null;
}

/** A template, the variables of a real turn, and what they make of it. */
export interface PromptView extends PromptFile {
  readonly agentId: string;
  readonly template: string;
  /** As JSON. */
  readonly variables: string;
  readonly text: string;
  readonly tokens: number;
  /** The conversation of the variables; null if they are only a sample. */
  readonly conversation: ConversationKey | null;
  /** Other conversations of the agent, newest activity first. */
  readonly conversations: readonly ConversationKey[];
}

const MAX_LISTED = 200;
const MAX_CONVERSATIONS = 40;

/** For operators only. Throws `NOT_FOUND`. */
export async function promptView(services: CommandServices, query: PromptQuery): Promise<PromptView> {
  assertOperator(query.viewer, 'The page of prompts');
  const name = promptNames.find((known) => known === query.name);
  const agent = services.agents.list().find(({ id }) => id === query.agentId);
  if (name === undefined) throw new StrataError('NOT_FOUND', { what: 'prompt', id: query.name });
  if (agent === undefined) throw new StrataError('NOT_FOUND', { what: 'agent', id: query.agentId });
  const recent = await conversationsOf(services, agent.id);
  const chosen = query.key === null ? (recent[0] ?? null) : await findConversation(services, query.key);
  if (chosen !== null && services.agents.agentFor(chosen.key).id !== agent.id)
    throw new StrataError('NOT_FOUND', { what: 'conversation of this agent', id: chosen.key });
  const of = await variablesFor(services, { name, conversation: chosen });
  const from = promptSourceOf(agent);
  const file = createPromptLibrary()
    .list(from)
    .find((prompt) => prompt.name === name);
  if (file === undefined) throw new StrataError('NOT_FOUND', { what: 'prompt', id: name });
  const { text } = services.prompts.render(name, of.variables, from);
  return {
    ...file,
    agentId: agent.id,
    template: readText(file.file),
    text,
    tokens: estimateText(text),
    variables: JSON.stringify(of.variables, null, 2),
    conversation: of.isSample ? null : (chosen?.key ?? null),
    conversations: recent.map(({ key }) => key),
  };
}

async function conversationsOf({ store, agents }: CommandServices, agentId: string): Promise<readonly Conversation[]> {
  const recent = await store.conversations.list({ order: 'active', limit: MAX_LISTED, after: null });
  return recent.filter(({ key }) => agents.agentFor(key).id === agentId).slice(0, MAX_CONVERSATIONS);
}

/** Sample values where no turn has needed the prompt yet. */
async function variablesFor(
  services: CommandServices,
  { name, conversation }: { readonly name: PromptName; readonly conversation: Conversation | null },
) {
  const agent = conversation === null ? null : services.agents.agentFor(conversation.key);
  const real = conversation === null || agent === null ? {} : await turnVariables(services, { conversation, agent });
  const schema = promptVariables[name];
  const found = real[name];
  const variables = schema.parse(found ?? samplesOf(schema)[0]);
  return { variables, isSample: found === undefined };
}
