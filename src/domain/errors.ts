import { withoutControls } from './controls.ts';

/**
 * Every error that Strata throws on purpose, in one table: its code, and a message that says what was expected, what
 * happened and what to do. Messages never contain secrets or the text of a conversation.
 */
const sentences = {
  CONFIG_INVALID: (d: { file: string; problems: readonly string[] }) =>
    `The configuration has ${d.problems.length} ${d.problems.length === 1 ? 'error' : 'errors'}:\n${d.problems.map((p) => `  ${p}`).join('\n')}`,
  CONFIG_UNREADABLE: (d: { file: string; reason: string; remedy?: string }) =>
    `Cannot read the configuration ${d.file}: ${d.reason}. ${d.remedy ?? 'Name another file with --config, or leave it out to use the defaults'}.`,
  KEY_INVALID: (d: { key: string }) =>
    `"${d.key}" is not a conversation key. Expected platform:workspace:channel or platform:workspace:channel:thread, for example terminal:local:main.`,
  CONVERSATION_UNKNOWN: (d: { key: string }) =>
    `There is no conversation "${d.key}" in the store. \`strata context\` without --conversation lists the existing ones.`,
  MODEL_UNKNOWN: (d: { model: string; reason: string }) =>
    `The model "${d.model}" cannot be used: ${d.reason}. Expected provider:model, for example openai:gpt-4.1-mini, anthropic:claude-haiku-4-5 or offline:demo.`,
  MODEL_KEY_MISSING: (d: { model: string; variable: string }) =>
    `The model "${d.model}" needs the environment variable ${d.variable}, which is not set. Set it, or choose another model.`,
  MODEL_KEY_INVALID: (d: { model: string; variable: string; fault: string }) =>
    `The model "${d.model}" cannot use its key: the value of ${d.variable} ${d.fault}.`,
  MODEL_INVALID: (d: { model: string; problem: string }) =>
    `The model "${d.model}" cannot be used: ${d.problem}. The interfaces ModelProvider and ChatModel describe what is expected.`,
  /** `remedy` replaces the usual one for the reason. */
  MODEL_FAILED: (d: { model: string; reason: ModelFailure; detail: string; remedy?: string }) =>
    `The model ${d.model} failed (${d.reason}): ${d.detail.replace(/\.$/, '')}. ${d.remedy ?? REMEDIES[d.reason]}`.trim(),
  MODEL_PAUSED: (d: { model: string; untilAt: number; cause: string }) =>
    `The model ${d.model} is paused until ${new Date(d.untilAt).toISOString()} after repeated failures: ${d.cause}`,
  SPEND_CAPPED: (d: { calls: number; limit: number; untilAt: number }) =>
    `This conversation has used ${d.calls} of ${d.limit} model calls per hour for summaries. Summaries continue at ${new Date(d.untilAt).toISOString()}. Replies are not affected.`,
  SUMMARY_REJECTED: (d: { model: string; fault: string }) =>
    `The answer from ${d.model} is not a usable summary: ${d.fault}.`,
  WINDOW_TOO_SMALL: (d: { usedTokens: number; windowTokens: number }) =>
    `The newest message and the fixed part of the context need ${d.usedTokens} tokens, but the window has ${d.windowTokens}. Choose a model with a larger window, or shorten the system prompt and the tools.`,
  /** Unless `isDamaged`, the same work may succeed later: a reply stays owed until then. */
  STORE_UNUSABLE: (d: { path: string; reason: string; remedy?: string; isUncertain?: boolean; isDamaged?: boolean }) =>
    `The data at ${d.path} cannot be used: ${d.reason}. ${d.isUncertain === true ? 'The latest writes may be lost' : 'Nothing was changed'}.${d.remedy === undefined ? '' : ` ${d.remedy}.`}`,
  STORE_MISSING: (d: { path: string }) =>
    `There is no data at ${d.path}. Set --data to the directory of a bot that has run, or [storage] url to its server.`,
  STORE_LOCKED: (d: { path: string }) =>
    `Another Strata process is using the data at ${d.path}. Stop it first, or set --data to another directory.`,
  STORE_UNREACHABLE: (d: { path: string; reason: string; remedy?: string }) =>
    `The data at ${d.path} cannot be reached: ${d.reason}. ${d.remedy ?? 'Strata reconnects automatically. Resend whatever was not acknowledged'}.`,
  STORE_NEWER: (d: { path: string; found: string }) =>
    `The data at ${d.path} was written by a newer Strata (migration ${d.found} is unknown to this version). Update Strata. Nothing was changed.`,
  STORE_NOT_EMPTY: (d: { path: string }) =>
    `There is already data at ${d.path}. A backup can only be restored into an empty store: set --data to another directory, or use another database.`,
  BACKUP_INVALID: (d: { file: string; line: number | null; problem: string }) =>
    `${d.file}${d.line === null ? '' : `:${d.line}`} cannot be restored: ${d.problem}. Nothing was changed.`,
  BACKUP_UNWRITTEN: (d: { file: string; reason: string }) =>
    `The backup cannot be written to ${d.file}: ${d.reason}. Name a file in a folder with enough space, where this user may write.`,
  /** The turn starts again and reads fewer of the questions that wait. */
  TOO_MANY_WAITING: (d: { conversation: string; readUpto: number }) =>
    `The request in ${d.conversation} does not show every message that waits for an answer; those up to #${d.readUpto} should fit`,
  CLAIM_LOST: (d: { conversation: string; work: 'reply' | 'maintenance' }) =>
    `Another process took over the ${d.work} of ${d.conversation}; the result of this process was discarded.`,
  ACCESS_DENIED: (d: { what: string; reason: string }) => `${d.what} cannot be read here: ${d.reason}.`,
  NOT_FOUND: (d: { what: string; id: string }) => `There is no ${d.what} ${d.id} here.`,
  BLOB_EXPIRED: (d: { id: string }) => `The stored tool result ${d.id} has expired. Call the tool again.`,
  COMMAND_UNKNOWN: (d: { command: string; nearest: string | null } & CommandPlace) =>
    `There is no command ${d.prefix ?? '/'}${d.command}.${d.nearest === null ? '' : ` Did you mean ${d.prefix ?? '/'}${d.nearest}?`} ${d.prefix ?? '/'}help lists them.`,
  COMMAND_USAGE: (d: { command: string; problem: string; usage: string } & CommandPlace) =>
    `${d.prefix ?? '/'}${d.command}: ${d.problem}. Usage: ${d.prefix ?? '/'}${d.usage}`,
  COMMAND_FORBIDDEN: (d: { command: string; needs: string } & CommandPlace) =>
    `${d.prefix ?? '/'}${d.command} is for ${d.needs}.`,
  COMMAND_INVALID: (d: { command: string; problem: string }) =>
    `The command "${d.command}" cannot be used: ${d.problem}.`,
  COMMAND_DUPLICATE: (d: { command: string }) => `Two commands are named "${d.command}". Give each its own name.`,
  LEARNING_PAUSED: (d: { whose: string; remedy: string }) =>
    `Nothing was stored: ${d.whose} paused learning. ${d.remedy}`,
  TOOL_INPUT_INVALID: (d: { tool: string; problem: string }) => `The input of tool ${d.tool} is invalid: ${d.problem}.`,
  TOOL_RESULT_INVALID: (d: { tool: string; problem: string }) =>
    `The tool ${d.tool} ran, but its result cannot be shown: ${d.problem.replace(/\.$/, '')}.`,
  CHILD_LIMIT: (d: { limit: string }) => `Child conversations are limited to ${d.limit}.`,
  CHILD_FAILED: (d: { reason: string }) => `The child conversation gave no answer: ${d.reason.replace(/\.$/, '')}.`,
  TOOL_INVALID: (d: { tool: string; problem: string }) => `The tool "${d.tool}" cannot be used: ${d.problem}.`,
  TOOL_DUPLICATE: (d: { tool: string }) => `Two tools are named "${d.tool}". Give each tool its own name.`,
  PROMPT_INVALID: (d: { file: string; problem: string }) => `The prompt ${d.file} cannot be used: ${d.problem}.`,
  IMPORT_INVALID: (d: { file: string; line: number; problem: string }) =>
    `${d.file}:${d.line}: ${d.problem}. Expected one JSON object per line with id, author and text, and optionally at (ISO time) and role. The lines before it were imported. Fix the line and run the command again.`,
  ADAPTER_MISSING: (d: { kind: string; name: string; known: readonly string[] }) =>
    `There is no ${d.kind} named "${d.name}". Known: ${d.known.join(', ')}.`,
  PLUGIN_INVALID: (d: { plugin: string; problem: string }) => `The plugin ${d.plugin} cannot be used: ${d.problem}`,
  PLUGIN_FAILED: (d: { plugin: string; step: 'start' | 'stop'; cause: string }) =>
    `The plugin ${d.plugin} failed to ${d.step}: ${d.cause}. Fix it, or remove it from \`plugins\` in the configuration.`,
  HOOK_FAILED: (d: { hook: string; owner: string; cause: string }) =>
    `The ${d.hook} hook of ${d.owner} failed: ${d.cause.replace(/\.$/, '')}.`,
  HOOK_REFUSED: (d: { what: string; reason: string }) => `A hook refused ${d.what}: ${d.reason.replace(/\.$/, '')}.`,
  PACKAGE_MISSING: (d: { packages: readonly string[]; command: string }) =>
    `${d.packages.join(' and ')} ${d.packages.length === 1 ? 'is' : 'are'} needed here but not installed. Run: ${d.command}`,
  /**
   * `final`: the platform will never accept the post. Otherwise it may be retried, no sooner than after `retryAfterMs`,
   * or after an hour if that is longer.
   */
  POST_FAILED: (d: { channel: string; reason: string; final: boolean; retryAfterMs?: number }) =>
    `${d.channel} did not accept the message: ${d.reason}`,
  /** `method`: of the sink, unless it is `message`. */
  MESSAGE_INVALID: (d: { problem: string; method?: string }) =>
    d.method === undefined
      ? `A channel passed a message that cannot be stored: ${d.problem}. The interface InboundMessage describes its fields.`
      : `A channel called sink.${d.method} with something that cannot be used: ${d.problem}. The interface ChannelSink describes what it takes.`,
  SEND_INVALID: (d: { conversation: string; problem: string }) =>
    `Nothing was sent to ${d.conversation}: ${d.problem}.`,
  PLATFORM_REFUSED: (d: { platform: string; reason: string; remedy: string }) =>
    `${d.platform} refused the bot: ${d.reason}. ${d.remedy}.`,
  SECRET_UNREADABLE: (d: { what: string; reason: string; remedy: string }) =>
    `${d.what} cannot be decrypted: ${d.reason}. ${d.remedy}.`,
  ENGINE_CONTRACT: (d: { engine: string; problem: string }) =>
    `The context engine ${d.engine} broke its contract: ${d.problem}.`,
  LISTEN_FAILED: (d: { section: 'operations' | 'inspector'; address: string; reason: string }) =>
    `Cannot listen on ${d.address}: ${d.reason}. Set listen in [${d.section}] to another host:port, or to "" to disable it.`,
  INSPECTOR_OPEN: (d: { address: string }) =>
    `Other machines can reach the inspector at ${d.address}. Set password in [inspector], or identity_header and proxies; or listen on 127.0.0.1.`,
  INSPECTOR_BUSY: (_: { waiting: number }) => 'Too many forecasts are waiting. Try again in a moment.',
  USAGE: (d: { problem: string }) => d.problem,
  NODE_TOO_OLD: (d: { found: string }) =>
    `Strata needs Node.js 24 or newer; this is ${d.found}. In a clone of the repository, \`npm start\` uses a matching one.`,
} as const;

