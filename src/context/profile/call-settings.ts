import { hash } from 'node:crypto';
import type { AgentSettings } from '../../config/schema.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { ModelRequest } from '../../ports/model.ts';
import { memoize } from '../../util/async/memoize.ts';
import { createRecentMap } from '../../util/recent-map.ts';

type CallSettings = Pick<ModelRequest, 'temperature' | 'effort' | 'providerOptions'>;

/** What an agent sets for the calls of its replies; `auto` is left to the provider. */
export function replySettings(agent: Pick<AgentSettings, 'temperature' | 'effort' | 'provider_options'>): CallSettings {
  const { temperature, effort } = agent;
  return {
    ...(temperature === 'auto' ? {} : { temperature }),
    ...(effort === 'auto' ? {} : { effort }),
    ...optionsOf(agent),
  };
}

/** For summaries and memories. Without the temperature: how lively an agent speaks must not change what it keeps. */
export function maintenanceSettings(agent: Pick<AgentSettings, 'compaction' | 'provider_options'>): CallSettings {
  const { effort } = agent.compaction;
  return { ...(effort === 'auto' ? {} : { effort }), ...optionsOf(agent) };
}

function optionsOf({ provider_options }: Pick<AgentSettings, 'provider_options'>): CallSettings {
  return Object.keys(provider_options).length === 0 ? {} : { providerOptions: provider_options };
}

const KEY_LENGTH = 32;
const KEPT_KEYS = 500;

/**
 * Replies in one conversation share a prefix. A provider does not learn which conversation it is. Each call of a model
 * needs the key again.
 */
export const cacheKeyOf = memoize(
  (conversation: ConversationKey) => hash('sha256', conversation, 'hex').slice(0, KEY_LENGTH),
  createRecentMap<ConversationKey, { value: string }>(KEPT_KEYS),
);
