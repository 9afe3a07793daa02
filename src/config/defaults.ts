import { builtInNames, DEFAULT_ENGINE } from './known.ts';
import { type AgentSettings, agentSchema, type Config } from './schema.ts';

/** The default agent: the lowest layer of the configuration. */
export const agentDefaults: Omit<AgentSettings, 'id' | 'default' | 'routes'> = {
  model: 'auto',
  context_window: 'auto',
  max_output_tokens: 4096,
  temperature: 'auto',
  effort: 'auto',
  provider_options: {},
  max_steps: 8,
  timeout_seconds: 120,
  mode: 'mention',
  allow_bots: false,
  engine: DEFAULT_ENGINE,
  language: 'en',
  timezone: 'UTC',
  prompts: '',
  persona: '',
  policy: '',
  tools: [...builtInNames.tools],
  sections: [],
  max_section_tokens: 20_000,
  compaction: {
    background_threshold: 0.8,
    aggressive_threshold: 0.85,
    emergency_threshold: 0.95,
    background_target: 'auto',
    aggressive_target: 'auto',
    emergency_target: 'auto',
    message_threshold: 0,
    fixed_share: 'auto',
    stack_share: 0.15,
    tail_share: 'auto',
    reserve_share: 0.125,
    model: 'auto',
    summary_form: 'prose',
    effort: 'auto',
    timeout_seconds: 120,
    idle_minutes: 10,
  },
  memory: {
    recall_limit: 8,
    share_public: false,
  },
  recall: {
    tokens: 'auto',
    places: false,
    rerank_model: '',
    rerank_with: 'rerank',
    rerank_timeout_ms: 500,
  },
  tool_results: {
    recent_turns: 2,
    old_bytes: 200,
    blob_bytes: 8000,
    recent_bytes: 6000,
  },
};

/** The lowest layer of all settings that do not belong to an agent. */
export const generalDefaults: Pick<Config, 'storage' | 'queue' | 'log' | 'operations' | 'inspector' | 'privacy'> = {
  storage: { directory: './data', url: '' },
  queue: { url: '' },
  log: { level: 'info', text: false },
  operations: { listen: '' },
  inspector: {
    listen: '127.0.0.1:0',
    url: '',
    password: '',
    identity_header: '',
    proxies: [],
    operators: [],
    moderators: [],
  },
  privacy: { retention_days: 0 },
};

export type AgentOverrides = Partial<Omit<AgentSettings, 'compaction' | 'memory' | 'recall' | 'tool_results'>> & {
  readonly compaction?: Partial<AgentSettings['compaction']>;
  readonly memory?: Partial<AgentSettings['memory']>;
  readonly recall?: Partial<AgentSettings['recall']>;
  readonly tool_results?: Partial<AgentSettings['tool_results']>;
};

/** A complete agent from a few values; the defaults fill the rest. Throws if a value is out of range. */
export function defaultAgent(overrides: AgentOverrides = {}): AgentSettings {
  return agentSchema.parse({
    id: 'main',
    default: true,
    routes: [],
    ...agentDefaults,
    ...overrides,
    compaction: { ...agentDefaults.compaction, ...overrides.compaction },
    memory: { ...agentDefaults.memory, ...overrides.memory },
    recall: { ...agentDefaults.recall, ...overrides.recall },
    tool_results: { ...agentDefaults.tool_results, ...overrides.tool_results },
  });
}
