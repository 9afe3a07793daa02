/** Entry point for authors of adapters: the exports for authors of bots, all ports, and helpers that adapters share. */

export * from './index.ts';
export type { OutgoingFile, Send, SendContent, SendOptions, Sent } from './conversation/send.ts';
export { escapeControls } from './domain/controls.ts';
export { isStoreAway } from './domain/errors.ts';
export { yieldToEventLoop } from './util/async/event-loop.ts';
export type * from './ports/events.ts';

// Domain types.
export type * from './domain/message.ts';
export {
  AUDIENCES,
  CHANNEL_LINK,
  looserThan,
  ROLES,
  textOf,
  textOfEverything,
  tighter,
  tighterThan,
} from './domain/message.ts';
export {
  childRangeOf,
  depthOf,
  makeChildKey,
  makeKey,
  parseKey,
  platformOf,
  placeOf,
  TERMINAL_HOME,
  workspaceOf,
} from './domain/key.ts';

// The ports.
export type * from './ports/channel.ts';
export type * from './ports/queue.ts';
export type * from './ports/store.ts';
export * from './ports/conversation-changes.ts';
export type * from './ports/blob-store.ts';
export * from './ports/outbox-store.ts';
export type * from './ports/summary-store.ts';
export type * from './ports/upkeep.ts';
export type * from './ports/memory-store.ts';
export { MEMORY_EVENT_KINDS, MEMORY_KINDS, MEMORY_STATES } from './ports/memory-store.ts';
export type * from './ports/journal.ts';
export { MAINTENANCE_OUTCOMES, MAINTENANCE_TRIGGERS, MAINTENANCE_WORK } from './ports/journal.ts';
export type * from './ports/provenance-store.ts';
export type * from './ports/search.ts';
export type * from './ports/reranker.ts';
export type * from './ports/model.ts';
export type * from './ports/prices.ts';
export type * from './ports/engine.ts';
export type * from './ports/sections.ts';
export type * from './ports/engine-children.ts';
export type { ToolOutput } from './tools/define.ts';
export type * from './tools/spawn.ts';
export type * from './ports/clock.ts';
export * from './ports/log.ts';
export type { AgentDirectory } from './config/directory.ts';
export type { Services, Storage } from './services.ts';
export type * from './bot/adapters.ts';
export type * from './hooks/hooks.ts';
export type { PluginParts, PluginStep } from './plugins/plugin.ts';
export type { PriceOptions, Rates } from './costs/prices.ts';
export type { PromptLibrary } from './prompts/variables.ts';
export type { PromptLibraryOptions } from './prompts/library.ts';

