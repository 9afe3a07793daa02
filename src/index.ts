/** What the author of a bot needs. Authors of adapters import `adapter-kit.ts`, which exports all of this and more. */

// Build a bot, its tools and its plugins.
export { type Bot, createBot } from './bot/bot.ts';
export type { SendContent } from './conversation/send.ts';
export { defineTool, type Tool, type ToolContext } from './tools/define.ts';
export { type CommandDefinition, defineCommand } from './commands/custom/define.ts';
export {
  definePlugin,
  type Plugin,
  type PluginContext,
  type PluginDefinition,
} from './plugins/plugin.ts';
export type { Hooks } from './hooks/hooks.ts';
export type { AgentEntry, AgentSettings } from './config/schema.ts';
export type { BotOptions, ProcessRole } from './bot/options.ts';
export { createPromptLibrary, type EditablePromptLibrary } from './prompts/library.ts';

// Handle its events and errors.
export {
  describe,
  type ErrorCode,
  isStrataError,
  ModelError,
  type ModelFailure,
  StrataError,
} from './domain/errors.ts';
export type { Events, StrataEvent } from './ports/events.ts';

// Read messages.
export {
  type AttachmentPart,
  type Audience,
  type Author,
  type ConversationKey,
  type Entry,
  type InboundMessage,
  type JsonValue,
  type Part,
  type TextPart,
  textOf,
} from './domain/message.ts';
export { type KeyParts, makeKey, parseKey, placeOf, workspaceOf } from './domain/key.ts';
export type { Memory, MemoryKind } from './ports/memory-store.ts';

// Replace its parts.
export type { Channel, ChannelSink } from './ports/channel.ts';
export type { ChatModel, ModelPart, ModelProvider, ModelRequest, ModelTraits } from './ports/model.ts';
export type { ContextEngine } from './ports/engine.ts';
export type { Queue } from './ports/queue.ts';
export type { Clock } from './ports/clock.ts';
export type { Log } from './ports/log.ts';
export type { AgentDirectory } from './config/directory.ts';
export type { Services, Storage } from './services.ts';
export { createSystemClock } from './util/time/clock.ts';
export { silentLog } from './util/log/silent-log.ts';