/** How people start a command in the place where this one was given. Default: `/`. */
interface CommandPlace {
  readonly prefix?: string;
}

/**
 * Why a model call failed, as classified by the adapter. `quota`: the paid amount is used up, so waiting does not help.
 * `missing`: the provider has no such model. `refused`: its content filter does not let the request through.
 */
export type ModelFailure =
  | 'overflow'
  | 'rate-limit'
  | 'timeout'
  | 'aborted'
  | 'auth'
  | 'quota'
  | 'missing'
  | 'transient'
  | 'unsupported'
  | 'refused'
  | 'fatal';

/** What the operator can do about it. */
export const REMEDIES: Readonly<Record<ModelFailure, string>> = {
  auth: 'Set a key that the provider accepts, in the environment, in .env, or as api_key of the provider.',
  missing:
    'Choose a model that the provider offers, with --model, STRATA_MODEL, or model in config.toml. A base_url usually ends in /v1.',
  quota: 'Add credit at the provider, or choose another model.',
  'rate-limit': 'Wait, ask the provider for a higher limit, or choose another model.',
  timeout: 'Raise timeout_seconds, or choose a faster model.',
  transient: 'Check that the server is running and that its address is correct.',
  overflow: 'Choose a model with a larger window, or set context_window to the real window.',
  unsupported: 'Choose a model that supports such content.',
  refused: 'Ask in other words, or choose a model with another content filter.',
  fatal: 'Change what the provider rejects, or choose another model.',
  aborted: '',
};