// Shared with the core: commands and their replies, decisions made inside a transaction, text helpers.
export { createSystemClock, createSystemRandom } from './util/time/clock.ts';
export type { CommandAnswer } from './commands/custom/answer.ts';
export type { Commands } from './commands/commands.ts';
export type { CommandServices } from './commands/services.ts';
export type { CommandCall, CommandOptions, CommandSuggest } from './commands/custom/define.ts';
export { shownName } from './commands/format-entry.ts';
export { renderReply } from './commands/lines/render.ts';
export { errorReply, makeReply } from './commands/reply.ts';
export { runCommandLine } from './commands/lines/run-line.ts';
export { commandOfText, createTokenSigner, textOfCommand, type TokenSigner } from './commands/signed-token.ts';
export type * from './ports/command.ts';
export { MAX_INTEGER } from './commands/spec.ts';
export { actionOf, asksConfirmation, optionsToAsk } from './commands/actions.ts';
export { builtInSpecs } from './commands/built-in/built-in-commands.ts';
export { formatCommand, isCommandLine, type ReadCommand, readCommandLine } from './commands/lines/parse.ts';
export type * from './ports/reply.ts';
export { canCondense, placeReady, type ReadyStack } from './context/cuts/ready.ts';
export { canRecondense, type CompactionPlan, planCompactionCommit } from './compaction/job/commit.ts';
export { type InputLine, type LineOptions, readLines } from './util/text/lines.ts';
export { quoted } from './util/text/foreign-text.ts';
export { replyNote, threadNote } from './util/text/quote-notes.ts';
export { assembleView } from './context/fit/assemble-view.ts';
export { defineEngine, type EngineDefinition } from './context/engines/define-engine.ts';
export { authorLabel, BOT_LABEL, plainName } from './context/view/label.ts';
export { withinRequest } from './context/view/pictures.ts';
export { withinHost } from './util/within-host.ts';
export { formatLogLine } from './util/log/log-line.ts';
export { partBeginnings, partedNoun, sharedBeginnings } from './search/words/inflection.ts';
export { plainSpelling } from './search/words/plain-spelling.ts';
export { cachedStem } from './search/words/stem.ts';
export { isEnglish, tellingWords } from './search/words/stop-words.ts';
export { latinFormsOf, mayBeSerbian } from './search/words/two-alphabets.ts';
export { otherTokensOf } from './search/ranking/word-parts.ts';
export { isUnspaced, joinedWordsOf, tokensOf } from './search/words/words.ts';
export { didYouMean } from './util/text/did-you-mean.ts';
export { errorCode } from './util/errors/error-code.ts';
export { faultText } from './util/errors/faults.ts';
export { hostNameOf, listenAt, receiveWithin } from './util/listen.ts';
export { createSpokenReader, type Spoken, type SpokenReader } from './models/spoken/reader.ts';
export { keyFault } from './util/text/key-text.ts';
export { networkRemedy } from './util/network/network-remedy.ts';
export { isProxied } from './util/network/proxies.ts';
export { packageFile } from './util/files/package-file.ts';
export { normalForm } from './util/text/normal-form.ts';
export { makeFolder, OWNERS_FOLDER } from './util/files/make-folder.ts';
export { makePrivateFile, restrictToOwner } from './util/files/private-file.ts';
export { STORE_FILE } from './util/files/store-file.ts';
export { nestsTooDeeply, TOO_DEEP } from './models/call-input.ts';
export { createRecentMap } from './util/recent-map.ts';
export { createRedactor } from './util/log/redactor.ts';
export { isSameSecret } from './util/same-secret.ts';
export { requireObject } from './util/errors/require-object.ts';
export {
  between,
  createFinder,
  type Finder,
  QUOTATION_MARKS,
  type Quotation,
  quotationsIn,
  trimEndOf,
  trimEndWhile,
} from './util/text/scan.ts';
export { silentLog } from './util/log/silent-log.ts';
export { type TerminalStreams, terminalStreams } from './util/terminal-streams.ts';
export { createWrapper, type Wrapper, wrap } from './util/text/wrap.ts';
export { DAY_MS, HOUR_MS, MINUTE_MS } from './util/time/time.ts';
export { endsWithin, withinTime } from './util/async/within.ts';
export { type AwakeTimerOptions, startAwakeTimer } from './util/async/awake-timer.ts';
export { createLanes, type Lanes } from './util/async/lanes.ts';
export { loadOptional } from './util/files/optional-package.ts';
export { type SentencePrint, sentencePrints, sentencesLike } from './memory/people/about-person.ts';
export {
  cleanText,
  counted,
  cutAt,
  excerpt,
  formatDuration,
  formatNumber,
  formatPercent,
  graphemesOf,
  leadOf,
  tidyReply,
} from './util/text/text.ts';
export { causeText, formatCost, formatDollars } from './costs/format.ts';

// What the inspector reads.
export { BUILT_IN_ENGINES } from './config/known.ts';
export { credentialsIn } from './config/toml/tree.ts';
export { conversationPath, hasSignIn } from './inspection/address.ts';
export type { AuditRow } from './inspection/audit.ts';
export type { ContextView } from './inspection/context.ts';
export type { ConversationView, GaugeView, MemoryLine, MessageLine, Whereabouts } from './inspection/conversation.ts';
export type { CostsView } from './inspection/costs.ts';
export type { Findings, FindQuery, FindStart, FoundMemory, FoundMessage } from './inspection/find.ts';
export type { Gauge, GaugeReading } from './inspection/history/gauges.ts';
export type { DueWork, Health } from './inspection/health.ts';
export type { Moment } from './inspection/history/history.ts';
export type { ConversationPages, Inspection, MemoryPages } from './inspection/inspection.ts';
export type { LayerSpan } from './inspection/history/layers.ts';
export type { MemoryView } from './inspection/memories.ts';
export type { MemoriesView, MemoryFilter, Person, PlacedMemory } from './inspection/memory-list.ts';
export type { ConversationRow, ConversationRows } from './inspection/overview.ts';
export type { RerunView } from './inspection/rerun.ts';
export { BODY_FORMS, type BodyForm, providerBody } from './requests/provider-body.ts';
export { MAX_SYSTEM_LENGTH, type Rerun, systemTextOf } from './requests/rerun.ts';
export type { ReplyView } from './inspection/reply.ts';
export type { EffectiveLimits } from './inspection/limits.ts';
export type { PromptView } from './inspection/prompts.ts';
export type { SettingsFilter, SettingsView } from './inspection/settings.ts';
export { additionsAfter, additionsIn } from './memory/statements/additions.ts';
export type { TokenedPreview } from './memory/forget/forget-target.ts';
export type { OriginMessage } from './memory/service.ts';
export { MAX_WISH_LENGTH } from './compaction/job/rewrite-request.ts';
export type { Rewriting } from './inspection/summaries/rewriting.ts';
export type { LostDetail, SourceMark, SummarySource, SummaryView } from './inspection/summaries/summary.ts';
export type { TracedSentence, TracedText } from './inspection/summaries/trace.ts';
export type { Turn } from './inspection/history/turns.ts';
export type { Viewer, ViewerRole } from './inspection/viewer.ts';
export type { TriedSetting, WhatIfView } from './inspection/forecasts/what-if.ts';
