import { learn } from '../../context/measure/calibration.ts';
import { cacheKeyOf, replySettings } from '../../context/profile/call-settings.ts';
import { spellOutTools } from '../../context/view/without-tools.ts';
import { storeUsage } from '../../costs/store-usage.ts';
import { askerOf, bookCall } from '../../costs/usage.ts';
import { describe, type ModelError } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import { keepBegun } from '../../models/begun-step.ts';
import { billedUsage } from '../../models/billed.ts';
import { callHooked, hasRoom } from '../../models/hooked-call.ts';
import { hasReasoning, withReasoning } from '../../models/reasoning.ts';
import { accepted, type BilledStep, collectStep, type Step, type StepOptions } from '../../models/step.ts';
import type { Assembly } from '../../ports/engine.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { ChatModel, ModelRequest } from '../../ports/model.ts';
import type { Calibration } from '../../ports/store.ts';
import { limitWork } from '../../util/async/limit.ts';
import { askedIn } from '../state/snapshot.ts';
import { askInOrder, GRACE_MS } from './fallback.ts';
import { type ChannelImages, createChannelImages } from './images/channel-images.ts';
import type { AskOptions, ModelEffects } from './loop/effects.ts';
import type { PreparedTurn } from './prepare.ts';
import type { RefusedPast } from './refused/refused-past.ts';
import type { ReplyOptions } from './reply-options.ts';

/** Owns what the model's calls of a turn that runs have cost and taught. */
export interface ModelCalls {
  readonly effects: ModelEffects;
  findings(): CallFindings;
}

export interface CallFindings {
  /** Rows of all calls. */
  readonly usage: readonly UsageRow[];
  readonly calibration: Calibration | null;
  /** Null if none was answered. */
  readonly answer: LastAnswer | null;
}

export interface LastAnswer {
  /** The model that gave it. */
  readonly model: string;
  readonly sent: ModelRequest;
  /** Whether a hook changed the request. */
  readonly isAltered: boolean;
}

/** What the calls of one turn share. */
interface Calling {
  readonly turn: PreparedTurn;
  /** The name under which they are counted. */
  readonly person: string | null;
  readonly images: ChannelImages;
  readonly ledger: Ledger;
}

interface Ledger extends CallFindings {
  readonly usage: UsageRow[];
  calibration: Calibration | null;
  answer: LastAnswer | null;
}

export function createModelCalls(options: ReplyOptions, turn: PreparedTurn, past: RefusedPast): ModelCalls {
  const { agent, leased, basis, child } = turn;
  const { models, snapshot, newest } = basis;
  const { signal } = leased;
  const { clock, hooks } = options.services;
  const { key } = snapshot.conversation;
  const timeoutMs = agent.timeout_seconds * 1000;
  const person = askerOf(key, askedIn(snapshot, newest).author);
  const conversation = rootOf(key);
  const images = createChannelImages({ channel: options.channelOf(conversation), conversation, signal });
  const ledger: Ledger = { usage: [], calibration: null, answer: null };
  const call = caller(options, { turn, person, images, ledger }, timeoutMs);
  return {
    effects: {
      async ask(request, asking) {
        child?.mayAsk(ledger.usage);
        const step = await call(request, asking);
        past.passed(asking.assembly.snapshot);
        return step;
      },
      limitCall: () => limitWork(signal, { ms: timeoutMs * triesOf(models) + GRACE_MS }),
      pause: (ms) => clock.sleep(ms, { signal }),
      onDraft(text) {
        // Hooks may change the answer or hold it back, so no draft of it is shown.
        if (!hooks.has('model') && !hooks.has('post')) leased.show({ kind: 'draft', text });
      },
    },
    findings: () => ({ ...ledger }),
  };
}

/** Each model of a list has a limit of its own, and the last one has to reach it before the call as a whole ends. */
function triesOf(models: readonly ChatModel[]): number {
  return models.length === 1 ? 1 : models.length + 1;
}

