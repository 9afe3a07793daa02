import type { CommandServices } from '../commands/services.ts';
import type { ConfigRow } from '../config/rows.ts';
import type { TokenedPreview } from '../memory/forget/forget-target.ts';
import type { Forgotten } from '../memory/service.ts';
import type { Memory } from '../ports/memory-store.ts';
import { type AuditRow, auditRows } from './audit.ts';
import { type ContextView, contextView } from './context.ts';
import {
  type ConversationView,
  type ConversationViewQuery,
  conversationView,
  type GaugeView,
  gaugeView,
} from './conversation.ts';
import { type CostsQuery, type CostsView, costsView } from './costs.ts';
import { type Findings, type FindQuery, findEverywhere } from './find.ts';
import { createForecastQueue } from './forecasts/forecast-queue.ts';
import { createRecordings } from './forecasts/recordings.ts';
import { type WhatIfQuery, type WhatIfView, whatIfView } from './forecasts/what-if.ts';
import { type Health, healthOf } from './health.ts';
import { createGauges } from './history/gauges.ts';
import {
  changeMemory,
  forgetMemory,
  forgetPreview,
  type MemoryView,
  type MemoryViewQuery,
  memoryView,
} from './memories.ts';
import { type MemoriesQuery, type MemoriesView, memoriesView } from './memory-list.ts';
import { type ConversationRows, conversationsPage } from './overview.ts';
import { type PromptQuery, type PromptView, promptView } from './prompts.ts';
import { type ReplyQuery, type ReplyView, replyView } from './reply.ts';
import { createReruns, type RerunQuery, type RerunView } from './rerun.ts';
import { type SettingsQuery, type SettingsView, settingsView } from './settings.ts';
import { rewriteSummary } from './summaries/rewrite.ts';
import { type SummaryView, type SummaryViewQuery, summaryView } from './summaries/summary.ts';
import type { Viewer } from './viewer.ts';

/** What the inspector reads and changes. Every method checks what the viewer may see and do. */
export interface Inspection {
  readonly conversations: ConversationPages;
  readonly memories: MemoryPages;
  health(): Promise<Health>;
  /** Conversations by name, and messages and memories by their words. */
  find(query: FindQuery): Promise<Findings>;
  costs(query: CostsQuery): Promise<CostsView>;
  /** Throws `COMMAND_FORBIDDEN` for all but operators, and `CONFIG_INVALID`. */
  settings(query: SettingsQuery): Promise<SettingsView>;
  /** A prompt with the variables of a real turn. For operators. Throws `NOT_FOUND`. */
  prompt(query: PromptQuery): Promise<PromptView>;
  /** The changes made in the inspector, newest first. */
  audit(): Promise<readonly AuditRow[]>;
}

/** Throws `KEY_INVALID`, `CONVERSATION_UNKNOWN` and `NOT_FOUND`, and `COMMAND_FORBIDDEN` if the text may not be read. */
export interface ConversationPages {
  /** Newest activity first; `afterId` is the `next` of the previous page. */
  list(query: { readonly viewer: Viewer; readonly afterId: number | null }): Promise<ConversationRows>;
  one(query: ConversationViewQuery): Promise<ConversationView>;
  /** Only how full its window is: for following it. */
  gauge(query: Pick<ConversationViewQuery, 'viewer' | 'key'>): Promise<GaugeView>;
  summary(query: SummaryViewQuery): Promise<SummaryView>;
  /** Requests a rewrite by a worker; the wish says what to emphasise. Recorded. Throws `USAGE` if it is not possible. */
  rewrite(query: SummaryViewQuery & { readonly wish: string }): Promise<void>;
  /** Throws `NOT_FOUND` if the request was not recorded. */
  reply(query: ReplyQuery): Promise<ReplyView>;
  /** For operators. Recorded. The model's failure is part of the result. */
  rerun(query: RerunQuery): Promise<RerunView>;
  context(query: { readonly viewer: Viewer; readonly key: string }): Promise<ContextView>;
  /** The conversation under other settings, forecast without a model. Throws `INSPECTOR_BUSY` while too many wait. */
  whatIf(query: WhatIfQuery): Promise<WhatIfView>;
}

/** Every change is recorded. Throws the errors of `Memories`, and `COMMAND_FORBIDDEN` if the text may not be read. */
export interface MemoryPages {
  list(query: MemoriesQuery): Promise<MemoriesView>;
  one(query: MemoryViewQuery): Promise<MemoryView>;
  change(query: MemoryViewQuery & { readonly action: string; readonly text: string }): Promise<Memory>;
  previewForget(query: MemoryViewQuery): Promise<TokenedPreview>;
  forget(query: MemoryViewQuery & { readonly token: string }): Promise<Forgotten>;
}

export interface InspectionHost {
  readonly services: CommandServices;
  /** Every value of the configuration with its origin. */
  readonly configRows: () => readonly ConfigRow[];
}

export function createInspection({ services: given, configRows }: InspectionHost): Inspection {
  const services = { ...given, configRows, gauges: createGauges(given), recordings: createRecordings(given) };
  const reruns = createReruns(services);
  const forecasts = createForecastQueue();
  return {
    conversations: {
      list: (query) => conversationsPage(services, query),
      one: (query) => conversationView(services, query),
      gauge: (query) => gaugeView(services, query),
      summary: (query) => summaryView(services, query),
      rewrite: (query) => rewriteSummary(services, query),
      reply: (query) => replyView(services, query),
      rerun: (query) => reruns.run(query),
      context: (query) => contextView(services, query),
      whatIf: (query) => forecasts.run(query.viewer.name, () => whatIfView(services, query)),
    },
    memories: {
      list: (query) => memoriesView(services, query),
      one: (query) => memoryView(services, query),
      change: (query) => changeMemory(services, query),
      previewForget: (query) => forgetPreview(services, query),
      forget: (query) => forgetMemory(services, query),
    },
    health: () => healthOf(services),
    find: (query) => findEverywhere(services, query),
    costs: (query) => costsView(services, query),
    settings: (query) => settingsView(services, { ...query, rows: configRows }),
    prompt: (query) => promptView(services, query),
    audit: () => auditRows(services),
  };
}
