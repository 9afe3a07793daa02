import type { AgentSettings } from '../../config/schema.ts';
import { DEFAULT_WINDOW_TOKENS } from '../../context/profile/profile.ts';
import { StrataError } from '../../domain/errors.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { ChatModel } from '../../ports/model.ts';
import { ownWindow } from '../job/room.ts';
import type { MaintenanceContext } from './task.ts';

/** The model that writes summaries, and the agent whose settings chose it: they go with its calls. */
export interface Summariser {
  readonly agent: AgentSettings;
  readonly model: ChatModel;
  readonly windowTokens: number;
}

/**
 * Opens the agent's summary model: the first that is neither paused nor unavailable in this maintenance. Throws
 * `MODEL_PAUSED` if there is none.
 */
export async function openSummariser(
  context: MaintenanceContext,
  agent: AgentSettings,
  { profile, unavailable }: { readonly profile: ContextProfile; readonly unavailable: ReadonlySet<string> },
): Promise<Summariser> {
  const { breaker } = context;
  const configured = agent.compaction.model;
  const ids = configured === 'auto' ? [profile.modelId, ...(profile.fallbackIds ?? [])] : [configured];
  const left = ids.filter((id) => !unavailable.has(id));
  const pauses = await Promise.all(left.map(async (id) => ({ id, paused: await breaker.pausedUntil(id) })));
  const free = pauses.find(({ paused }) => paused === null);
  if (free !== undefined) return { agent, ...(await open(context, free.id, profile)) };
  const { id: model, paused } = pauses[0] ?? { id: configured, paused: null };
  const { untilAt, message: cause } = paused ?? { untilAt: 0, message: '' };
  throw new StrataError('MODEL_PAUSED', { model, untilAt, cause });
}

async function open(
  { services, profiles }: MaintenanceContext,
  modelId: string,
  profile: ContextProfile,
): Promise<Omit<Summariser, 'agent'>> {
  const isOwn = modelId === profile.modelId;
  const model = isOwn ? await profiles.modelFor(profile) : await services.models.open(modelId);
  const reportedTokens = model.traits.windowTokens;
  const isAgents = isOwn || profile.fallbackIds?.includes(modelId) === true;
  const windowTokens = isAgents
    ? ownWindow(profile.windowTokens, reportedTokens)
    : (reportedTokens ?? DEFAULT_WINDOW_TOKENS);
  return { model, windowTokens };
}
