import { fittedOf } from '../../context/fit/fit.ts';
import type { RecordedRequest } from '../../context/record/record-request.ts';
import { askerOf } from '../../costs/usage.ts';
import { StrataError } from '../../domain/errors.ts';
import type { Author, MemoryId, ToolResultPart } from '../../domain/message.ts';
import type { NewBlob } from '../../ports/blob-store.ts';
import type { Activity } from '../../ports/channel.ts';
import type { AfterTurn, ContextEngine, FinishedTurn } from '../../ports/engine.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { ChatModel } from '../../ports/model.ts';
import type { VolatileSection } from '../../ports/sections.ts';
import type { Calibration, Claim, ContextSnapshot, Conversation, TurnMessage } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import type { ToolContext } from '../../tools/define.ts';
import { createTurnBlobs, type TurnBlobs } from '../../tools/turn-blobs.ts';
import { limitWork } from '../../util/work/limit.ts';
import { askedIn } from '../state/snapshot.ts';
import { standingOf } from '../state/standing.ts';
import { createAsk, type TurnState } from './ask-model.ts';
import { type CacheAccount, NO_CACHE_ACCOUNT } from './cache-account.ts';
import { createOpenedImages, type OpenedImages } from './opened-images.ts';
import type { Opening, Reading, ReplyOptions } from './reply-options.ts';
import type { ChildTurn, ParentCall, Spawner } from './spawning.ts';
import { wholeView } from './too-many-waiting.ts';
import type { TurnOptions } from './turn.ts';

/** The effects of one turn, and what they have learned when it ends. The loop itself stays pure. */
export interface TurnEffects extends TurnOptions {
  usage(): readonly UsageRow[];
  /** Notes what the provider's cache has lost. Called once the turn is stored. */
  account(): Promise<void>;
  /** The model that answered last; null for an agent with one model. */
  answeredBy(): string | null;
  calibration(): Calibration | null;
  /** Memories that the model saw whole. */
  recalled(): readonly MemoryId[];
  /** Every memory that the model saw, even in part: its text may repeat it. */
  given(): readonly MemoryId[];
  /** Long results of its tools, to be stored with it. */
  blobs(): readonly NewBlob[];
  /** What the last request was built from; null if the engine does not say. */
  recorded(at: number): Promise<RecordedRequest | null>;
  /** Which fixed part of the refused request the filter refuses by itself; null if none, or if it is unknown. */
  refusedPart(): Promise<string | null>;
  /** Whether maintenance is due after these messages are stored. */
  assess(messages: readonly TurnMessage[]): AfterTurn;
}

/** A prepared turn: what it reads, the models it may ask, and the sections for its newest message. */
export interface PreparedTurn extends Reading, Opening {
  readonly models: readonly ChatModel[];
  readonly volatile: readonly VolatileSection[];
  /** When the sections were made. */
  readonly preparedAt: number;
  readonly signal: AbortSignal;
  readonly show: (activity: Activity) => void;
  /** Only for a turn of a child. */
  readonly child?: ChildTurn;
}