/** Calls the first model that can answer, inside its hooks, and records what it cost. */
function caller(options: ReplyOptions, calling: Calling, timeoutMs: number): ModelEffects['ask'] {
  const { agent, basis } = calling.turn;
  const { models } = basis;
  const { key } = basis.snapshot.conversation;
  const onFallback = (from: ChatModel, to: ChatModel, error: ModelError) => {
    const names = { model: from.id, next: to.id };
    const conversation = rootOf(key);
    options.services.events.emit({ kind: 'model.fallback', conversation, ...names, message: describe(error) });
  };
  const candidates = { models, breaker: options.breaker, timeoutMs, onFallback };
  const settings = { ...replySettings(agent), cacheKey: cacheKeyOf(key) };
  return (request, { assembly, reasoned, signal, onText }) =>
    askInOrder(candidates, signal, (model, within, limitMs) =>
      askOne(options, calling, {
        model,
        request: { ...requestFor(model, request), ...settings },
        assembly,
        reasoned,
        signal: within,
        onText,
        limitMs,
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
  /** When the text written so far becomes the answer. */
  readonly limitMs: number | undefined;
}

async function askOne(
  options: ReplyOptions,
  calling: Calling,
  { model, request, assembly, reasoned, signal, onText, limitMs }: Asked,
): Promise<Step> {
  const { clock, hooks } = options.services;
  const { key, audience } = assembly.snapshot.conversation;
  const where = { conversation: rootOf(key), audience, agentId: calling.turn.basis.profile.agentId, model: model.id };
  const step = await callHooked(hooks, { where, request, signal }, async (sent) => {
    const seen = model.traits.images ? await calling.images.load(sent.messages) : sent.messages;
    // Added last: hooks do not see it, and what is stored about the request does not contain it.
    const whole = { ...sent, messages: withReasoning(seen, reasoned, model) };
    const asked = sent === request || hasRoom(whole) ? whole : { ...sent, messages: seen };
    const made = { model, startedAt: clock.now(), sent, asked, assembly };
    const lost = (broken: BilledStep) => void bookBeside(options, calling, { ...made, step: broken });
    const collect = (how: StepOptions) => collectStep(model, asked, how);
    const how = { signal, onText, onLost: lost };
    const answered = await (limitMs === undefined ? collect(how) : keepBegun(model, { ...how, limitMs }, collect));
    if (!signal.aborted) account(options, calling, { ...made, step: answered });
    return answered;
  });
  return accepted(model, step);
}

interface Made<Answer extends BilledStep> {
  readonly model: ChatModel;
  readonly startedAt: number;
  readonly step: Answer;
  readonly sent: ModelRequest;
  /** The same with what only the model gets. */
  readonly asked: ModelRequest;
  readonly assembly: Assembly;
}

function book(
  { services }: ReplyOptions,
  { turn, person }: Calling,
  { model, startedAt, step, asked, assembly }: Made<BilledStep>,
): UsageRow {
  const call = { purpose: asked.purpose, model: model.id, agentId: turn.basis.profile.agentId, person };
  const durationMs = services.clock.now() - startedAt;
  const conversation = rootOf(assembly.snapshot.conversation.key);
  return bookCall(services, { ...call, conversation, durationMs, usage: billedUsage(asked, step) });
}

/** Of a call without an answer, or with one that comes too late: the turn may have ended, and does not wait for it. */
async function bookBeside(options: ReplyOptions, calling: Calling, made: Made<BilledStep>): Promise<void> {
  const { child, leased } = calling.turn;
  await storeUsage(options.services, child?.payer ?? leased.snapshot.conversation, [book(options, calling, made)]);
}

/** Records the cost of a call and learns from the provider's token count. */
function account(options: ReplyOptions, calling: Calling, made: Made<Step>): void {
  const { turn, ledger } = calling;
  const { profile, engine, cache } = turn.basis;
  const { model, startedAt, step, sent, asked, assembly } = made;
  const { conversation } = assembly.snapshot;
  const usage = book(options, calling, made);
  ledger.usage.push(usage);
  if (step.finish === 'refused') return;
  cache.note({ sent, assembly, profile, engine: engine.info.id, model, at: startedAt, usage });
  const { system, messages, tools } = assembly;
  const isAltered = sent.system !== system || sent.messages !== messages || sent.tools !== tools;
  ledger.answer = { model: model.id, sent, isAltered };
  // The estimate is for the agent's own model, and for a request that no hook has changed. Not every provider counts the
  // reasoning that it gets back.
  const isSame = model.id === profile.modelId && sent.system === system && sent.messages === messages;
  // Most requests are sent as they are, and looking for reasoning in a long one takes a fiftieth of a turn.
  const isReasoned = asked.messages !== messages && hasReasoning(asked.messages);
  const estimated = isSame && !isReasoned ? assembly.estimatedTokens : 0;
  const report = { model: profile.modelId, estimated, reported: step.usage.inputTokens };
  ledger.calibration = learn(ledger.calibration ?? conversation.calibration, {
    ...report,
    revision: conversation.revision,
  });
  if (!doubtful(report, profile.windowTokens)) return;
  const facts = { model: profile.modelId, configuredTokens: profile.windowTokens, reportedTokens: report.reported };
  options.services.events.emit({ kind: 'model.mismatch', conversation: rootOf(conversation.key), ...facts });
}

/**
 * The provider read more than the window, or far less than was sent: the configured window differs from the server's.
 */
function doubtful(report: { readonly estimated: number; readonly reported: number }, windowTokens: number): boolean {
  if (report.reported <= 0) return false;
  return report.reported > windowTokens || (report.estimated > 1000 && report.reported < report.estimated * 0.4);
}
