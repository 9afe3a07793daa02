import type { AgentSettings } from '../config/schema.ts';
import type { ModelRequest } from '../ports/model.ts';

type CallSettings = Pick<ModelRequest, 'temperature' | 'effort' | 'providerOptions'>;

/** What an agent sets for the calls of its replies; `auto` is left to the provider. */
export function replySettings(agent: Pick<AgentSettings, 'temperature' | 'effort' | 'provider_options'>): CallSettings {
  const { temperature, effort } = agent;
  return {
    ...(temperature === 'auto' ? {} : { temperature }),
    ...(effort === 'auto' ? {} : { effort }),
    ...maintenanceSettings(agent),
  };
}

/** The same for summaries and memories: how lively an agent speaks must not change what it keeps. */
export function maintenanceSettings({ provider_options }: Pick<AgentSettings, 'provider_options'>): CallSettings {
  return Object.keys(provider_options).length === 0 ? {} : { providerOptions: provider_options };
}
