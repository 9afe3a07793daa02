import { assertWithinBudget, countCalls } from '../compaction/job/call-budget.ts';
import { modelsOf } from '../config/directory.ts';
import type { AgentSettings } from '../config/schema.ts';
import { estimateRequest } from '../context/measure/tokens.ts';
import { replySettings } from '../context/profile/call-settings.ts';
import { withoutPictures } from '../context/view/pictures.ts';
import { spellOutTools } from '../context/view/without-tools.ts';
import { storeUsage } from '../costs/store-usage.ts';
import { bookCall } from '../costs/usage.ts';
import { ModelError, StrataError } from '../domain/errors.ts';
import { billedUsage } from '../models/billed.ts';
import { callHooked } from '../models/hooked-call.ts';
import { type BilledStep, collectStep, type Step } from '../models/step.ts';
import { withinLimit } from '../models/within-limit.ts';
import type { UsageRow } from '../ports/journal.ts';
import type { ChatModel, ModelMessage, ModelRequest } from '../ports/model.ts';
import type { Conversation } from '../ports/store.ts';
import type { Services } from '../services.ts';
import { limitWork } from '../util/async/limit.ts';
import type { ExplainedReply } from './explain.ts';

/** A model that an agent replies with, and so with which settings it is called. */
export interface RerunChoice {
  readonly agentId: string;
  readonly modelId: string;
}

export interface RerunOptions {
  readonly conversation: Conversation;
  readonly explained: ExplainedReply;
  readonly choice: RerunChoice;
  /** Another system prompt; null for the one of the reply. */
  readonly system: string | null;
  /** Adds the images that only a channel can load. */
  readonly loadImages: (messages: readonly ModelMessage[]) => Promise<readonly ModelMessage[]>;
  readonly signal: AbortSignal;
}

/** What a model would have written. Nothing of it is stored but its cost. */
export interface Rerun {
  readonly choice: RerunChoice;
  readonly text: string;
  /** The tools that it would call. None of them ran. */
  readonly calls: Step['calls'];
  readonly finish: Step['finish'];
  readonly usage: UsageRow;
  readonly durationMs: number;
}

const MAX_MS = 120_000;
/** Of an edited system prompt. */
export const MAX_SYSTEM_LENGTH = 60_000;

/** The system prompt as one text, for editing. */
export function systemTextOf({ request }: Pick<ExplainedReply, 'request'>): string {
  return request.system.map(({ text }) => text).join('\n\n');
}

/** Every model of every agent, with `auto` resolved. */
export async function rerunChoices({
  agents,
  models,
}: Pick<Services, 'agents' | 'models'>): Promise<readonly RerunChoice[]> {
  const named = agents.list().flatMap((agent) => modelsOf(agent).map((modelId) => ({ agentId: agent.id, modelId })));
  const chosen = named.some(({ modelId }) => modelId === 'auto') ? (await models.choose()).modelId : null;
  const all = named.map(({ agentId, modelId }) => ({
    agentId,
    modelId: modelId === 'auto' ? (chosen ?? modelId) : modelId,
  }));
  return [...new Map(all.map((choice) => [JSON.stringify(choice), choice])).values()];
}

/**
 * Sends the request of a stored reply once more. Runs no tool, posts nothing, and stores nothing but the cost. Throws
 * `USAGE` for a choice that nobody configured or a request that is too long, `SPEND_CAPPED`, and what the model throws.
 */
export async function rerunReply(services: Services, options: RerunOptions): Promise<Rerun> {
  const { conversation, choice, signal } = options;
  const agent = await agentOf(services, choice);
  await assertWithinBudget(services, conversation);
  const model = await services.models.open(choice.modelId);
  const request = requestFor(model, agent, options);
  const ms = Math.min(MAX_MS, agent.timeout_seconds * 1000);
  using limit = limitWork(signal, { ms });
  const startedAt = services.clock.now();
  const { key, audience } = conversation;
  const book = (step: BilledStep): UsageRow => {
    const durationMs = services.clock.now() - startedAt;
    const call = { purpose: 'rerun', model: model.id, agentId: agent.id, person: null, durationMs } as const;
    return bookCall(services, { ...call, conversation: key, usage: billedUsage(request, step) });
  };
  const lost = (step: BilledStep) => void storeUsage(services, conversation, [book(step)]);
  const where = { conversation: key, audience, agentId: agent.id, model: model.id };
  try {
    // What hooks had changed is part of the request already.
    const isHooked = options.explained.blocks.some(({ kind }) => kind === 'hook');
    const step = await withinLimit(limit.signal, model.id, (within) => {
      const send = async (sent: ModelRequest) => {
        const messages = await options.loadImages(sent.messages);
        const listeners = { onText: () => undefined, onLost: lost };
        return await collectStep(model, { ...sent, messages }, { signal: within, ...listeners });
      };
      return isHooked ? send(request) : callHooked(services.hooks, { where, request, signal: within }, send);
    });
    const durationMs = services.clock.now() - startedAt;
    const usage = book(step);
    await services.store.journal.addUsage(conversation.id, [usage]);
    await countCalls(services, conversation, 1);
    const { text, calls, finish } = step;
    return { choice, text, calls, finish, usage, durationMs };
  } catch (error) {
    // A failed call also costs tokens.
    if (error instanceof ModelError) await countCalls(services, conversation, 1);
    throw error;
  }
}

async function agentOf(services: Services, choice: RerunChoice): Promise<AgentSettings> {
  const { agentId, modelId } = choice;
  const agent = services.agents.agent(agentId);
  const known = await rerunChoices(services);
  if (agent !== null && known.some((each) => each.agentId === agentId && each.modelId === modelId)) return agent;
  throw new StrataError('USAGE', { problem: 'Choose one of the models that an agent in the configuration uses.' });
}

function requestFor(
  model: ChatModel,
  agent: AgentSettings,
  { explained, system }: Pick<RerunOptions, 'explained' | 'system'>,
): ModelRequest {
  const { request } = explained;
  const { traits } = model;
  const windowTokens = agent.context_window === 'auto' ? traits.windowTokens : agent.context_window;
  const seen = traits.images ? request.messages : request.messages.map(withoutPictures);
  const whole: ModelRequest = {
    purpose: 'rerun',
    system: system === null ? request.system : [{ text: system, cacheBreak: false }],
    messages: traits.tools ? seen : spellOutTools(seen),
    tools: traits.tools ? request.tools : [],
    maxOutputTokens: request.maxOutputTokens,
    json: false,
    ...(windowTokens === null ? {} : { windowTokens }),
    ...replySettings(agent),
  };
  const needed = estimateRequest(whole) + whole.maxOutputTokens;
  if (windowTokens === null || needed <= windowTokens) return whole;
  const problem = `The request needs about ${needed} tokens, but the window of ${model.id} has ${windowTokens}.`;
  throw new StrataError('USAGE', { problem });
}
