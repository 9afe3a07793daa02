import type { AgentSettings } from '../../config/schema.ts';
import { learn } from '../../context/measure/calibration.ts';
import { cacheKeyOf, replySettings } from '../../context/profile/call-settings.ts';
import { spellOutTools } from '../../context/view/without-tools.ts';
import { bookCall } from '../../costs/usage.ts';
import { describe, type ModelError } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import { billedUsage } from '../../models/billed.ts';
import { callHooked } from '../../models/hooked-call.ts';
import { accepted, collectStep, type Step } from '../../models/step.ts';
import type { Assembly, ContextProfile } from '../../ports/engine.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { ChatModel, ModelRequest } from '../../ports/model.ts';
import type { Calibration, ContextSnapshot } from '../../ports/store.ts';
import type { CacheAccount } from './cache-account.ts';
import { type ChannelImages, createChannelImages } from './channel-images.ts';
import { askInOrder } from './fallback.ts';
import type { ReplyOptions } from './reply-options.ts';
import type { AskOptions, TurnOptions } from './turn.ts';

/** What the calls of one turn need, and the state that they change. */
export interface AskContext {
  readonly profile: ContextProfile;
  /** In the order in which they are tried. */
  readonly models: readonly ChatModel[];
  readonly agent: AgentSettings;
  /** The name under which the calls are counted. */
  readonly person: string | null;
  readonly state: TurnState;
  readonly engine: string;
  readonly cache: CacheAccount;
  /** Aborted when the turn has to end. */
  readonly signal: AbortSignal;
}

/** What a turn has learned so far. `createRun` makes it; the calls of the model and the other effects change it. */
export interface TurnState {
  snapshot: ContextSnapshot;
  calibration: Calibration | null;
  /** The last request that was to be sent, and the whole one that it was made from. */
  assembly: Assembly | null;
  whole: Assembly | null;
  /** How many messages of the turn itself `whole` contains. */
  wholeSteps: number;
  answeredBy: string | null;
  /** What the last call sent. */
  sent: ModelRequest | null;
  /** Whether a hook changed it. */
  isAltered: boolean;
  /** Rows of all calls so far. */
  readonly usage: UsageRow[];
}

/** Calls the first model that can answer, inside its hooks, and records what it cost. */
export function createAsk(options: ReplyOptions, turn: AskContext): TurnOptions['ask'] {
  const { models, agent, state } = turn;
  const conversation = rootOf(state.snapshot.conversation.key);
  const images = createChannelImages({ channel: options.channelOf(conversation), conversation, signal: turn.signal });
  const onFallback = (from: ChatModel, to: ChatModel, error: ModelError) => {
    const names = { model: from.id, next: to.id };
    options.services.events.emit({ kind: 'model.fallback', conversation, ...names, message: describe(error) });
  };
  const candidates = { models, breaker: options.breaker, timeoutMs: agent.timeout_seconds * 1000, onFallback };
  const settings = { ...replySettings(agent), cacheKey: cacheKeyOf(state.snapshot.conversation.key) };
  return (request, { signal, onText }) =>
    askInOrder(candidates, signal, (model, within) =>
      askOne(options, turn, {
        model,
        request: { ...requestFor(model, request), ...settings },
        signal: within,
        onText,
        images,
      }),
    );
}

/** A fallback may have no tools, although the agent's first model has. */
function requestFor({ traits }: ChatModel, request: ModelRequest): ModelRequest {
  if (traits.tools || request.tools.length === 0) return request;
  return { ...request, messages: spellOutTools(request.messages), tools: [] };
}

interface Asked extends AskOptions {
  readonly model: ChatModel;
  readonly request: ModelRequest;
  readonly images: ChannelImages;
}

async function askOne(
  options: ReplyOptions,
  turn: AskContext,
  { model, request, signal, onText, images }: Asked,
): Promise<Step> {
  const { clock, hooks } = options.services;
  const { key, audience } = turn.state.snapshot.conversation;
  const where = { conversation: rootOf(key), audience, agentId: turn.profile.agentId, model: model.id };
  const step = await callHooked(hooks, { where, request, signal }, async (sent) => {
    const messages = model.traits.images ? await images.load(sent.messages) : sent.messages;
    const startedAt = clock.now();
    const answered = await collectStep(model, { ...sent, messages }, { signal, onText });
    if (!signal.aborted) account(options, turn, { model, startedAt, step: answered, sent });
    return answered;
  });
  return accepted(model, step);
}

interface Accounting {
  readonly model: ChatModel;
  readonly startedAt: number;
  readonly step: Step;
  readonly sent: ModelRequest;
}

/** Records the cost of a call and learns from the provider's token count. */
function account(options: ReplyOptions, turn: AskContext, { model, startedAt, step, sent }: Accounting): void {
  const { state, profile, person } = turn;
  const { clock, events } = options.services;
  const { assembly } = state;
  if (assembly === null) return;
  const { conversation } = assembly.snapshot;
  const durationMs = clock.now() - startedAt;
  const about = rootOf(conversation.key);
  const call = { purpose: sent.purpose, model: model.id, agentId: profile.agentId, person, durationMs };
  const usage = bookCall(options.services, { ...call, conversation: about, usage: billedUsage(sent, step) });
  state.usage.push(usage);
  if (step.finish === 'refused') return;
  turn.cache.note({ sent, assembly, profile, engine: turn.engine, model, at: startedAt, usage });
  state.answeredBy = model.id;
  state.sent = sent;
  const { system, messages, tools } = assembly;
  state.isAltered = sent.system !== system || sent.messages !== messages || sent.tools !== tools;
  // The estimate is for the agent's own model, and for a request that no hook has changed.
  const isSame = model.id === profile.modelId && sent.system === system && sent.messages === messages;
  const estimated = isSame ? assembly.estimatedTokens : 0;
  const report = { model: profile.modelId, estimated, reported: step.usage.inputTokens };
  state.calibration = learn(state.calibration ?? conversation.calibration, {
    ...report,
    revision: conversation.revision,
  });
  if (!doubtful(report, profile.windowTokens)) return;
  const facts = { model: profile.modelId, configuredTokens: profile.windowTokens, reportedTokens: report.reported };
  events.emit({ kind: 'model.mismatch', conversation: about, ...facts });
}

/**
 * The provider read more than the window, or far less than was sent: the configured window differs from the server's.
 */
function doubtful(report: { readonly estimated: number; readonly reported: number }, windowTokens: number): boolean {
  if (report.reported <= 0) return false;
  return report.reported > windowTokens || (report.estimated > 1000 && report.reported < report.estimated * 0.4);
}
