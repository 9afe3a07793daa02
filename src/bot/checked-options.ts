import { defineCommand } from '../commands/custom/define.ts';
import { type AgentDirectory, createAgentDirectory } from '../config/directory.ts';
import { CODE_SOURCE, readGivenAgents } from '../config/given.ts';
import { builtInNames } from '../config/known.ts';
import type { AgentSettings } from '../config/schema.ts';
import { StrataError } from '../domain/errors.ts';
import { rootOf } from '../domain/key.ts';
import { hooksSchema } from '../hooks/hooks.ts';
import { promptProblemsOf } from '../prompts/library.ts';
import { defineTool } from '../tools/define.ts';
import { faultText } from '../util/errors/faults.ts';
import { kindOf } from '../util/errors/kind-of.ts';
import { guardedDirectory } from './guarded-values.ts';
import { shapeFaults } from './option-shapes.ts';
import type { BotOptions, ProcessRole } from './options.ts';

/**
 * Validates the options of a bot by the rules of the configuration file. Throws `CONFIG_INVALID` with every problem, and
 * `TOOL_INVALID` or `COMMAND_INVALID`.
 * Returns the directory of agents.
 */
export function checkBotOptions(options: BotOptions): AgentDirectory {
  const shapes = shapeFaults(options);
  // The other checks read these options.
  if (shapes.length > 0) throw invalid(shapes);
  const { agents = [] } = options;
  const directory = 'agentFor' in agents ? guardedDirectory(agents) : null;
  for (const tool of options.tools ?? []) defineTool(tool);
  for (const command of options.commands ?? []) defineCommand(command);
  const entries = 'agentFor' in agents ? (directory?.list() ?? []) : agents;
  const known = {
    providers: options.models.providers ?? null,
    tools: [...builtInNames.tools, ...(options.tools ?? []).map(({ name }) => name)],
    engines: [...builtInNames.engines, ...Object.keys(options.engines ?? {})],
    areFilesRead: directory !== null,
  };
  const given = readGivenAgents(entries.length === 0 ? [{ id: 'main' }] : [...entries], known);
  const prompts = options.prompts === undefined ? promptProblemsOf(given.settings) : [];
  const others = [
    ...prompts,
    ...roleFaults(options),
    ...channelFaults(options),
    ...engineFaults(options),
    ...hookFaults(options),
    ...clockFaults(options),
    ...(directory === null ? rerankerFaults(options, given.settings) : []),
  ];
  if (given.problems.length + others.length > 0) throw invalid(others, given.problems);
  const config = { agents: [...given.settings] };
  return forChildren(directory ?? createAgentDirectory(() => config));
}

function invalid(faults: readonly string[], known: readonly string[] = []): StrataError {
  const problems = [...known, ...faults.map((text) => `${CODE_SOURCE}: ${text}`)];
  return new StrataError('CONFIG_INVALID', { file: CODE_SOURCE, problems });
}

/** A child has the agent of the conversation that people see. */
function forChildren(directory: AgentDirectory): AgentDirectory {
  return {
    agentFor: (conversation) => directory.agentFor(rootOf(conversation)),
    agent: (id) => directory.agent(id),
    list: () => directory.list(),
  };
}

/** Why a process with this role could not work; null if it can. */
export function roleProblem(role: ProcessRole, { isShared }: { readonly isShared: boolean }): string | null {
  if (role === 'all' || isShared) return null;
  return `A ${role} needs a queue that is shared with other processes`;
}

function roleFaults({ role = 'all', queue }: BotOptions): readonly string[] {
  // A queue on a server connects on first use.
  const fault = role === 'all' ? null : roleProblem(role, { isShared: queue.stats().driver !== 'local' });
  return fault === null ? [] : [`role: ${fault}, for example createBullMqQueue`];
}

function channelFaults({ channels = [] }: BotOptions): readonly string[] {
  const platforms = channels.map(({ platform }) => platform);
  const twice = new Set(platforms.filter((platform, index) => platforms.indexOf(platform) !== index));
  return [...twice].map((platform) => `channels: two channels have the platform "${platform}"; expected one of each`);
}

function engineFaults({ engines = {} }: BotOptions): readonly string[] {
  const taken = builtInNames.engines.filter((name) => Object.hasOwn(engines, name));
  return taken.map((name) => `engines.${name}: is the name of a built-in engine; choose another one`);
}

/** Neither has an effect without the other. */
function rerankerFaults({ reranker }: BotOptions, agents: readonly AgentSettings[]): readonly string[] {
  const asking = agents.filter(({ recall }) => recall.rerank_model !== '');
  if (reranker !== undefined && asking.length === 0) {
    return ['reranker: no agent sets recall.rerank_model, so nothing would call it; expected provider:model there'];
  }
  if (reranker !== undefined) return [];
  return asking.map(
    ({ id }) => `agents[${id}].recall.rerank_model: needs the option reranker, such as createHttpReranker`,
  );
}

function hookFaults({ hooks = [] }: BotOptions): readonly string[] {
  return hooks.flatMap((set, index) =>
    (hooksSchema.safeParse(set).error?.issues ?? []).map(({ path, message }) =>
      faultText({ path: ['hooks', index, ...path], message }),
    ),
  );
}

function clockFaults({ clock }: BotOptions): readonly string[] {
  const now: unknown = clock === undefined ? 0 : clock.now();
  if (Number.isFinite(now)) return [];
  return [`clock.now: expected milliseconds since 1970, got ${typeof now === 'number' ? now : kindOf(now)}`];
}