/** The codes of all errors that Strata throws. */
export type ErrorCode = keyof typeof sentences;
type DataOf<Code extends ErrorCode> = Parameters<(typeof sentences)[Code]>[0];

/**
 * The base class of all deliberate errors. `code` is a literal type; `data` holds the facts that the message is built
 * from.
 */
export class StrataError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly data: DataOf<Code>;

  constructor(code: Code, data: DataOf<Code>, options?: ErrorOptions) {
    const sentence = sentences[code] as (data: DataOf<Code>) => string;
    // Facts may come from a server or a file, and people read the message in a terminal.
    super(withoutControls(sentence(data)), options);
    this.name = 'StrataError';
    this.code = code;
    this.data = data;
  }
}

/**
 * Narrows an unknown failure to one row of the table.
 *
 * @example
 * try {
 *   await bot.send('discord:811:822', 'Hello');
 * } catch (error) {
 *   if (!isStrataError(error, 'ADAPTER_MISSING')) throw error;
 *   console.error(`The bot does not serve ${error.data.name}.`);
 * }
 */
export function isStrataError<Code extends ErrorCode>(error: unknown, code: Code): error is StrataError<Code> {
  return error instanceof StrataError && error.code === code;
}

/**
 * Whether the store failed rather than the work, so that the same work may succeed later: once its disk has space again,
 * for example. False for damaged data.
 */
