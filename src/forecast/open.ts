import { ownWindow } from '../compaction/job/room.ts';
import { DEFAULT_ENGINE, isBuiltInEngine } from '../config/known.ts';
import type { AgentSettings } from '../config/schema.ts';
import { correctionFor } from '../context/measure/calibration.ts';
import { maintenanceSettings } from '../context/profile/call-settings.ts';
import { DEFAULT_WINDOW_TOKENS } from '../context/profile/profile.ts';
import { limitsOf } from '../context/profile/shares.ts';
import { parsePrint } from '../context/record/request-print.ts';
import { createFixedPrefixBuilder } from '../context/view/fixed-prefix.ts';
import type { Entry } from '../domain/message.ts';
import type { ContextProfile } from '../ports/engine.ts';
import type { Conversation } from '../ports/store.ts';
import { promptSourceOf } from '../prompts/variables.ts';
import type { Services } from '../services.ts';
import { yieldToEventLoop } from '../util/async/event-loop.ts';
import { type Forecast, forecast } from './forecast.ts';
import { lengthsOf } from './lengths.ts';
import { readQuestions } from './questions.ts';
import { type Recording, type RecordingSettings, recordingOf } from './recording.ts';

export type ForecastServices = Pick<Services, 'store' | 'search' | 'prices' | 'prompts' | 'agents' | 'models'>;

const PAGE = 500;

export interface RecordingLimits {
  readonly messages: number;
  /** Stored estimates, which bound the memory that the texts take. */
  readonly tokens: number;
}

const UNLIMITED: RecordingLimits = { messages: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };

/** What is stored of a conversation since its last reset: all of it, or the newest messages within the limits. */
export async function readRecording(
  services: Pick<ForecastServices, 'store' | 'search'>,
  conversation: Conversation,
  { limits = UNLIMITED, ...settings }: RecordingSettings & { readonly limits?: RecordingLimits },
): Promise<Recording> {
  const { id, contextFrom, nextSeq } = conversation;
  const first = Math.max(1, contextFrom, nextSeq - limits.messages);
  const pages: (readonly Entry[])[] = [];
  let tokensLeft = limits.tokens;
  for (let toSeq = nextSeq - 1; toSeq >= first && tokensLeft > 0; toSeq -= PAGE) {
    const fromSeq = Math.max(first, toSeq - PAGE + 1);
    const page = await services.store.transcript.read(id, { fromSeq, toSeq, limit: PAGE });
    pages.push(newestWithin(page, tokensLeft));
    tokensLeft -= tokensOf(page);
    await yieldToEventLoop();
  }
  const entries = pages.toReversed().flat();
  const questions = await readQuestions(services, conversation, { entries, timeZone: settings.timezone });
  return recordingOf(conversation, entries, { ...settings, questions });
}

function tokensOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, 0);
}

function newestWithin(entries: readonly Entry[], limitTokens: number): readonly Entry[] {
  let left = limitTokens;
  const end = entries.findLastIndex(({ tokens }) => {
    left -= tokens;
    return left < 0;
  });
  return entries.slice(end + 1);
}

export interface ForecastRequest {
  readonly recording: Recording;
  readonly agent: AgentSettings;
  /** Of the configured settings. Those of `agent` may differ. */
  readonly profile: ContextProfile;
  /** Number of points of the view over time. Default: 60. */
  readonly points?: number;
}

/** The forecast for the settings of `agent`. Calls no model. Throws the errors of opening the model. */
export async function forecastFor(services: ForecastServices, request: ForecastRequest): Promise<Forecast> {
  const { recording, agent } = request;
  const reportedTokens = request.profile.traits.windowTokens ?? DEFAULT_WINDOW_TOKENS;
  const profile = { ...request.profile, ...limitsOf(agent, reportedTokens) };
  const { modelId } = profile;
  const reader = await readerOf(services, agent, profile);
  const { prices, store } = services;
  await Promise.all([prices.load(modelId), prices.load(reader.model.id)]);
  const { id, calibration } = recording.conversation;
  const last = parsePrint(await store.journal.cache.lastRequest(id));
  const lengths = await lengthsOf(store.summaries, recording, { services, agent, profile: request.profile, reader });
  return await forecast({
    services,
    recording,
    agent,
    profile,
    reader,
    lengths,
    engine: isBuiltInEngine(agent.engine) ? agent.engine : DEFAULT_ENGINE,
    points: request.points,
    prefixes: createFixedPrefixBuilder(services),
    passagesHeading: services.prompts.render('passages', {}, promptSourceOf(agent)).text,
    correction: correctionFor(recording.conversation, modelId),
    summaryRatio: calibration?.model === reader.model.id ? calibration.ratio : 1,
    isCached: last?.reports === true,
    costOfReply: (tokens, at) => prices.costOf(modelId, tokens, at),
    costOfSummary: (tokens, at) => prices.costOf(reader.model.id, tokens, at),
  });
}

/** The model that would write the summaries. */
export async function readerOf(services: ForecastServices, agent: AgentSettings, profile: ContextProfile) {
  const { model: configured } = agent.compaction;
  const isOwn = configured === 'auto' || configured === profile.modelId;
  const { id, traits } = isOwn
    ? { id: profile.modelId, traits: profile.traits }
    : await services.models.open(configured);
  const reportedTokens = traits.windowTokens;
  const windowTokens = isOwn
    ? ownWindow(profile.windowTokens, reportedTokens)
    : (reportedTokens ?? DEFAULT_WINDOW_TOKENS);
  return { model: { id }, windowTokens, settings: maintenanceSettings(agent), reasoning: new Map<string, number>() };
}
