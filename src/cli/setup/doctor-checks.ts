import { tmpdir } from 'node:os';
import type { App, GlobalOptions } from '../../app/app.ts';
import { findPlugins } from '../../app/configuration.ts';
import { channelProblems } from '../../config/channels.ts';
import { modelsOf } from '../../config/directory.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import type { AgentSettings } from '../../config/schema.ts';
import { BEYOND_REMEDY, windowBeyond } from '../../context/profile/window-beyond.ts';
import { describe, ModelError, REMEDIES } from '../../domain/errors.ts';
import { collectStep } from '../../models/step.ts';
import type { ChatModel, ModelRequest } from '../../ports/model.ts';
import type { Finding as AdapterFinding } from '../../ports/upkeep.ts';
import { promptProblemsOf } from '../../prompts/library.ts';
import { counted, formatNumber } from '../../util/text/text.ts';
import { type Cli, untilStopped } from '../cli.ts';
import { withScratchApp } from '../scratch.ts';
import { checkData, checkDisk, openData } from './doctor-data.ts';
import { CHECKS, type CheckId, type Finding, ok } from './doctor-finding.ts';
import { checkProxy } from './doctor-proxy.ts';
import { channelSchemas } from './platform.ts';

export interface Checkup {
  readonly checksRun: readonly CheckId[];
  readonly checksSkipped: readonly CheckId[];
  readonly findings: readonly Finding[];
}

interface Checking extends Asking {
  readonly globals: GlobalOptions;
}

/** Runs every possible check. Checks that require a readable configuration are skipped without one. */
export async function runChecks(cli: Cli, options: Checking): Promise<Checkup> {
  const findings: Finding[] = [checkNode(), ...checkProxy(cli.environment)];
  const loaded = await readConfig(cli, options.globals, findings);
  if (loaded !== null) {
    findings.push(checkPrompts(loaded));
    findings.push(...(await checkParts(cli, loaded, options)), checkPrivacy(loaded));
  }
  const checksRun = [...new Set(findings.map((finding) => finding.checkId))];
  return { checksRun, checksSkipped: CHECKS.filter((id) => !checksRun.includes(id)), findings };
}

/** The data and the services. */
async function checkParts(cli: Cli, { config }: LoadedConfig, options: Checking): Promise<readonly Finding[]> {
  const { storage } = config;
  const { app, finding } = await openData(cli, { globals: options.globals, storage });
  const disk = storage.url === '' ? await checkDisk(storage) : [];
  if (app === null) return [finding, ...disk, ...(await checkAside(cli, finding, options))];
  try {
    const data = await checkData(app);
    return [finding, ...data, ...disk, ...(await untilStopped(cli, checkServices(app, options)))];
  } finally {
    await app.close();
  }
}

/** What does not need the data: the queue, the models and the platforms. */
async function checkServices(app: App, options: Asking): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const finding of await app.checkQueue().catch(checkFailure))
    findings.push({ ...finding, checkId: `queue.${finding.checkId}` });
  for (const agent of app.config.agents) findings.push(...(await checkModels(app, agent, options)));
  findings.push(...(await checkWindows(app)));
  return [...findings, ...(await checkChannels(app))];
}

async function checkWindows({ services }: App): Promise<readonly Finding[]> {
  const problems = await services.windowProblems({ isOffline: false });
  if (problems.length === 0) return [ok('window', 'the window of every agent has room for its conversations')];
  return problems.map(({ severity, message, fixHint }) => ({ checkId: 'window', severity, message, fixHint }));
}

/** The same on an empty store, because a running bot uses the data, or the data is damaged, missing or out of reach. */
async function checkAside(cli: Cli, data: Finding, options: Checking): Promise<readonly Finding[]> {
  try {
    const found = await withScratchApp(cli, options.globals, (app) => untilStopped(cli, checkServices(app, options)));
    return found ?? [nowhereToCheck()];
  } catch (error) {
    cli.signal.throwIfAborted();
    return data.message === describe(error) ? [] : [configFailure(describe(error))];
  }
}

function nowhereToCheck(): Finding {
  const message = `queue, models and platforms are not checked, because nothing can be written at ${tmpdir()}`;
  return { checkId: 'disk', severity: 'warn', message, fixHint: 'Set TMPDIR to a folder that this user may write.' };
}

function checkNode(): Finding {
  return ok('node', `Node.js ${process.versions.node}`);
}

async function readConfig(cli: Cli, globals: GlobalOptions, findings: Finding[]): Promise<LoadedConfig | null> {
  try {
    const { load, plugins } = await findPlugins(cli, globals);
    const loaded = loadConfig(load);
    const problems = channelProblems(loaded, await channelSchemas(cli, plugins));
    const { file, found } = loaded.source;
    if (problems.length === 0)
      findings.push(ok('config', found ? `${file} is valid` : `no ${file}: using the defaults`));
    else findings.push(configFailure(problems.join('; ')));
    return loaded;
  } catch (error) {
    findings.push(configFailure(describe(error)));
    return null;
  }
}

function configFailure(message: string): Finding {
  return {
    checkId: 'config',
    severity: 'fail',
    message,
    fixHint: '`strata config check` lists every error with its line number.',
  };
}

function checkPrompts({ config }: LoadedConfig): Finding {
  const problems = promptProblemsOf(config.agents);
  if (problems.length === 0) return ok('prompts', 'all prompts render');
  const fixHint = '`strata prompts eject` writes new copies of the built-in ones.';
  return { checkId: 'prompts', severity: 'fail', message: problems.join('; '), fixHint };
}

