import type { CommandServices } from '../commands/services.ts';
import { modelsOf } from '../config/directory.ts';
import type { AgentSettings } from '../config/schema.ts';
import { DEFAULT_WINDOW_TOKENS } from '../context/profile/profile.ts';
import { limitsOf } from '../context/profile/shares.ts';
import { describe } from '../domain/errors.ts';

/** What the settings of an agent come to with its model. */
export type EffectiveLimits = { readonly agentId: string } & (
  | { readonly problem: string; readonly rows: null }
  | { readonly problem: null; readonly rows: readonly LimitRow[] }
);

export interface LimitRow {
  readonly name: string;
  /** Tokens; null for a row that is a name. */
  readonly tokens: number | null;
  readonly text: string;
}

/** Calls no model. An agent whose model cannot be opened says why. */
export async function effectiveLimits({ agents, models }: CommandServices): Promise<readonly EffectiveLimits[]> {
  return await Promise.all(
    agents.list().map(async (agent): Promise<EffectiveLimits> => {
      try {
        const [configured] = modelsOf(agent);
        const modelId = configured === 'auto' ? (await models.choose()).modelId : configured;
        const { traits } = await models.open(modelId);
        const rows = rowsOf(agent, { modelId, windowTokens: traits.windowTokens ?? null });
        return { agentId: agent.id, problem: null, rows };
      } catch (error) {
        return { agentId: agent.id, problem: describe(error), rows: null };
      }
    }),
  );
}

function rowsOf(
  agent: AgentSettings,
  { modelId, windowTokens }: { readonly modelId: string; readonly windowTokens: number | null },
): readonly LimitRow[] {
  const limits = limitsOf(agent, windowTokens ?? DEFAULT_WINDOW_TOKENS);
  const { windowTokens: window, thresholds, targets } = limits;
  const share = (name: string, of: number, text: string): LimitRow => ({ name, tokens: Math.floor(of * window), text });
  const known = windowTokens === null ? 'the model reports none, so this is assumed' : 'as the model reports';
  return [
    {
      name: 'Model',
      tokens: null,
      text: agent.model === 'auto' ? `${modelId}, chosen because the setting is "auto"` : modelId,
    },
    { name: 'Window', tokens: window, text: agent.context_window === 'auto' ? known : 'context_window' },
    { name: 'Reserved for the answer', tokens: limits.reserveTokens, text: 'max_output_tokens, at most reserve_share' },
    share('A summary is due at', thresholds.background, 'background_threshold'),
    share('A deeper one at', thresholds.aggressive, 'aggressive_threshold'),
    share('Messages leave at once at', thresholds.emergency, 'emergency_threshold'),
    ...(targets.background === null ? [] : [share('A summary leaves in use', targets.background, 'background_target')]),
    share('Instructions and tools, at most', limits.fixedShare, 'fixed_share'),
    share('Summaries, before they are condensed', limits.stackShare, 'stack_share'),
    ...(limits.tailShare === 0 ? [] : [share('Newest messages, which stay', limits.tailShare, 'tail_share')]),
    { name: 'Recalled with a message, at most', tokens: limits.recallTokens, text: 'recall.tokens' },
  ];
}