export function createTurnEffects(options: ReplyOptions, turn: PreparedTurn): TurnEffects {
  const { profile, models, newest, signal, show } = turn;
  const { hooks } = options.services;
  const engine = options.engineFor(profile);
  const agent = options.services.agents.agentFor(turn.snapshot.conversation.key);
  const person = askerOf(turn.snapshot.conversation.key, askedIn(turn.snapshot, newest).author);
  const state = startState(turn);
  const [given, images] = [createGivenMemories(turn), createOpenedImages(profile.traits)];
  const blobs = createTurnBlobs(turn.child?.blobs);
  const cache = cacheAccountOf(options, turn);
  const askSeq = Math.min(askedIn(turn.snapshot, newest).seq, newest.seq);
  const past = options.refusedPasts.open({ profile, askSeq });
  const ask = createAsk(options, { ...turn, agent, person, state, cache, engine: engine.info.id });
  return {
    purpose: turn.child === undefined ? 'reply' : 'child',
    modelId: profile.modelId,
    maxSteps: agent.max_steps,
    maxOutputTokens: profile.reserveTokens,
    limitCall: () => limitWork(signal, { ms: agent.timeout_seconds * 1000 * models.length }),
    pause: (ms) => options.services.clock.sleep(ms, { signal }),
    callTool: toolCaller(options, turn, { state, given, images, blobs }),
    onDraft(text) {
      // Hooks may change the answer or hold it back, so no draft of it is shown.
      if (!hooks.has('model') && !hooks.has('post')) show({ kind: 'draft', text });
    },
    async ask(request, asking) {
      const step = await ask(request, asking);
      past.passed(state.snapshot);
      return step;
    },
    async assemble(steps) {
      state.snapshot = await latestView(state.snapshot, turn);
      const read = { readUpto: newest.seq, volatile: turn.volatile, now: options.services.clock.now() };
      const request = { profile, snapshot: state.snapshot, ...read, steps: images.after(steps) };
      state.whole = await wholeView(engine, request);
      state.wholeSteps = steps.length;
      state.assembly = past.reduce(state.whole);
      // Freeing space reads the view again, and may find that no message is left to answer.
      state.snapshot = requireClaim(state.assembly.snapshot, turn.claim);
      return state.assembly;
    },
    makeRoom: () => makeRoom(engine, { profile, newest, clock: options.services.clock }, state),
    leaveOut: () => (state.assembly === null ? 'unable' : past.refused(state.assembly)),
    withhold(results) {
      discardResults(results, { images, blobs });
      past.withheld();
    },
    usage: () => state.usage,
    account: cache.close,
    answeredBy: () => (models.length > 1 ? state.answeredBy : null),
    calibration: () => state.calibration,
    recalled: () => state.assembly?.recalled ?? [],
    given: given.ids,
    blobs: blobs.all,
    recorded: (at) => recordOf(options, turn, { state, at }),
    refusedPart: () => refusedPartOf(options, turn, state),
    assess: (messages) => verdictOn({ engine, state, profile, readUpto: newest.seq, messages }),
  };
}

async function makeRoom(
  engine: ContextEngine,
  { profile, newest, clock }: Pick<PreparedTurn, 'profile' | 'newest'> & Pick<Services, 'clock'>,
  state: TurnState,
): Promise<boolean> {
  const request = { profile, snapshot: state.snapshot, readUpto: newest.seq, reason: 'overflow' as const };
  const result = await engine.compact({ ...request, now: clock.now() });
  state.snapshot = result.snapshot;
  return result.compacted;
}

function discardResults(
  results: readonly ToolResultPart[],
  { images, blobs }: Pick<ToolParts, 'images' | 'blobs'>,
): void {
  for (const { callId, blob } of results) {
    images.close(callId);
    if (blob !== null) blobs.drop(blob.id);
  }
}

/** What the tool calls of a turn read and fill. */
interface ToolParts {
  readonly state: TurnState;
  readonly given: ReturnType<typeof createGivenMemories>;
  readonly images: OpenedImages;
  readonly blobs: TurnBlobs;
}

function toolCaller(
  options: ReplyOptions,
  turn: PreparedTurn,
  { state, given, images, blobs }: ToolParts,
): TurnOptions['callTool'] {
  const { profile, claim, signal } = turn;
  const budget = turn.child?.budget ?? { children: 0 };
  return async (call) => {
    const check = () => requireStanding(options, turn, given.ids());
    const { audience, key } = await check();
    const called = { audience, callKey: `${key}#${call.callId}`, signal, blobs, onGiven: given.add };
    const own = { ...toolContext(turn), ...called, ...images.listenerFor(call) };
    const context = turn.child?.contextOf(own) ?? own;
    const parent = { key, claim, profile, tool: call.tool, context, budget, check };
    const spawn = spawnFor(options.children, parent);
    return options.tools.run(call, { ...context, spawn }, state.assembly?.tools ?? []);
  };
}

function cacheAccountOf({ cacheAccounts }: ReplyOptions, { child, claim, snapshot }: PreparedTurn): CacheAccount {
  return child === undefined ? cacheAccounts.open(claim, snapshot.conversation.key) : NO_CACHE_ACCOUNT;
}

interface Finished extends Pick<FinishedTurn, 'profile' | 'readUpto' | 'messages'> {
  readonly engine: ContextEngine;
  readonly state: TurnState;
}

