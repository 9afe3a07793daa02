import type { AgentSettings } from '../../config/schema.ts';
import type { ChatModel } from '../../ports/model.ts';
import type { Services } from '../../services.ts';
import { formatNumber } from '../../util/text/text.ts';

type Model = Pick<ChatModel, 'id' | 'traits'>;

export const BEYOND_REMEDY =
  'Lower context_window, or choose a model with a larger window: the model refuses longer requests.';

/** The configured window if it is larger than any that the model is known to have; otherwise null. */
export function windowBeyond(
  { context_window: configured }: Pick<AgentSettings, 'context_window'>,
  { windowTokens, largestWindowTokens = windowTokens }: ChatModel['traits'],
): { readonly configured: number; readonly largest: number } | null {
  if (configured === 'auto' || largestWindowTokens === null || configured <= largestWindowTokens) return null;
  return { configured, largest: largestWindowTokens };
}

/** Logs once for each agent and model that the configured window is too large. */
export function createBeyondWarnings({ log }: Pick<Services, 'log'>) {
  const told = new WeakMap<AgentSettings, Set<string>>();
  return (agent: AgentSettings, models: readonly Model[]): void => {
    const known = told.get(agent) ?? new Set();
    told.set(agent, known);
    for (const { id, traits } of models) {
      const beyond = windowBeyond(agent, traits);
      if (beyond === null || known.has(id)) continue;
      known.add(id);
      const [configured, largest] = [formatNumber(beyond.configured), formatNumber(beyond.largest)];
      const cause = `agent ${agent.id}: context_window is ${configured}, but ${id} has a window of ${largest} tokens`;
      log.warn('window.beyond', { cause, remedy: BEYOND_REMEDY });
    }
  };
}
