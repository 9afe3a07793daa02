import type { BotOptions } from '../bot/options.ts';
import type { CommandDefinition } from '../commands/custom/define.ts';
import { type AgentDirectory, createAgentDirectory } from '../config/directory.ts';
import type { LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { LiveConfig } from '../config/watch/watch.ts';
import { publicLinkTo } from '../inspection/address.ts';
import type { LoadedPlugin } from '../plugins/load.ts';
import type { Reranker } from '../ports/reranker.ts';
import type { Storage } from '../services.ts';
import { onFirstUse } from '../util/async/on-first-use.ts';
import type { AppHost, OpenOptions } from './app.ts';
import { connectionsOf } from './open-adapters.ts';

/** What the configuration, the command line and the plugins decide about the bot. */
export async function botSettings({
  host,
  options,
  load,
  config,
  live,
  plugins,
  storage,
}: {
  readonly host: AppHost;
  readonly options: OpenOptions;
  readonly load: LoadOptions;
  readonly config: Config;
  readonly live: LiveConfig;
  readonly plugins: readonly LoadedPlugin[];
  readonly storage: Pick<Storage, 'upkeep'>;
}) {
  const agents = createAgentDirectory(() => live.config());
  return {
    role: options.role,
    prices: await pricesOf(host, live),
    reranker: rerankerOf(host, config),
    ...botPartsOf(plugins),
    agents: options.listenOnly ? listening(agents) : agents,
    retentionDays: () => live.config().privacy.retention_days,
    logText: config.log.text,
    dataLocation: storage.upkeep.place,
    configTrouble: () => troubleOf(live, load.file),
    inspectorLink: (conversation) => publicLinkTo(conversation, config.inspector),
  } satisfies Partial<BotOptions>;
}

export function botPartsOf(
  plugins: readonly LoadedPlugin[],
): Pick<BotOptions, 'tools' | 'engines' | 'hooks'> & { readonly commands: readonly CommandDefinition[] } {
  const parts = plugins.map((plugin) => plugin.parts());
  return {
    tools: parts.flatMap(({ tools }) => tools),
    commands: parts.flatMap(({ commands }) => commands),
    engines: Object.assign({}, ...parts.map(({ engines }) => engines)),
    hooks: plugins.map((plugin) => ({ name: `the plugin ${plugin.ownName}`, ...plugin.parts().hooks })),
  };
}

async function pricesOf({ adapters }: AppHost, live: LiveConfig): Promise<NonNullable<BotOptions['prices']>> {
  const createList = await adapters.prices();
  return { list: createList(), own: () => live.config().prices };
}

/** Loaded by the first question of an agent that uses it, which can be after a change of the configuration. */
function rerankerOf({ adapters }: AppHost, { providers }: Config): Reranker {
  const loaded = onFirstUse(async () => (await adapters.reranker())({ providers: connectionsOf(providers) }));
  return {
    rerank: async (request) => (await loaded()).rerank(request),
    embed: async (request) => (await loaded()).embed(request),
  };
}

/** Never replies: messages are stored, summarised and remembered. */
function listening(agents: AgentDirectory): AgentDirectory {
  const mute = new WeakMap<object, ReturnType<AgentDirectory['agentFor']>>();
  const muted: AgentDirectory['agentFor'] = (conversation) => {
    const agent = agents.agentFor(conversation);
    const known = mute.get(agent) ?? { ...agent, mode: 'observe' };
    mute.set(agent, known);
    return known;
  };
  return { ...agents, agentFor: muted };
}

function troubleOf(live: LiveConfig, file: string): string | null {
  const rejection = live.rejection();
  if (rejection !== null) return `${file} cannot be used; the last valid one stays in use. ${rejection}`;
  const waiting = live.waiting();
  return waiting.length === 0 ? null : `Changes of ${waiting.join(', ')} in ${file} take effect after a restart.`;
}