/** A turn that failed before it assembled anything changes nothing in the view. */
function verdictOn({ engine, state: { snapshot, whole, wholeSteps }, ...turn }: Finished): AfterTurn {
  if (whole === null) return { tier: 'none', due: false };
  const addedTokens = turn.messages.slice(wholeSteps).reduce((sum, { tokens }) => sum + tokens, 0);
  return engine.afterTurn({ ...turn, snapshot, measurement: whole.measurement, addedTokens });
}

function startState({ snapshot }: PreparedTurn): TurnState {
  return {
    snapshot,
    calibration: null,
    assembly: null,
    whole: null,
    wholeSteps: 0,
    answeredBy: null,
    sent: null,
    isAltered: false,
    usage: [],
  };
}

async function refusedPartOf(
  { refusedParts }: ReplyOptions,
  { profile, snapshot }: PreparedTurn,
  { assembly }: TurnState,
): Promise<string | null> {
  if (assembly === null) return null;
  return await refusedParts.of({ profile, tools: assembly.tools, conversation: snapshot.conversation });
}

async function recordOf(
  { requests }: ReplyOptions,
  { profile, preparedAt, newest }: PreparedTurn,
  { state, at }: { readonly state: TurnState; readonly at: number },
): Promise<RecordedRequest | null> {
  const { sent, isAltered } = state;
  const fitted = state.assembly === null ? null : fittedOf(state.assembly);
  if (fitted === null || sent === null) return null;
  const model = state.answeredBy === profile.modelId ? null : state.answeredBy;
  return await requests.record({ fitted, sent, preparedAt, turn: newest.seq, at, model, isAltered });
}

/** Numbers the children of one call. */
function spawnFor(children: Spawner, call: Omit<ParentCall, 'ordinal'>): ToolContext['spawn'] {
  let ordinal = 0;
  return (task) => {
    ordinal += 1;
    return children.spawn({ ...call, ordinal }, task);
  };
}

/** Memories that the turn was given: those of its sections, and what its tools recalled. */
function createGivenMemories({ volatile, profile, onGiven }: PreparedTurn) {
  const recalled = new Set<MemoryId>();
  const ofSections = () => [...volatile, ...profile.sections].flatMap(({ memoryIds = [] }) => memoryIds);
  const ids = () => [...ofSections(), ...recalled];
  return {
    ids,
    add(found: readonly MemoryId[]): void {
      for (const id of found) recalled.add(id);
      onGiven(ids());
    },
  };
}

/**
 * The current view, so that text that was edited or deleted during the turn is not sent again. Throws `CLAIM_LOST`, so
 * that a turn without its claim ends here instead of after its last step.
 */
async function latestView(known: ContextSnapshot, { claim, latest }: Opening): Promise<ContextSnapshot> {
  const now = await latest();
  if (now === null || now.conversation.revision <= known.conversation.revision) return known;
  return requireClaim(now, claim);
}

/**
 * The current conversation. Throws `CLAIM_LOST` if the turn may not continue: its tools could act on text that was
 * forgotten or edited, or show it to people who may not read it.
 */
async function requireStanding(
  { services }: ReplyOptions,
  { claim, snapshot }: Opening,
  given: readonly MemoryId[],
): Promise<Conversation> {
  const conversation = await standingOf(services, { claim, snapshot, given });
  if (conversation !== null) return conversation;
  throw new StrataError('CLAIM_LOST', { conversation: snapshot.conversation.key, work: 'reply' });
}

function requireClaim(snapshot: ContextSnapshot, { epoch }: Claim): ContextSnapshot {
  const { key, replyEpoch } = snapshot.conversation;
  if (replyEpoch !== epoch) throw new StrataError('CLAIM_LOST', { conversation: key, work: 'reply' });
  return snapshot;
}

function toolContext({
  profile,
  snapshot,
  newest,
  claim,
}: PreparedTurn): Omit<ToolContext, 'audience' | 'callKey' | 'signal' | 'blobs' | 'onGiven' | 'onImages' | 'spawn'> {
  const { key, id } = snapshot.conversation;
  const author: Author = newest.author ?? { id: '', name: 'someone', kind: 'person' };
  return {
    conversation: key,
    conversationId: id,
    agentId: profile.agentId,
    author,
    readUpto: newest.seq,
    windowTokens: profile.windowTokens,
    replyEpoch: claim.epoch,
  };
}