export function isStoreAway(error: unknown): boolean {
  if (isStrataError(error, 'STORE_UNREACHABLE')) return true;
  return isStrataError(error, 'STORE_UNUSABLE') && error.data.isDamaged !== true;
}

/**
 * Thrown by model adapters: the kind of failure, and what the provider reported about retrying and its window.
 *
 * @example
 * const data = { model: 'acme:small', reason: 'rate-limit', detail: 'too many requests' } as const;
 * throw new ModelError(data, { retryAfterMs: 30_000 });
 */
export class ModelError extends StrataError<'MODEL_FAILED'> {
  readonly reason: ModelFailure;
  readonly retryAfterMs: number | null;
  /** The window that the provider named in its error, if any. */
  readonly windowTokens: number | null;

  constructor(
    data: DataOf<'MODEL_FAILED'>,
    facts: { retryAfterMs?: number | null; windowTokens?: number | null; cause?: unknown } = {},
  ) {
    super('MODEL_FAILED', data, { cause: facts.cause });
    this.reason = data.reason;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.windowTokens = facts.windowTokens ?? null;
  }
}

/** One line about any thrown value, for logs and status, without a stack trace. */
export function describe(error: unknown): string {
  try {
    return withoutControls(lineAbout(error, MAX_CAUSES));
  } catch {
    // Not every object becomes a text: its methods may throw, or it may have none.
    return NO_REASON;
  }
}

const NO_REASON = 'an error without a reason';

/** Of causes within causes. An error may contain itself. */
const MAX_CAUSES = 4;
/** Of a connection to one name. */
const MAX_ADDRESSES = 8;

function lineAbout(error: unknown, causes: number): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (causes === 0) return message;
  const within = (one: unknown) => lineAbout(one, causes - 1);
  // A connection that failed to several addresses.
  if (error instanceof AggregateError && message === '')
    return error.errors.slice(0, MAX_ADDRESSES).map(within).join(', ');
  if (cause === undefined) return message;
  // Of `fetch`, which has the reason in its cause. The second one means that a proxy refused the connection.
  if (message === 'fetch failed') return `${message}: ${within(cause)}`;
  return message === 'Request was cancelled.' ? within(cause) : message;
}
