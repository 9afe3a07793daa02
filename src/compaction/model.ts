import type { AgentSettings } from '../config/schema.ts';
import { DEFAULT_WINDOW_TOKENS } from '../context/profile.ts';
import { StrataError } from '../domain/errors.ts';
import type { ContextProfile } from '../ports/engine.ts';
import type { MaintenanceContext, Opened } from './maintenance-context.ts';

/** Opens the agent's summary model. Throws `MODEL_PAUSED` while its breaker is open. */
export async function openModel(
  shared: MaintenanceContext,
  agent: AgentSettings,
  profile: ContextProfile,
): Promise<Opened> {
  const { services, profiles, breaker } = shared;
  const configured = agent.compaction.model;
  const modelId = configured === 'auto' ? profile.modelId : configured;
  const paused = await breaker.pausedUntil(modelId);
  if (paused !== null) {
    throw new StrataError('MODEL_PAUSED', { model: modelId, untilAt: paused.untilAt, cause: paused.message });
  }
  const isOwn = modelId === profile.modelId;
  const model = isOwn ? await profiles.modelFor(profile) : await services.models.open(modelId);
  const told = model.traits.windowTokens;
  return {
    model,
    windowTokens: isOwn ? Math.min(profile.windowTokens, told ?? Infinity) : (told ?? DEFAULT_WINDOW_TOKENS),
  };
}