/** Checks the agent's models, and its summary model if that is a different one. */
async function checkModels(app: App, agent: AgentSettings, options: Asking): Promise<readonly Finding[]> {
  const { model } = agent.compaction;
  const models = modelsOf(agent);
  const own: Finding[] = [];
  for (const [index, wanted] of models.entries()) {
    const label = index === 0 ? `agent ${agent.id}` : `fallback of agent ${agent.id}`;
    own.push(await checkModel(app, { ...agent, label, wanted }, options));
  }
  if (model === 'auto' || models.includes(model)) return own;
  const summariser = { label: `summaries of agent ${agent.id}`, wanted: model, context_window: 'auto' } as const;
  return [...own, await checkModel(app, summariser, options)];
}

interface Asking {
  /** Make no model calls. */
  readonly offline: boolean;
}

type Checked = Pick<AgentSettings, 'context_window'> & { readonly label: string; readonly wanted: string };

async function checkModel(
  { services }: App,
  { label, wanted, context_window: configured }: Checked,
  { offline }: Asking,
): Promise<Finding> {
  try {
    const choice = wanted === 'auto' ? await services.models.choose() : { modelId: wanted, reason: 'configured' };
    const model = await services.models.open(choice.modelId);
    if (!offline) await ask(model);
    const { windowTokens, tools } = model.traits;
    const window = windowTokens === null ? 'window unknown' : `window ${formatNumber(windowTokens)}`;
    const beyond = windowBeyond({ context_window: configured }, model.traits);
    const isOther = beyond === null && configured !== 'auto' && configured !== windowTokens;
    const used = isOther ? [`context_window ${formatNumber(configured)}`] : [];
    const facts = [window, ...used, ...(tools ? [] : ['without tools']), offline ? 'not asked' : 'it answered'];
    const message = `${label}: ${model.id} (${choice.reason}), ${facts.join(', ')}`;
    if (beyond === null) return ok('model', message);
    const tooLarge = `but context_window is ${formatNumber(beyond.configured)}`;
    return { checkId: 'model', severity: 'warn', message: `${message}, ${tooLarge}`, fixHint: BEYOND_REMEDY };
  } catch (error) {
    return modelFailure(label, error);
  }
}

/** The result of a failed call, and the remedy. Only rate limits pass by themselves. */
function modelFailure(label: string, error: unknown): Finding {
  if (!(error instanceof ModelError)) {
    const fixHint = 'Set the key in the environment or in .env, or choose another model with --model.';
    return { checkId: 'model', severity: 'fail', message: `${label}: ${describe(error)}`, fixHint };
  }
  const { model, detail, remedy = REMEDIES[error.reason] } = error.data;
  return {
    checkId: 'model',
    severity: error.reason === 'rate-limit' ? 'warn' : 'fail',
    message: `${label}: ${model} did not answer (${error.reason}): ${detail}`,
    fixHint: remedy,
  };
}

const ASK_LIMIT_MS = 30_000;

/** A test call of a few tokens: only a real call shows whether the server accepts the model and key. */
async function ask(model: ChatModel): Promise<void> {
  const request: ModelRequest = {
    purpose: 'reply',
    system: [],
    messages: [{ role: 'user', content: [{ kind: 'text', text: 'Say ok.' }] }],
    tools: [],
    maxOutputTokens: 16,
    json: false,
  };
  const signal = AbortSignal.timeout(ASK_LIMIT_MS);
  try {
    await collectStep(model, request, { signal, onText: () => undefined });
  } catch (error) {
    if (!signal.aborted) throw error;
    const detail = `no answer within ${ASK_LIMIT_MS / 1000} seconds`;
    throw new ModelError({ model: model.id, reason: 'timeout', detail }, { cause: error });
  }
}

/** Each enabled platform provides its own checks. */
async function checkChannels(app: App): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [name, settings] of Object.entries(app.config.channels)) {
    const adapter = await app.channelAdapters[name]?.();
    const found = (await adapter?.check(settings, app.channelContext).catch(checkFailure)) ?? [];
    findings.push(...found.map((finding): Finding => ({ ...finding, checkId: `channel.${name}.${finding.checkId}` })));
  }
  return findings;
}

/** If one platform cannot be checked, the others still are. */
function checkFailure(error: unknown): readonly AdapterFinding[] {
  const fixHint = 'Install the missing package, or remove the table from the configuration.';
  return [{ checkId: 'check', severity: 'fail', message: describe(error), fixHint }];
}

function checkPrivacy({ config }: LoadedConfig): Finding {
  const notes = [
    ...config.agents.flatMap((agent) =>
      agent.memory.share_public
        ? [`agent ${agent.id} shares public memories between channels (memory.share_public)`]
        : [],
    ),
    ...(config.log.text ? ['the text of messages is written to the log (log.text)'] : []),
  ];
  const days = config.privacy.retention_days;
  const kept =
    days === 0 ? 'messages are kept until they are forgotten' : `messages are kept for ${counted(days, 'day', 'days')}`;
  if (notes.length === 0) return ok('privacy', `memories stay where they were captured; ${kept}`);
  return {
    checkId: 'privacy',
    severity: 'warn',
    message: notes.join('; '),
    fixHint: 'Disable it if people do not expect it.',
  };
}
